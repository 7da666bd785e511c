/* Initialisation, devices, contexts and errors of the driver. */
#include <dlfcn.h>
#include <string.h>

#include "cuda/core/attributes.h"
#include "cuda/core/call.h"
#include "cuda/core/context_end.h"
#include "cuda/core/device_name.h"
#include "cuda/core/errors.h"
#include "cuda/core/mps.h"
#include "cuda/core/profiled.h"
#include "cuda/core/synchronize.h"
#include "cuda/core/version.h"

CUresult cuInit(unsigned flags)
{
  DRIVER(NEED_NOTHING, flags ? CUDA_ERROR_INVALID_VALUE : shim_up(s));
}

CUresult cuDriverGetVersion(int *version)
{
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_API_VERSION;
  return CUDA_SUCCESS;
}

/* Devices ---------------------------------------------------------------------------------------- */

#define ON_DEVICE(device, expr) (!board_at(s, device) ? CUDA_ERROR_INVALID_DEVICE : (expr))
#define PARAMS_OF(device)        (&board_at(s, device)->preset.params)

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
  DRIVER(NEED_GPU, ON_DEVICE(ordinal, GIVE(device, ordinal)));
}

/* Where there is none the error says so, too. */
CUresult cuDeviceGetCount(int *count)
{
  if (count) *count = 0;
  DRIVER(NEED_GPU, GIVE(count, (int)s->boards.n));
}

static CUresult give_text(char *to, int bytes, const char *text)
{
  if (!to || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(to, (size_t)bytes, "%s", text);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
  char text[DEVICE_NAME_TEXT];
  DRIVER(NEED_GPU, ON_DEVICE(device, give_text(name, bytes, device_name(PARAMS_OF(device)->name, text))));
}

CUresult cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device)
{
  char address[MACHINE_PCI_TEXT];
  DRIVER(NEED_GPU, ON_DEVICE(device, give_text(text, bytes, board_pci_address(board_at(s, device), address))));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
  DRIVER(NEED_GPU, !text || !board_by_pci(s, text) ? CUDA_ERROR_INVALID_DEVICE
                                                   : GIVE(device, (int)board_by_pci(s, text)->number));
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, GIVE(uuid, device_uuid(board_at(s, device)))));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
  return cuDeviceGetUuid(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
  DRIVER(NEED_GPU,
         ON_DEVICE(device, GIVE(bytes, board_memory_bytes(board_at(s, device)))));
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, value && device_attribute(board_at(s, device), attribute, value)
                                         ? CUDA_SUCCESS
                                         : CUDA_ERROR_INVALID_VALUE));
}

/* CUdevprop is the first attributes, in their order. */
enum { DEVPROP_VALUES = 14 };

static CUresult first_attributes(const struct board *b, int *value)
{
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < DEVPROP_VALUES; i++) device_attribute(b, i + 1, value + i);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(int *prop, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, first_attributes(board_at(s, device), prop)));
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, !major || !minor
                                         ? CUDA_ERROR_INVALID_VALUE
                                         : (*major = (int)PARAMS_OF(device)->arch_sm / 10,
                                            *minor = (int)PARAMS_OF(device)->arch_sm % 10,
                                            CUDA_SUCCESS)));
}

/* Primary context -------------------------------------------------------------------------------- */

static CUresult retain(struct shim *s, CUcontext *out, struct board *b)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = context_primary(s, b);
  b->primary->users++;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, retain(s, out, board_at(s, device))));
}

/* The primary context stays when nobody holds it: the runtime may still use it. */
static CUresult let_go(struct board *b)
{
  if (!b->primary || !b->primary->users) return CUDA_ERROR_INVALID_CONTEXT;
  b->primary->users--;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, let_go(board_at(s, device))));
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, (context_primary(s, board_at(s, device))->flags = flags, CUDA_SUCCESS)));
}

static CUresult primary_state(const struct board *b, unsigned *flags, int *active)
{
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  *flags = b->primary ? b->primary->flags : 0;
  *active = b->primary != NULL;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, primary_state(board_at(s, device), flags, active)));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, context_reset(s, board_at(s, device))));
}

/* Contexts --------------------------------------------------------------------------------------- */

CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, context_create(s, out, flags, board_at(s, device))));
}

