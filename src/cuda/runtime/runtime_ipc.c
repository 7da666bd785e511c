/* Memory and events of other processes, in the runtime's interface. */
#include "cuda/core/call.h"
#include "cuda/core/ipc.h"

static CUresult open_memory(struct shim *s, void **out, const CUipcMemHandle *h, unsigned flags)
{
  CUdeviceptr addr;
  CUresult r = out ? ipc_open_memory(s, &addr, h, flags) : CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS) *out = (void *)(uintptr_t)addr;
  return r;
}

static CUresult import_pointer(struct shim *s, void **out, CUmemoryPool pool, const CUmemPoolPtrExportData *data)
{
  CUdeviceptr addr;
  CUresult r = out ? ipc_import_pointer(s, &addr, pool, data) : CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS) *out = (void *)(uintptr_t)addr;
  return r;
}

CUresult cudaIpcOpenMemHandle(void **out, CUipcMemHandle h, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, open_memory(s, out, &h, flags));
}

CUresult cudaMemPoolExportToShareableHandle(void *out, CUmemoryPool pool, int type, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, type != HANDLE_POSIX_FD || flags ? CUDA_ERROR_INVALID_VALUE : pool_export(s, out, pool));
}

CUresult cudaMemPoolImportFromShareableHandle(CUmemoryPool *out, void *handle, int type, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, type != HANDLE_POSIX_FD || flags ? CUDA_ERROR_INVALID_VALUE
                                                         : pool_import(s, out, (int)(uintptr_t)handle));
}

CUresult cudaMemPoolExportPointer(CUmemPoolPtrExportData *out, void *p)
{
  RUNTIME(NEED_CONTEXT, ipc_export_pointer(s, out, (uint64_t)(uintptr_t)p));
}

CUresult cudaMemPoolImportPointer(void **out, CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
  RUNTIME(NEED_CONTEXT, import_pointer(s, out, pool, data));
}
