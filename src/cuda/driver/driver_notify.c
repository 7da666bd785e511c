/* The log of the driver and callbacks that are never called (notify.h). */
#include "cuda/core/call.h"
#include "cuda/core/notify.h"

CUresult cuLogsRegisterCallback(const void *callback, void *data, struct notify **out)
{
  (void)data;
  DRIVER(NEED_NOTHING, notify_add(s, callback, out));
}

CUresult cuLogsUnregisterCallback(struct notify *n)
{
  DRIVER(NEED_NOTHING, notify_remove(s, n));
}

CUresult cuLogsCurrent(unsigned *iterator, unsigned flags)
{
  DRIVER(NEED_NOTHING, log_current(iterator, flags));
}

CUresult cuLogsDumpToFile(unsigned *iterator, const char *path, unsigned flags)
{
  DRIVER(NEED_NOTHING, log_to_file(iterator, path, flags));
}

CUresult cuLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
  DRIVER(NEED_NOTHING, log_to_memory(iterator, buffer, size, flags));
}

CUresult cuDeviceRegisterAsyncNotification(int device, const void *callback, void *data, struct notify **out)
{
  (void)data;
  DRIVER(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : notify_add(s, callback, out));
}

CUresult cuDeviceUnregisterAsyncNotification(int device, struct notify *n)
{
  DRIVER(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : notify_remove(s, n));
}
