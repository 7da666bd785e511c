/* Virtual memory management of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/synchronize.h"

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *p, int option)
{
  DRIVER(NEED_GPU, option < 0 || option > 1 ? CUDA_ERROR_INVALID_VALUE
                                            : vmm_granularity(s, bytes, p));
}

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr at,
                             unsigned long long flags)
{
  DRIVER(NEED_GPU, flags ? CUDA_ERROR_INVALID_VALUE : vmm_reserve(s, out, bytes, align, at));
}

CUresult cuMemAddressFree(CUdeviceptr p, size_t bytes)
{
  DRIVER(NEED_GPU, vmm_unreserve(s, p, bytes));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *p,
                     unsigned long long flags)
{
  DRIVER(NEED_GPU, flags ? CUDA_ERROR_INVALID_VALUE : vmm_create(s, out, bytes, p));
}

CUresult cuMemRelease(CUmemGenericAllocationHandle h)
{
  DRIVER(NEED_GPU, vmm_release(s, h));
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *p)
{
  DRIVER(NEED_GPU, vmm_retain(s, out, (uint64_t)(uintptr_t)p));
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *p, CUmemGenericAllocationHandle h)
{
  DRIVER(NEED_GPU, vmm_properties(s, p, h));
}

CUresult cuMemMap(CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
                  unsigned long long flags)
{
  DRIVER(NEED_GPU, flags ? CUDA_ERROR_INVALID_VALUE : vmm_map(s, p, bytes, offset, h));
}

/* The device is done with it then (CUDA Driver API: the call synchronises). */
CUresult cuMemUnmap(CUdeviceptr p, size_t bytes)
{
  DRIVER(NEED_GPU, (stream_wait_memory(s, p), vmm_unmap(s, p, bytes)));
}

CUresult cuMemSetAccess(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *d, size_t n)
{
  DRIVER(NEED_GPU, (stream_wait_memory(s, p), vmm_set_access(s, p, bytes, d, n)));
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *l, CUdeviceptr p)
{
  DRIVER(NEED_GPU, vmm_access(s, flags, l, p));
}
