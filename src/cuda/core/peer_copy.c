#include "cuda/core/peer_copy.h"

#include "cuda/core/enqueue.h"
#include "cuda/core/shim.h"

CUresult peer_copy(struct shim *s, CUresult r, struct copy *c, bool directed, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  if (r != CUDA_SUCCESS) return r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!directed) copy_direct(s, c, COPY_DEFAULT);
  return enqueue_copy(s, c, st, blocking);
}

CUresult peer_copy_bytes(struct shim *s, CUresult r, uint64_t dst, uint64_t src, size_t bytes, CUstream stream,
                         bool blocking)
{
  struct copy c = copy_linear(dst, src, bytes);
  return peer_copy(s, r, &c, false, stream, blocking);
}
