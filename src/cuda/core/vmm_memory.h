/* What virtual memory management is made of (vmm.h), for its files alone. */
#ifndef WS_CUDA_VMM_MEMORY_H
#define WS_CUDA_VMM_MEMORY_H

#include <stdint.h>

#include "cuda/core/api.h"
#include "cuda/core/board.h"

struct multicast_object;

/* Memory without an address. */
struct vmm_memory {
  struct vmm_memory *next;
  struct board *board;
  void *host;
  uint64_t bytes;
  unsigned handles, mappings;
  int fd; /* its file, when other processes may have it; else -1 */
  CUmemAllocationProp props;
  struct multicast_object *cast; /* it is no memory but a multicast object; NULL: memory */
};

struct vmm_range {
  struct vmm_range *next;
  uint64_t addr, bytes;
};

struct vmm_mapping {
  struct vmm_mapping *next; /* by address */
  uint64_t addr, bytes;
  struct vmm_memory *memory;
  board_mask in; /* whose kernels have access */
};

/* NULL: no such handle. */
struct vmm_memory *vmm_memory_of(const struct shim *, CUmemGenericAllocationHandle);
struct vmm_mapping *vmm_mapping_in(const struct shim *, uint64_t addr, uint64_t bytes);
uint64_t vmm_add_memory(struct shim *, void *host, uint64_t bytes, int fd, const CUmemAllocationProp *);
/* Addresses of whole pages, at `at` if that is possible; 0: there are none. */
uint64_t vmm_take_addresses(struct shim *, uint64_t bytes, uint64_t align, uint64_t at);
/* Kernels of these GPUs have access from now on. */
void vmm_show(struct shim *, struct vmm_mapping *, board_mask in);

#endif
