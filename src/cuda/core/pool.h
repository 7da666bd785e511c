/* Memory pools: what stream-ordered allocations are counted against. All pools take from the device's
 * one memory; a pool holds nothing back, so what it reserves is what is allocated from it, and release
 * thresholds and reuse policies are kept but change nothing (docs/exec.md).
 */
#ifndef WS_CUDA_POOL_H
#define WS_CUDA_POOL_H

#include "cuda/core/shim.h"

/* CUmemPool_attribute, cudaMemPoolAttr: 1 to 3 are int, the others 64 bits. */
enum { POOL_REUSE_EVENTS = 1, POOL_REUSE_OPPORTUNISTIC, POOL_REUSE_INTERNAL, POOL_RELEASE_THRESHOLD,
       POOL_RESERVED, POOL_RESERVED_HIGH, POOL_USED, POOL_USED_HIGH, POOL__N };

/* The device's default pool: it cannot be destroyed. */
struct cu_pool *pool_default(struct shim *);
/* The pool of cudaMallocAsync: the default one or what pool_use said. */
struct cu_pool *pool_current(struct shim *);
CUresult pool_use(struct shim *, struct cu_pool *);
/* *out = pool, when there is such a device (0), or the location is one. */
CUresult pool_of_device(struct cu_pool *pool, CUmemoryPool *out, CUdevice);
CUresult pool_of_location(struct shim *, struct cu_pool *pool, CUmemoryPool *out, const CUmemLocation *);
CUresult pool_create(struct shim *, CUmemoryPool *, const CUmemPoolProps *);
/* A pool created for it, to other processes: a file descriptor, which the program closes; and from there. */
CUresult pool_export(struct shim *, int *fd, CUmemoryPool);
CUresult pool_import(struct shim *, CUmemoryPool *, int fd);
/* The file behind an imported pool, -1: it is none. */
int pool_file(const struct shim *, CUmemoryPool);
bool pool_is_shared(const struct cu_pool *);
/* The pool goes away with its last allocation. */
CUresult pool_destroy(struct shim *, CUmemoryPool);
/* *value: int or uint64_t, as the attribute asks for. */
CUresult pool_get(struct shim *, CUmemoryPool, int attribute, void *value);
CUresult pool_set(struct shim *, CUmemoryPool, int attribute, const void *value);
CUresult pool_trim(struct shim *, CUmemoryPool);
CUresult pool_access(struct shim *, CUmemoryPool, const CUmemLocation *, int *flags);
CUresult pool_set_access(struct shim *, CUmemoryPool, const CUmemAccessDesc *, size_t n);

/* Takes effect at once: everything issued before has run; a node when the stream is captured. */
CUresult pool_alloc(struct shim *, CUmemoryPool, uint64_t *addr, uint64_t bytes, CUstream);
CUresult pool_free(struct shim *, uint64_t addr, CUstream);
/* memory.c: a block of this pool is gone. */
void pool_released(struct shim *, struct cu_pool *, uint64_t bytes);
/* The context is reset: its memory is gone. */
void pool_destroy_all(struct shim *);

#endif
