/* Virtual memory management: reserved addresses, memory of a device without an address, and mappings of the one to the
 * other. A mapping is reachable by kernels of a device, and by copies, from cuMemSetAccess for it on; the same memory
 * may be mapped at several addresses.
 */
#ifndef WS_CUDA_VMM_H
#define WS_CUDA_VMM_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct shim;

struct vmm {
  struct vmm_memory *memory;
  struct vmm_range *ranges;
  struct vmm_mapping *mappings;
  struct multicast_objects *multicasts; /* multicast_object.h; NULL: there have been none */
};

/* CUmemAccess_flags */
enum { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_READ_WRITE = 3 };

CUresult vmm_granularity(struct shim *, size_t *bytes, const CUmemAllocationProp *);
/* at 0: anywhere; else a wish. */
CUresult vmm_reserve(struct shim *, CUdeviceptr *out, uint64_t bytes, uint64_t align, uint64_t at);
/* The whole of a reservation that nothing is mapped to. */
CUresult vmm_unreserve(struct shim *, uint64_t addr, uint64_t bytes);
CUresult vmm_create(struct shim *, CUmemGenericAllocationHandle *, uint64_t bytes,
                    const CUmemAllocationProp *);
/* Memory that was created for it, to other processes: a file descriptor, which the program closes; and from there. */
enum { HANDLE_POSIX_FD = 1 }; /* CUmemAllocationHandleType */
CUresult vmm_export(struct shim *, int *fd, CUmemGenericAllocationHandle);
CUresult vmm_import(struct shim *, CUmemGenericAllocationHandle *, int fd);
/* The memory goes with its last handle and mapping. */
CUresult vmm_release(struct shim *, CUmemGenericAllocationHandle);
/* Another handle to what is mapped at addr. */
CUresult vmm_retain(struct shim *, CUmemGenericAllocationHandle *, uint64_t addr);
CUresult vmm_properties(struct shim *, CUmemAllocationProp *, CUmemGenericAllocationHandle);
CUresult vmm_map(struct shim *, uint64_t addr, uint64_t bytes, uint64_t offset,
                 CUmemGenericAllocationHandle);
/* Whole mappings, as many as lie in the range without a hole. */
CUresult vmm_unmap(struct shim *, uint64_t addr, uint64_t bytes);
CUresult vmm_set_access(struct shim *, uint64_t addr, uint64_t bytes, const CUmemAccessDesc *, size_t n);
CUresult vmm_access(struct shim *, unsigned long long *flags, const CUmemLocation *, uint64_t addr);
/* As what its memory may be exported (CUmemAllocationHandleType, a bit each); 0: as nothing, or there is no mapping. */
uint64_t vmm_handle_types(const struct shim *, uint64_t addr);

#endif
