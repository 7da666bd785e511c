/* Devices of the runtime: there is one, number 0. */
#include <string.h>

#include "cuda/core/attributes.h"
#include "cuda/core/context_end.h"
#include "cuda/core/profiled.h"
#include "cuda/core/version.h"
#include "cuda/runtime/runtime.h"

CUresult cudaDriverGetVersion(int *version)
{
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_API_VERSION;
  return CUDA_SUCCESS;
}

CUresult cudaRuntimeGetVersion(int *version)
{
  return cudaDriverGetVersion(version);
}

CUresult cudaGetDeviceCount(int *count)
{
  RUNTIME(NEED_GPU, GIVE(count, 1));
}

CUresult cudaSetDevice(int device)
{
  RUNTIME(NEED_CONTEXT, device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

CUresult cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
  (void)device_flags, (void)flags;
  RUNTIME(NEED_CONTEXT, device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

CUresult cudaGetDevice(int *device)
{
  RUNTIME(NEED_GPU, GIVE(device, 0));
}

CUresult cudaSetValidDevices(int *devices, int n)
{
  (void)devices;
  RUNTIME(NEED_GPU, n < 0 || n > 1 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

static CUresult set_flags(struct shim *s, unsigned flags)
{
  context_primary(s)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cudaSetDeviceFlags(unsigned flags)
{
  RUNTIME(NEED_GPU, set_flags(s, flags));
}

CUresult cudaGetDeviceFlags(unsigned *flags)
{
  RUNTIME(NEED_GPU, GIVE(flags, context_primary(s)->flags | 8 /* mapped memory */));
}

CUresult cudaDeviceReset(void)
{
  RUNTIME(NEED_GPU, context_reset(s));
}

static CUresult attribute(struct shim *s, int *value, int which, int device)
{
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return value && device_attribute(&s->preset.params, which, value) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_VALUE;
}

CUresult cudaDeviceGetAttribute(int *value, int which, int device)
{
  RUNTIME(NEED_GPU, attribute(s, value, which, device));
}

static CUresult properties(struct shim *s, void *out, int device, int version)
{
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (version == 12) device_properties_12(&s->preset.params, out);
  else device_properties_13(&s->preset.params, out);
  return CUDA_SUCCESS;
}

CUresult cudaGetDeviceProperties(struct device_prop_13 *out, int device)
{
  RUNTIME(NEED_GPU, properties(s, out, device, 13));
}

/* The name that programs of CUDA 12 use. */
CUresult cudaGetDeviceProperties_v2(struct device_prop_12 *out, int device)
{
  RUNTIME(NEED_GPU, properties(s, out, device, 12));
}

CUresult cudaChooseDevice(int *device, const void *properties_wanted)
{
  (void)properties_wanted;
  RUNTIME(NEED_GPU, GIVE(device, 0));
}

CUresult cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
  if (least) *least = STREAM_PRIORITY_LEAST;
  if (greatest) *greatest = STREAM_PRIORITY_GREATEST;
  RUNTIME(NEED_GPU, CUDA_SUCCESS);
}

static CUresult linear_width(struct shim *s, size_t *texels, const cudaChannelFormatDesc *d, int device)
{
  int most = 0;
  if (device) return CUDA_ERROR_INVALID_DEVICE;
  if (!texels || !d || d->x <= 0) return CUDA_ERROR_INVALID_VALUE;
  device_attribute(&s->preset.params, ATTRIBUTE_MAX_LINEAR_WIDTH, &most);
  *texels = (size_t)most;
  return CUDA_SUCCESS;
}

CUresult cudaDeviceGetTexture1DLinearMaxWidth(size_t *texels, const cudaChannelFormatDesc *d, int device)
{
  RUNTIME(NEED_GPU, linear_width(s, texels, d, device));
}

CUresult cudaDeviceGetByPCIBusId(int *device, const char *text)
{
  RUNTIME(NEED_GPU, !device || !text                   ? CUDA_ERROR_INVALID_VALUE
                    : strcmp(text, device_pci_bus_id) ? CUDA_ERROR_INVALID_DEVICE
                                                      : (*device = 0, CUDA_SUCCESS));
}

CUresult cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE
                    : !text || snprintf(text, (size_t)bytes, "%s", device_pci_bus_id) >= bytes
                        ? CUDA_ERROR_INVALID_VALUE
                        : CUDA_SUCCESS);
}

CUresult cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

/* A name that the driver lacks is an answer, in *status, unless the program does not ask for that. */
static CUresult entry_point(const char *name, void **fn, unsigned version, uint64_t flags, int *status)
{
  if (!name || !fn || flags > 2) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = cuGetProcAddress_v2(name, fn, (int)version, flags, status);
  return r == CUDA_ERROR_NOT_FOUND && status ? CUDA_SUCCESS : r;
}

CUresult cudaGetDriverEntryPoint(const char *name, void **fn, unsigned long long flags, int *status)
{
  RUNTIME(NEED_GPU, entry_point(name, fn, CUDA_API_VERSION, flags, status));
}

CUresult cudaGetDriverEntryPointByVersion(const char *name, void **fn, unsigned version,
                                          unsigned long long flags, int *status)
{
  RUNTIME(NEED_GPU, entry_point(name, fn, version, flags, status));
}

CUresult cudaProfilerStart(void)
{
  RUNTIME(NEED_GPU, profiled_on(s, true));
}

CUresult cudaProfilerStop(void)
{
  RUNTIME(NEED_GPU, profiled_on(s, false));
}
