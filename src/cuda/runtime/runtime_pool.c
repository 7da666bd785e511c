/* Stream-ordered allocation and memory pools of the runtime. */
#include "cuda/core/enqueue.h"
#include "cuda/runtime/runtime_forms.h"

CUresult runtime_alloc_in(struct shim *s, void **out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  uint64_t addr = 0;
  CUresult r = out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (out && bytes) r = enqueue_alloc(s, pool, &addr, bytes, stream); /* nothing: a null pointer */
  if (r == CUDA_SUCCESS) *out = (void *)(uintptr_t)addr;
  return r;
}
