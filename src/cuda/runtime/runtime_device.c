/* Devices of the runtime: a thread's is that of its current context. */
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

/* Where there is none the error says so, too. */
CUresult cudaGetDeviceCount(int *count)
{
  if (count) *count = 0;
  RUNTIME(NEED_GPU, GIVE(count, (int)s->boards.n));
}

/* A context of the device that the program has made and has current stays so. */
static CUresult set_device(struct shim *s, int device)
{
  struct board *b = board_at(s, device);
  const struct context *c = context_current(s);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  return c && c->board == b ? CUDA_SUCCESS : context_set(s, context_primary(s, b));
}

CUresult cudaSetDevice(int device)
{
  RUNTIME(NEED_GPU, set_device(s, device));
}

static CUresult init_device(struct shim *s, int device, unsigned device_flags, unsigned flags)
{
  enum { FLAGS_ARE_VALID = 1 }; /* cudaInitDeviceFlagsAreValid */
  struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  struct context *c = context_primary(s, b);
  if (flags & FLAGS_ARE_VALID) c->flags = device_flags;
  return CUDA_SUCCESS;
}

/* The thread's device stays what it is. */
CUresult cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, init_device(s, device, device_flags, flags));
}

CUresult cudaGetDevice(int *device)
{
  RUNTIME(NEED_GPU, GIVE(device, (int)board_current(s)->number));
}

static CUresult set_valid(struct shim *s, const int *devices, int n)
{
  if (n < 0 || (unsigned)n > s->boards.n) return CUDA_ERROR_INVALID_DEVICE;
  for (int i = 0; devices && i < n; i++)
    if (!board_at(s, devices[i])) return CUDA_ERROR_INVALID_DEVICE;
  return CUDA_SUCCESS;
}

/* No device is ever unavailable, so the list is never needed. */
CUresult cudaSetValidDevices(int *devices, int n)
{
  RUNTIME(NEED_GPU, set_valid(s, devices, n));
}

static CUresult set_flags(struct shim *s, unsigned flags)
{
  context_primary(s, board_current(s))->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cudaSetDeviceFlags(unsigned flags)
{
  RUNTIME(NEED_GPU, set_flags(s, flags));
}

CUresult cudaGetDeviceFlags(unsigned *flags)
{
  RUNTIME(NEED_GPU, GIVE(flags, context_primary(s, board_current(s))->flags | 8 /* mapped memory */));
}

CUresult cudaDeviceReset(void)
{
  RUNTIME(NEED_GPU, context_reset(s, board_current(s)));
}

static CUresult attribute(struct shim *s, int *value, int which, int device)
{
  const struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  return value && device_attribute(b, which, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cudaDeviceGetAttribute(int *value, int which, int device)
{
  RUNTIME(NEED_GPU, attribute(s, value, which, device));
}

static CUresult properties(struct shim *s, void *out, int device, int version)
{
  const struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (version == 12) device_properties_12(b, out);
  else device_properties_13(b, out);
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
  const struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  if (!texels || !d || d->x <= 0) return CUDA_ERROR_INVALID_VALUE;
  device_attribute(b, ATTRIBUTE_MAX_LINEAR_WIDTH, &most);
  *texels = (size_t)most;
  return CUDA_SUCCESS;
}

CUresult cudaDeviceGetTexture1DLinearMaxWidth(size_t *texels, const cudaChannelFormatDesc *d, int device)
{
  RUNTIME(NEED_GPU, linear_width(s, texels, d, device));
}

static CUresult by_pci(struct shim *s, int *device, const char *text)
{
  const struct board *b = device && text ? board_by_pci(s, text) : NULL;
  if (!device || !text) return CUDA_ERROR_INVALID_VALUE;
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  *device = (int)b->number;
  return CUDA_SUCCESS;
}

CUresult cudaDeviceGetByPCIBusId(int *device, const char *text)
{
  RUNTIME(NEED_GPU, by_pci(s, device, text));
}

static CUresult pci_of(struct shim *s, char *text, int bytes, int device)
{
  const struct board *b = board_at(s, device);
  char address[MACHINE_PCI_TEXT];
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  const bool fits = text && snprintf(text, (size_t)bytes, "%s", board_pci_address(b, address)) < bytes;
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
  RUNTIME(NEED_GPU, pci_of(s, text, bytes, device));
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
