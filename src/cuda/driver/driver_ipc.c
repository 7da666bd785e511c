/* Memory and events of other processes, in the driver's interface. */
#include "cuda/core/call.h"
#include "cuda/core/ipc.h"

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle h, unsigned flags)
{
  DRIVER(NEED_CONTEXT, ipc_open_memory(s, out, &h, flags));
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle h, unsigned flags)
{
  return cuIpcOpenMemHandle_v2(out, h, flags);
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle h, int type,
                                      unsigned long long flags)
{
  DRIVER(NEED_GPU, type != HANDLE_POSIX_FD || flags ? CUDA_ERROR_INVALID_VALUE : vmm_export(s, out, h));
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *handle, int type)
{
  DRIVER(NEED_GPU, type != HANDLE_POSIX_FD ? CUDA_ERROR_INVALID_VALUE
                                           : vmm_import(s, out, (int)(uintptr_t)handle));
}

CUresult cuMemPoolExportToShareableHandle(void *out, CUmemoryPool pool, int type, unsigned long long flags)
{
  DRIVER(NEED_GPU, type != HANDLE_POSIX_FD || flags ? CUDA_ERROR_INVALID_VALUE : pool_export(s, out, pool));
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *out, void *handle, int type, unsigned long long flags)
{
  DRIVER(NEED_GPU, type != HANDLE_POSIX_FD || flags ? CUDA_ERROR_INVALID_VALUE
                                                    : pool_import(s, out, (int)(uintptr_t)handle));
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *out, CUdeviceptr p)
{
  DRIVER(NEED_GPU, ipc_export_pointer(s, out, p));
}

CUresult cuMemPoolImportPointer(CUdeviceptr *out, CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
  DRIVER(NEED_GPU, ipc_import_pointer(s, out, pool, data));
}
