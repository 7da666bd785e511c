/* Memory and events of other processes, in the driver's interface. */
#include "cuda/core/call.h"
#include "cuda/core/ipc.h"

CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, ipc_export_memory(s, out, p));
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle h, unsigned flags)
{
  DRIVER(NEED_CONTEXT, ipc_open_memory(s, out, &h, flags));
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle h, unsigned flags)
{
  return cuIpcOpenMemHandle_v2(out, h, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, ipc_close_memory(s, p));
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *out, CUevent event)
{
  DRIVER(NEED_CONTEXT, ipc_export_event(s, out, event));
}

CUresult cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle h)
{
  DRIVER(NEED_CONTEXT, ipc_open_event(s, out, &h));
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
