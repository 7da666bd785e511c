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
  DRIVER(NEED_CONTEXT, alloc(s, out, bytes, pool_current(s), stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  DRIVER(NEED_CONTEXT, alloc(s, out, bytes, pool, stream));
}

CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
  DRIVER(NEED_CONTEXT, p ? enqueue_free(s, p, stream) : CUDA_SUCCESS);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
  DRIVER(NEED_GPU, pool_of_device(pool_default(s), out, device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device)
{
  DRIVER(NEED_GPU, pool_of_device(pool_current(s), out, device));
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
  DRIVER(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : pool_use(s, pool));
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, const CUmemLocation *l, int type)
{
  (void)type; /* pinned device memory is the only kind */
  DRIVER(NEED_GPU, pool_of_location(s, pool_default(s), out, l));
}

CUresult cuMemGetMemPool(CUmemoryPool *out, const CUmemLocation *l, int type)
{
  (void)type;
  DRIVER(NEED_GPU, pool_of_location(s, pool_current(s), out, l));
}

CUresult cuMemSetMemPool(const CUmemLocation *l, int type, CUmemoryPool pool)
{
  CUmemoryPool same;
  (void)type;
  DRIVER(NEED_GPU, pool_of_location(s, pool, &same, l) == CUDA_SUCCESS ? pool_use(s, pool)
                                                                   : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
  DRIVER(NEED_GPU, pool_create(s, out, props));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
  DRIVER(NEED_GPU, pool_destroy(s, pool));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
  DRIVER(NEED_GPU, pool_get(s, pool, attribute, value));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
  DRIVER(NEED_GPU, pool_set(s, pool, attribute, value));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
  (void)keep;
  DRIVER(NEED_GPU, pool_trim(s, pool));
}

CUresult cuMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *location)
{
  DRIVER(NEED_GPU, pool_access(s, pool, location, flags));
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *d, size_t n)
{
  DRIVER(NEED_GPU, pool_set_access(s, pool, d, n));
}