/* SMs that a context may use, which clients of the Multi-Process Service can say (CUDA Driver API, cuCtxCreate_v3). */
static CUresult create_limited(struct shim *s, CUcontext *out, const CUexecAffinityParam *p, int n, unsigned flags,
                               struct board *b)
{
  if (n <= 0 || !p) return n ? CUDA_ERROR_INVALID_VALUE : context_create(s, out, flags, b);
  for (int i = 0; i < n; i++)
    if (p[i].type != EXEC_AFFINITY_SM_COUNT || !s->mps) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (n > 1 || !p->sm_count) return CUDA_ERROR_INVALID_VALUE;
  const CUresult r = context_create(s, out, flags, b);
  return r == CUDA_SUCCESS ? mps_limit(s, *out, p->sm_count) : r;
}

CUresult cuCtxCreate_v3(CUcontext *out, const CUexecAffinityParam *affinity, int n_affinity, unsigned flags,
                        CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, create_limited(s, out, affinity, n_affinity, flags, board_at(s, device))));
}

CUresult cuCtxCreate_v4(CUcontext *out, const CUctxCreateParams *p, unsigned flags, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, p && p->graphics
                                   ? shim_unsupported(s, "cuCtxCreate with parameters of graphics")
                                   : create_limited(s, out, p ? p->affinity : NULL, p ? p->n_affinity : 0, flags,
                                                    board_at(s, device))));
}

static CUresult affinity_of(struct shim *s, CUexecAffinityParam *p, int type)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (type != EXEC_AFFINITY_SM_COUNT || !s->mps) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  *p = (CUexecAffinityParam){ .type = type, .sm_count = mps_sms(s, context_current(s)) };
  return CUDA_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *p, int type)
{
  DRIVER(NEED_CONTEXT, affinity_of(s, p, type));
}

CUresult cuCtxDestroy_v2(CUcontext c)
{
  DRIVER_OF((c), NEED_GPU, context_destroy(s, c));
}

/* Users of a context that was made are counted, and the last one to detach destroys it; cuCtxDestroy does at once. */
static CUresult attach(struct context *c, CUcontext *out, unsigned flags)
{
  if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
  c->users++;
  *out = c;
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext *out, unsigned flags)
{
  DRIVER(NEED_CONTEXT, attach(context_current(s), out, flags));
}

static CUresult detach(struct shim *s, CUcontext c)
{
  if (!context_exists(s, c) || c != context_current(s) || c->primary || c->green) return CUDA_ERROR_INVALID_CONTEXT;
  if (c->users > 1) return c->users--, CUDA_SUCCESS;
  return context_destroy(s, c);
}

CUresult cuCtxDetach(CUcontext c)
{
  DRIVER(NEED_CONTEXT, detach(s, c));
}

CUresult cuCtxPushCurrent_v2(CUcontext c)
{
  DRIVER(NEED_GPU, context_push(s, c));
}

CUresult cuCtxPopCurrent_v2(CUcontext *out)
{
  DRIVER(NEED_GPU, context_pop(s, out));
}

CUresult cuCtxSetCurrent(CUcontext c)
{
  DRIVER(NEED_GPU, context_set(s, c));
}

CUresult cuCtxGetCurrent(CUcontext *out)
{
  DRIVER(NEED_GPU, GIVE(out, context_current(s)));
}

CUresult cuCtxGetDevice(CUdevice *device)
{
  DRIVER(NEED_CONTEXT, GIVE(device, (int)board_current(s)->number));
}

static CUresult device_of(struct shim *s, CUdevice *device, CUcontext c)
{
  if (c && !context_exists(s, c)) return CUDA_ERROR_INVALID_CONTEXT;
  return GIVE(device, (int)(c ? c->board : board_current(s))->number);
}

/* NULL: the current context. */
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext c)
{
  DRIVER(c ? NEED_GPU : NEED_CONTEXT, device_of(s, device, c));
}

CUresult cuCtxGetFlags(unsigned *flags)
{
  DRIVER(NEED_CONTEXT, GIVE(flags, context_current(s)->flags));
}

static CUresult context_id(struct shim *s, CUcontext c, unsigned long long *id)
{
  if (c && !context_exists(s, c)) return CUDA_ERROR_INVALID_CONTEXT;
  return GIVE(id, c ? c->id : context_current(s)->id);
}

/* NULL: the current context. */
CUresult cuCtxGetId(CUcontext c, unsigned long long *id)
{
  DRIVER(c ? NEED_GPU : NEED_CONTEXT, context_id(s, c, id));
}

CUresult cuCtxGetApiVersion(CUcontext c, unsigned *version)
{
  (void)c;
  DRIVER(NEED_GPU, GIVE(version, CUDA_API_VERSION));
}

