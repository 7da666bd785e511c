/* Handles of libcudnn, versions, names of statuses. */
#include <stdio.h>
#include <stdlib.h>

#include "libs/cudnn/dnn_types.h"

#define MAGIC UINT64_C(0x77617270646e6e00)

bool dnn_handle_is(const struct dnn *h) { return h && h->magic == MAGIC; }

dnn_status dnn_refuse(const char *function, const char *why)
{
  fprintf(stderr, "warpstep: %s: warpstep's own cuDNN does not have %s (docs/libraries.md)\n", function, why);
  return DNN_NOT_SUPPORTED;
}

PUBLIC dnn_status cudnnCreate(struct dnn **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = NULL;
  struct dnn *h = calloc(1, sizeof *h);
  if (!h) return DNN_ALLOC_FAILED;
  const blas_status s = blas_open(&h->blas);
  if (s != BLAS_SUCCESS) {
    free(h);
    return s == BLAS_ARCH_MISMATCH ? DNN_NOT_SUPPORTED_ARCH : DNN_NOT_INITIALIZED;
  }
  h->magic = MAGIC;
  *out = h;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnDestroy(struct dnn *h)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  cuStreamSynchronize(h->stream);
  blas_close(h->blas);
  h->magic = 0;
  free(h);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetStream(struct dnn *h, driver_stream stream)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  h->stream = stream;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetStream(const struct dnn *h, driver_stream *stream)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!stream) return DNN_BAD_PARAM_NULL;
  *stream = h->stream;
  return DNN_SUCCESS;
}

PUBLIC size_t cudnnGetVersion(void) { return DNN_VERSION; }
PUBLIC size_t cudnnGetMaxDeviceVersion(void) { return 1210; }
PUBLIC size_t cudnnGetCudartVersion(void) { return 13000; }

PUBLIC dnn_status cudnnGetProperty(int what, int *value)
{
  const int parts[] = {DNN_VERSION / 10000, DNN_VERSION / 100 % 100, DNN_VERSION % 100};
  if (!value || what < 0 || what > 2) return DNN_BAD_PARAM;
  *value = parts[what];
  return DNN_SUCCESS;
}

/* All parts are of one library. */
PUBLIC dnn_status cudnnGraphVersionCheck(void) { return DNN_SUCCESS; }
PUBLIC dnn_status cudnnOpsVersionCheck(void) { return DNN_SUCCESS; }
PUBLIC dnn_status cudnnCnnVersionCheck(void) { return DNN_SUCCESS; }
PUBLIC dnn_status cudnnAdvVersionCheck(void) { return DNN_SUCCESS; }

struct status_name {
  dnn_status status;
  const char *name;
};

static const struct status_name names[] = {
  {DNN_SUCCESS, "CUDNN_STATUS_SUCCESS"},
  {DNN_NOT_INITIALIZED, "CUDNN_STATUS_NOT_INITIALIZED"},
  {DNN_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
  {DNN_BAD_PARAM_NULL, "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"},
  {DNN_BAD_PARAM_NOT_FINAL, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED"},
  {DNN_BAD_PARAM_TOO_SMALL, "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT"},
  {DNN_BAD_PARAM_SHAPE, "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH"},
  {DNN_BAD_PARAM_TYPE, "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE"},
  {DNN_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
  {DNN_NOT_SUPPORTED_PATTERN, "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN"},
  {DNN_NOT_SUPPORTED_ARCH, "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH"},
  {DNN_INTERNAL_ERROR, "CUDNN_STATUS_INTERNAL_ERROR"},
  {DNN_ALLOC_FAILED, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"},
  {DNN_EXECUTION_FAILED, "CUDNN_STATUS_EXECUTION_FAILED"},
};

PUBLIC const char *cudnnGetErrorString(dnn_status s)
{
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].status == s) return names[i].name;
  return "CUDNN_UNKNOWN_STATUS";
}

/* What there is to say has been said on stderr. */
PUBLIC void cudnnGetLastErrorString(char *text, size_t size)
{
  if (text && size) snprintf(text, size, "warpstep's own cuDNN: see its lines on stderr");
}

/* Logs: there are none, so nobody is called. */
PUBLIC dnn_status cudnnSetCallback(unsigned mask, void *data, void *f)
{
  (void)mask, (void)data, (void)f;
  return DNN_SUCCESS;
}
PUBLIC dnn_status cudnnGetCallback(unsigned *mask, void **data, void **f)
{
  if (!mask || !data || !f) return DNN_BAD_PARAM_NULL;
  *mask = 0, *data = NULL, *f = NULL;
  return DNN_SUCCESS;
}

/* A launch that failed has been reported by then: nothing is left to ask for. */
PUBLIC dnn_status cudnnQueryRuntimeError(struct dnn *h, dnn_status *status, int mode, void *tag)
{
  (void)tag;
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!status || mode < 0 || mode > 2) return DNN_BAD_PARAM;
  *status = DNN_SUCCESS;
  return DNN_SUCCESS;
}
