/* Stream-ordered allocation and memory pools of the driver. */
#include "cuda/core/enqueue.h"
#include "cuda/driver/driver_forms.h"

CUresult driver_alloc_in(struct shim *s, CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  uint64_t addr;
  CUresult r = out ? enqueue_alloc(s, pool, &addr, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS) *out = addr;
  return r;
}
