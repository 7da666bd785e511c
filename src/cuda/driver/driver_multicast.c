/* Multicast objects, in the driver's interface. */
#include "cuda/core/call.h"
#include "cuda/core/multicast_object.h"
#include "cuda/core/synchronize.h"

CUresult cuMulticastGetGranularity(size_t *bytes, const CUmulticastObjectProp *p, int option)
{
  DRIVER(NEED_GPU, option < 0 || option > 1 ? CUDA_ERROR_INVALID_VALUE : multicast_granularity(s, bytes, p));
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *out, const CUmulticastObjectProp *p)
{
  DRIVER(NEED_GPU, multicast_create(s, out, p));
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle h, CUdevice device)
{
  DRIVER(NEED_GPU, multicast_add_device(s, h, device));
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle h, size_t at, CUmemGenericAllocationHandle memory,
                            size_t offset, size_t bytes, unsigned long long flags)
{
  DRIVER(NEED_GPU, flags ? CUDA_ERROR_INVALID_VALUE : multicast_bind_memory(s, h, at, memory, offset, bytes));
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle h, size_t at, CUdeviceptr p, size_t bytes,
                             unsigned long long flags)
{
  DRIVER(NEED_GPU, flags ? CUDA_ERROR_INVALID_VALUE : multicast_bind_address(s, h, at, p, bytes));
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle h, CUdevice device, size_t at, size_t bytes)
{
  DRIVER(NEED_GPU, multicast_unbind(s, h, device, at, bytes));
}