/* Contexts of one GPU share it: to wait for one is to wait for all of them, but for a green one. */
CUresult cuCtxSynchronize_v2(CUcontext c)
{
  DRIVER(c ? NEED_GPU : NEED_CONTEXT,
         c && !context_exists(s, c) ? CUDA_ERROR_INVALID_CONTEXT
                                    : stream_wait_context(s, c ? c : context_current(s)));
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
  if (least) *least = STREAM_PRIORITY_LEAST;
  if (greatest) *greatest = STREAM_PRIORITY_GREATEST;
  DRIVER(NEED_CONTEXT, CUDA_SUCCESS);
}

/* CUctx_flags: one way of scheduling and hints, which change nothing. */
CUresult cuCtxSetFlags(unsigned flags)
{
  enum { CTX_FLAGS = 0xff };
  DRIVER(NEED_CONTEXT, flags & ~(unsigned)CTX_FLAGS ? CUDA_ERROR_INVALID_VALUE
                                                    : (context_current(s)->flags = flags, CUDA_SUCCESS));
}

/* Contexts of clients of the Multi-Process Service can be bound to a part of the SMs. */
CUresult cuDeviceGetExecAffinitySupport(int *supported, int type, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, type != EXEC_AFFINITY_SM_COUNT
                                   ? CUDA_ERROR_INVALID_VALUE : GIVE(supported, s->mps != NULL)));
}

static CUresult linear_width(const struct board *b, size_t *texels, int format, unsigned channels)
{
  int most = 0;
  device_attribute(b, ATTRIBUTE_MAX_LINEAR_WIDTH, &most);
  return format && (channels == 1 || channels == 2 || channels == 4) ? GIVE(texels, (size_t)most)
                                                                     : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *texels, int format, unsigned channels, CUdevice device)
{
  DRIVER(NEED_GPU, ON_DEVICE(device, linear_width(board_at(s, device), texels, format, channels)));
}

CUresult cuFuncSetSharedMemConfig(CUfunction f, int config)
{
  DRIVER(NEED_CONTEXT, !module_is_function(s, f) ? CUDA_ERROR_INVALID_HANDLE
                       : !bank_config_exists(config) ? CUDA_ERROR_INVALID_VALUE
                                                     : CUDA_SUCCESS);
}

CUresult cuProfilerStart(void)
{
  DRIVER(NEED_CONTEXT, profiled_on(s, true));
}

CUresult cuProfilerStop(void)
{
  DRIVER(NEED_CONTEXT, profiled_on(s, false));
}

/* Errors, private tables ------------------------------------------------------------------------ */

CUresult cuGetErrorName(CUresult code, const char **text)
{
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = error_driver_name((int)code);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text)
{
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = error_text((int)code);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A library that has a runtime of its own inside gives up now, and mostly says something else ("not initialized"). */
static void tell_private(const void *caller)
{
  Dl_info from;
  struct shim *s = shim_get();
  const char *path = dladdr(caller, &from) && from.dli_fname ? from.dli_fname : "the program";
  shim_lock(s);
  if (shim_first_time(s, path))
    shim_say("%s asks the driver for private tables (cuGetExportTable), which are not published and not served, "
             "and will fail: a CUDA runtime that is stripped is inside, and no libcudart_static.a at hand is of its "
             "version; name one (WARPSTEP_CUDART=FILE; PyPI's nvidia-cuda-runtime has each release's, but not those of "
             "NVIDIA's cuDNN, cuFFT and nvJPEG), or use a build of it with the shared runtime or with symbols "
             "(docs/exec.md)", path);
  pthread_mutex_unlock(&s->lock);
}

/* Tables whose absence is of no consequence: those who were seen to ask for them go on. */
static bool is_optional(const void *id)
{
  enum { ID_BYTES = 16 };
  static const unsigned char optional[][ID_BYTES] = {
    /* run-time compilers and linkers of 13.x (NVRTC, nvJitLink) */
    { 0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41, 0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28 },
    /* the runtime, which asks for another one next */
    { 0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d, 0xd9 },
  };
  for (size_t i = 0; id && i < sizeof optional / sizeof optional[0]; i++)
    if (memcmp(id, optional[i], ID_BYTES) == 0) return true;
  return false;
}

/* The driver's private tables are not published, so there are none here. */
CUresult cuGetExportTable(const void **table, const void *id)
{
  if (!is_optional(id)) tell_private(__builtin_return_address(0));
  if (table) *table = NULL;
  return CUDA_ERROR_NOT_FOUND;
}
