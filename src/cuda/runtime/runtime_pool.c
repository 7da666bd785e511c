/* Stream-ordered allocation and memory pools of the runtime. */
#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"

static CUresult alloc(struct shim *s, void **out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  uint64_t addr = 0;
  CUresult r = out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (out && bytes) r = enqueue_alloc(s, pool, &addr, bytes, stream); /* nothing: a null pointer */
  if (r == CUDA_SUCCESS) *out = (void *)(uintptr_t)addr;
  return r;
}

CUresult cudaMallocAsync(void **out, size_t bytes, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, alloc(s, out, bytes, pool_current(s), stream));
}

CUresult cudaMallocFromPoolAsync(void **out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, alloc(s, out, bytes, pool, stream));
}

CUresult cudaFreeAsync(void *p, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, p ? enqueue_free(s, (uint64_t)(uintptr_t)p, stream) : CUDA_SUCCESS);
}

CUresult cudaDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
  RUNTIME(NEED_GPU, pool_of_device(pool_default(s), out, device));
}

CUresult cudaDeviceGetMemPool(CUmemoryPool *out, CUdevice device)
{
  RUNTIME(NEED_GPU, pool_of_device(pool_current(s), out, device));
}

CUresult cudaDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : pool_use(s, pool));
}

CUresult cudaMemGetDefaultMemPool(CUmemoryPool *out, const CUmemLocation *l, int type)
{
  (void)type; /* pinned device memory is the only kind */
  RUNTIME(NEED_GPU, pool_of_location(s, pool_default(s), out, l));
}

CUresult cudaMemGetMemPool(CUmemoryPool *out, const CUmemLocation *l, int type)
{
  (void)type;
  RUNTIME(NEED_GPU, pool_of_location(s, pool_current(s), out, l));
}

CUresult cudaMemSetMemPool(const CUmemLocation *l, int type, CUmemoryPool pool)
{
  CUmemoryPool same;
  (void)type;
  RUNTIME(NEED_GPU, pool_of_location(s, pool, &same, l) == CUDA_SUCCESS ? pool_use(s, pool)
                                                                   : CUDA_ERROR_INVALID_VALUE);
}

CUresult cudaMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
  RUNTIME(NEED_GPU, pool_create(s, out, props));
}

CUresult cudaMemPoolDestroy(CUmemoryPool pool)
{
  RUNTIME(NEED_GPU, pool_destroy(s, pool));
}

CUresult cudaMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
  RUNTIME(NEED_GPU, pool_get(s, pool, attribute, value));
}

CUresult cudaMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
  RUNTIME(NEED_GPU, pool_set(s, pool, attribute, value));
}

CUresult cudaMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
  (void)keep;
  RUNTIME(NEED_GPU, pool_trim(s, pool));
}

CUresult cudaMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *location)
{
  RUNTIME(NEED_GPU, pool_access(s, pool, location, flags));
}

CUresult cudaMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *d, size_t n)
{
  RUNTIME(NEED_GPU, pool_set_access(s, pool, d, n));
}
