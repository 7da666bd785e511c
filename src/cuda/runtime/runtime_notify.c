/* The log of the runtime and callbacks that are never called (notify.h). */
#include "cuda/core/call.h"
#include "cuda/core/notify.h"

CUresult cudaLogsRegisterCallback(const void *callback, void *data, struct notify **out)
{
  (void)data;
  RUNTIME(NEED_NOTHING, notify_add(s, callback, out));
}

CUresult cudaLogsUnregisterCallback(struct notify *n)
{
  RUNTIME(NEED_NOTHING, notify_remove(s, n));
}

CUresult cudaLogsCurrent(unsigned *iterator, unsigned flags)
{
  RUNTIME(NEED_NOTHING, log_current(iterator, flags));
}

CUresult cudaLogsDumpToFile(unsigned *iterator, const char *path, unsigned flags)
{
  RUNTIME(NEED_NOTHING, log_to_file(iterator, path, flags));
}

CUresult cudaLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
  RUNTIME(NEED_NOTHING, log_to_memory(iterator, buffer, size, flags));
}

CUresult cudaDeviceRegisterAsyncNotification(int device, const void *callback, void *data, struct notify **out)
{
  (void)data;
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : notify_add(s, callback, out));
}

CUresult cudaDeviceUnregisterAsyncNotification(int device, struct notify *n)
{
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : notify_remove(s, n));
}
