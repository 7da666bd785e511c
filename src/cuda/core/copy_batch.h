/* Batches of copies: one call, copies that do not wait for each other. They are done in the order of the list, one
 * of those allowed, in the order of the stream.
 */
#ifndef WS_CUDA_COPY_BATCH_H
#define WS_CUDA_COPY_BATCH_H

#include "cuda/core/copy.h"

/* The lists of cuMemcpyBatchAsync. */
struct copy_batch {
  const CUdeviceptr *dst, *src;
  const size_t *bytes;
  size_t n;
  const CUmemcpyAttributes *attribute; /* set i is for the copies from first[i] on */
  const size_t *first;
  size_t n_attributes;
};

/* *bad (may be NULL): the copy at fault, or SIZE_MAX. The stream must not be the legacy one. */
CUresult copy_batch_run(struct shim *, const struct copy_batch *, size_t *bad, CUstream);
CUresult copy_batch_run_3d(struct shim *, const CUDA_MEMCPY3D_BATCH_OP *, size_t n, unsigned long long flags,
                           size_t *bad, CUstream);

#endif
