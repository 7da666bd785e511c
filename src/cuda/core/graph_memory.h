/* Memory that graphs allocate, and the conditions they branch on.
 *
 * An allocation has its address from the node's making on, as long as a node names it; memory lies there from
 * a run of the node until a release node, cudaFreeAsync or cudaFree takes it (vmm.h). A condition is a word of
 * device memory, and its handle the address: kernels set it by a service of the simulator.
 */
#ifndef WS_CUDA_GRAPH_MEMORY_H
#define WS_CUDA_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/board.h"

struct shim;
struct shim_part;

/* CUgraphMem_attribute. A graph holds nothing back: what is reserved is what is used. */
enum { GRAPH_MEMORY_USED, GRAPH_MEMORY_USED_HIGH, GRAPH_MEMORY_RESERVED, GRAPH_MEMORY_RESERVED_HIGH,
       GRAPH_MEMORY__N };

struct graph_memories {
  struct graph_memory *first;
  struct graph_condition *conditions;
};

/* An address for `bytes` (> 0) of a device's memory that no node names yet. */
CUresult graph_memory_new(struct shim *, struct board *, uint64_t *addr, uint64_t bytes);
/* A node names it, or no longer does. */
void graph_memory_hold(struct shim *, uint64_t addr);
void graph_memory_drop(struct shim *, uint64_t addr);
bool graph_memory_exists(const struct shim *, uint64_t addr);
/* Whether it lies in an allocation, live or not. */
bool graph_memory_holds(const struct shim *, uint64_t addr);
bool graph_memory_is_live(const struct shim *, uint64_t addr);
/* The node runs. CUDA_ERROR_INVALID_VALUE: nobody took the memory of its last run. */
CUresult graph_memory_take(struct shim *, uint64_t addr);
/* CUDA_ERROR_INVALID_VALUE: no live allocation of a graph. */
CUresult graph_memory_give(struct shim *, uint64_t addr);
CUresult graph_memory_get(struct shim *, CUdevice, int attribute, uint64_t *value);
/* High-water marks can be reset to 0. */
CUresult graph_memory_set(struct shim *, CUdevice, int attribute, const uint64_t *value);

/* assign: it is `value` again at each launch. */
CUresult condition_new(struct shim *, struct board *, uint64_t *handle, uint32_t value, bool assign);
bool condition_exists(const struct shim *, uint64_t handle);
void condition_start(struct shim *, uint64_t handle);
uint32_t condition_value(struct shim *, uint64_t handle);

extern const struct shim_part graph_memory_part;

#endif
