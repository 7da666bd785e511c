/* Memory pools: what stream-ordered allocations are counted against. All pools of a device take from its one memory,
 * others from the host's or from managed memory. A pool of a device keeps what streams have freed until the program
 * waits for the GPU, and then as much as its release threshold says (docs/exec-time.md). Of the reuse policies that for
 * memory that other streams have freed is followed; the others are kept for the program to read back.
 */
#ifndef WS_CUDA_POOL_H
#define WS_CUDA_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/memory.h"

struct shim;
struct shim_part;

struct pools {
  struct pool *first; /* the devices' default pools are in board.h */
  struct pool *standard[BLOCK_KINDS], *now[BLOCK_KINDS]; /* pinned, managed: the default one, that in use */
  uint64_t given_back; /* so often a stream was told to free memory of one */
};

/* CUmemPool_attribute, cudaMemPoolAttr: 1 to 3 are int, the others 64 bits. */
enum { POOL_REUSE_EVENTS = 1, POOL_REUSE_OPPORTUNISTIC, POOL_REUSE_INTERNAL, POOL_RELEASE_THRESHOLD,
       POOL_RESERVED, POOL_RESERVED_HIGH, POOL_USED, POOL_USED_HIGH, POOL__N };

/* The pool of cudaMallocAsync: the device's default one or what pool_use said. */
struct pool *pool_current(struct shim *, struct board *);
/* Of a device, when there is such a one, or of a kind of memory at a location: the default pool, else that in use. */
CUresult pool_of_device(struct shim *, CUmemoryPool *out, CUdevice, bool standard);
CUresult pool_of_location(struct shim *, CUmemoryPool *out, const CUmemLocation *, int allocation, bool standard);
/* The pool must be of the device. */
CUresult pool_use(struct shim *, CUdevice, struct pool *);
CUresult pool_use_at(struct shim *, const CUmemLocation *, int allocation, struct pool *);
CUresult pool_create(struct shim *, CUmemoryPool *, const CUmemPoolProps *);
/* A pool created for it, to other processes: a file descriptor, which the program closes; and from there. */
CUresult pool_export(struct shim *, int *fd, CUmemoryPool);
CUresult pool_import(struct shim *, CUmemoryPool *, int fd);
/* The file behind an imported pool, -1: it is none. */
int pool_file(const struct shim *, CUmemoryPool);
/* The pool that the block is of; NULL: of none. */
CUmemoryPool pool_of_block(const struct block *);
/* Whether the block is host memory of a pool to which this GPU has no access. (Kernels there reach it all the same.) */
bool pool_hides(const struct block *, const struct board *from);
/* Whether the block is of a pool whose memory may be. */
bool pool_is_shared(const struct block *);
/* The pool goes away with its last allocation. */
CUresult pool_destroy(struct shim *, CUmemoryPool);
/* *value: int or uint64_t, as the attribute asks for. */
CUresult pool_get(struct shim *, CUmemoryPool, int attribute, void *value);
CUresult pool_set(struct shim *, CUmemoryPool, int attribute, const void *value);
/* What it keeps goes until it has at most so many bytes, those in use among them. */
CUresult pool_trim(struct shim *, CUmemoryPool, uint64_t most);
/* The program has waited for the GPU: what pools keep beyond their thresholds is the GPU's again. */
void pools_settle(struct shim *);
CUresult pool_access(struct shim *, CUmemoryPool, const CUmemLocation *, int *flags);
CUresult pool_set_access(struct shim *, CUmemoryPool, const CUmemAccessDesc *, size_t n);

/* For the stream of that key, not 0 and never used for another one: memory of the same size that it was told to free,
 * or that the pool keeps, is taken first. */
CUresult pool_alloc(struct shim *, CUmemoryPool, uint64_t *addr, uint64_t bytes, uint64_t stream);
/* Whether a graph's node can allocate from it: memory of a GPU. */
bool pool_is_captured(const struct shim *, CUmemoryPool);
/* What a pool or a graph allocated: whether it is there and no stream was told to free it. */
bool pool_can_free(struct shim *, uint64_t addr);
/* The stream of that key is told to free it; and when it comes to that, away with it, unless it was taken again. */
void pool_give_back(struct shim *, uint64_t addr, uint64_t stream);
CUresult pool_free(struct shim *, uint64_t addr);

extern const struct shim_part pool_part;

#endif
