/* Handles of libcublas: what a program sets on them, versions, names of statuses. */
#include <stdio.h>
#include <stdlib.h>

#include "libs/cublas/blas_types.h"

#define MAGIC UINT64_C(0x7761727073626c61)

bool blas_handle_is(const struct blas *h) { return h && h->magic == MAGIC; }

blas_status blas_open(struct blas **out)
{
  struct blas *h = calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return BLAS_ALLOC_FAILED;
  if (!kernel_set_open(&h->kernels)) {
    free(h);
    return BLAS_NOT_INITIALIZED;
  }
  if (h->kernels.capability < 75) {
    free(h);
    return BLAS_ARCH_MISMATCH;
  }
  h->magic = MAGIC;
  *out = h;
  return BLAS_SUCCESS;
}

blas_status blas_close(struct blas *h)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  cuStreamSynchronize(h->stream);
  kernel_set_close(&h->kernels);
  for (int i = 0; i < BLAS_STREAMS; i++)
    if (h->own[i].at) cuMemFree_v2(h->own[i].at);
  h->magic = 0;
  free(h);
  return BLAS_SUCCESS;
}

/* Memory of its own that a first call makes; the stream may be capturing, and what is made now is there whenever the
 * graph runs. */
static uint64_t make_room(void)
{
  uint64_t at = 0;
  int mode = DRIVER_CAPTURE_RELAXED;
  cuThreadExchangeStreamCaptureMode(&mode);
  if (cuMemAlloc_v2(&at, BLAS_WORKSPACE) != DRIVER_OK) at = 0;
  cuThreadExchangeStreamCaptureMode(&mode);
  return at;
}

uint64_t blas_room(struct blas *h, driver_stream stream, size_t least, size_t *bytes)
{
  *bytes = h->workspace_bytes;
  if (h->workspace && h->workspace_bytes >= least) return h->workspace;
  if (least > BLAS_WORKSPACE) return 0;
  *bytes = BLAS_WORKSPACE;
  for (int i = 0; i < BLAS_STREAMS; i++) {
    struct blas_room *r = &h->own[i];
    if (r->at && r->stream == stream) return r->at;
    if (r->at) continue;
    r->stream = stream;
    return r->at = make_room();
  }
  /* All that was queued before is done when its room goes to another stream. */
  struct blas_room *r = &h->own[h->next_room];
  if (cuCtxSynchronize() != DRIVER_OK) return 0;
  h->next_room = (h->next_room + 1) % BLAS_STREAMS;
  r->stream = stream;
  return r->at;
}

blas_status blas_refuse(const char *function, const char *why)
{
  fprintf(stderr, "warpstep: %s: warpstep's own cuBLAS does not have %s (docs/libraries.md)\n", function, why);
  return BLAS_NOT_SUPPORTED;
}

/* What a routine of BLAS says of a wrong argument; programs call it for their own. */
PUBLIC void cublasXerbla(const char *routine, int argument)
{
  fprintf(stderr, "%s: argument %d has a value that is not allowed\n", routine ? routine : "", argument);
}

PUBLIC blas_status cublasCreate_v2(struct blas **out) { return out ? blas_open(out) : BLAS_INVALID_VALUE; }
PUBLIC blas_status cublasDestroy_v2(struct blas *h) { return blas_close(h); }
PUBLIC blas_status cublasLtCreate(struct blas **out) { return out ? blas_open(out) : BLAS_INVALID_VALUE; }
PUBLIC blas_status cublasLtDestroy(struct blas *h) { return blas_close(h); }

/* One member that is set and got, of type T, when GOOD(value). */
#define MEMBER(set, get, T, member, good)                                  \
  PUBLIC blas_status set(struct blas *h, T value)                          \
  {                                                                        \
    if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;                   \
    if (!(good)) return BLAS_INVALID_VALUE;                                \
    h->member = value;                                                     \
    return BLAS_SUCCESS;                                                   \
  }                                                                        \
  PUBLIC blas_status get(const struct blas *h, T *value)                   \
  {                                                                        \
    if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;                   \
    if (!value) return BLAS_INVALID_VALUE;                                 \
    *value = h->member;                                                    \
    return BLAS_SUCCESS;                                                   \
  }

MEMBER(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, pointer_mode, value == BLAS_HOST || value == BLAS_DEVICE)
MEMBER(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics_mode, value == 0 || value == 1)
MEMBER(cublasSetMathMode, cublasGetMathMode, int, math_mode, value >= 0 && (value & ~BLAS_MATH_FLAG) < BLAS_MATH_KINDS)
MEMBER(cublasSetSmCountTarget, cublasGetSmCountTarget, int, sm_target, value >= 0 && value <= h->kernels.sms)

PUBLIC blas_status cublasSetStream_v2(struct blas *h, driver_stream stream)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  h->stream = stream;
  h->workspace = 0; /* as documented, the workspace is the library's own again */
  h->workspace_bytes = 0;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasGetStream_v2(const struct blas *h, driver_stream *stream)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!stream) return BLAS_INVALID_VALUE;
  *stream = h->stream;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasSetWorkspace_v2(struct blas *h, void *workspace, size_t bytes)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if ((uintptr_t)workspace % 256) return BLAS_INVALID_VALUE;
  h->workspace = (uint64_t)(uintptr_t)workspace;
  h->workspace_bytes = workspace ? bytes : 0;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasGetVersion_v2(const struct blas *h, int *version)
{
  (void)h;
  if (!version) return BLAS_INVALID_VALUE;
  *version = BLAS_VERSION;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasGetProperty(int what, int *value)
{
  if (!value || what < 0 || what > 2) return BLAS_INVALID_VALUE;
  *value = what == 0 ? BLAS_VERSION / 10000 : 0;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasLtGetProperty(int what, int *value) { return cublasGetProperty(what, value); }
PUBLIC size_t cublasLtGetVersion(void) { return BLAS_VERSION; }
PUBLIC size_t cublasLtGetCudartVersion(void) { return 13000; }
PUBLIC size_t cublasGetCudartVersion(void) { return 13000; }

struct status_name {
  blas_status status;
  const char *name, *text;
};

static const struct status_name names[] = {
  {BLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
  {BLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
  {BLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
  {BLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
  {BLAS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the device has no feature that the function requires"},
  {BLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
  {BLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
  {BLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
  {BLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported"},
  {BLAS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the functionality requires a license"},
};

static const struct status_name *name_of(blas_status s)
{
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].status == s) return &names[i];
  return NULL;
}

PUBLIC const char *cublasGetStatusName(blas_status s)
{
  const struct status_name *n = name_of(s);
  return n ? n->name : "CUBLAS_STATUS_UNKNOWN";
}
PUBLIC const char *cublasGetStatusString(blas_status s)
{
  const struct status_name *n = name_of(s);
  return n ? n->text : "unknown status";
}
PUBLIC const char *cublasLtGetStatusName(blas_status s) { return cublasGetStatusName(s); }
PUBLIC const char *cublasLtGetStatusString(blas_status s) { return cublasGetStatusString(s); }

/* Logs: there are none, so what is asked for of them is kept by nobody. */
PUBLIC blas_status cublasLoggerConfigure(int on, int out, int err, const char *file)
{
  (void)on, (void)out, (void)err, (void)file;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasSetLoggerCallback(void (*f)(const char *))
{
  (void)f;
  return BLAS_SUCCESS;
}
