/* Stream-ordered allocation and memory pools of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"

static CUresult alloc(struct shim *s, CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  uint64_t addr;
  CUresult r = out ? enqueue_alloc(s, pool, &addr, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS) *out = addr;
  return r;
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
  DRIVER(NEED_CONTEXT, alloc(s, out, bytes, pool_current(s, board_current(s)), stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  DRIVER(NEED_CONTEXT, alloc(s, out, bytes, pool, stream));
}
