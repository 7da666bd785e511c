/* Descriptors of tensors and filters: sizes, strides, types. */
#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/dnn_tensor.h"

int dnn_element(int type)
{
  switch (type) {
  case DNN_FLOAT: return WS_F32;
  case DNN_DOUBLE: return WS_F64;
  case DNN_HALF: return WS_F16;
  case DNN_BFLOAT16: return WS_BF16;
  default: return -1;
  }
}

int dnn_blas_type(int type)
{
  switch (type) {
  case DNN_FLOAT: return DATA_R_32F;
  case DNN_DOUBLE: return DATA_R_64F;
  case DNN_HALF: return DATA_R_16F;
  case DNN_BFLOAT16: return DATA_R_16BF;
  default: return -1;
  }
}

size_t dnn_bytes(int type)
{
  switch (type) {
  case DNN_DOUBLE:
  case DNN_INT64: return 8;
  case DNN_HALF:
  case DNN_BFLOAT16: return 2;
  case DNN_INT8: return 1;
  default: return 4;
  }
}

int64_t dnn_reach(const struct dnn_tensor *t)
{
  int64_t last = 0;
  for (int i = 0; i < t->dims; i++) {
    if (t->size[i] < 1 || t->size[i] > INT32_MAX || t->stride[i] < 0 || t->stride[i] > INT32_MAX) return -1;
    last += (t->size[i] - 1) * t->stride[i];
    if (last >= INT32_MAX) return -1;
  }
  return last + 1;
}

int64_t dnn_elements(const struct dnn_tensor *t)
{
  int64_t n = 1;
  for (int i = 0; i < t->dims; i++)
    if (__builtin_mul_overflow(n, t->size[i], &n)) return -1;
  return n;
}

bool dnn_alike(const struct dnn_tensor *a, const struct dnn_tensor *b)
{
  if (a->dims != b->dims) return false;
  for (int i = 0; i < a->dims; i++)
    if (a->size[i] != b->size[i] || (a->size[i] > 1 && a->stride[i] != b->stride[i])) return false;
  return true;
}

double dnn_scale(const void *p, int type) { return type == DNN_DOUBLE ? *(const double *)p : *(const float *)p; }

/* Strides of a tensor without gaps; the channels the fastest with DNN_NHWC. */
static void pack(struct dnn_tensor *t, int format)
{
  int64_t step = 1;
  if (format == DNN_NHWC && t->dims > 1) {
    t->stride[1] = 1;
    step = t->size[1];
  }
  for (int i = t->dims - 1; i >= 0; i--) {
    if (format == DNN_NHWC && i == 1) continue;
    t->stride[i] = step;
    step *= t->size[i];
  }
}

static dnn_status set(struct dnn_tensor *t, int type, int dims, const int *size, const int *stride, int format)
{
  if (!t || !size) return DNN_BAD_PARAM_NULL;
  if (dims < 1 || dims > DNN_DIMS || type < 0 || format < DNN_NCHW) return DNN_BAD_PARAM;
  if (format > DNN_NHWC) return DNN_NOT_SUPPORTED;
  struct dnn_tensor made = {.type = type, .dims = dims};
  int64_t all = 1;
  for (int i = 0; i < dims; i++) {
    if (size[i] < 1 || (stride && stride[i] < 0)) return DNN_BAD_PARAM;
    made.size[i] = size[i];
    made.stride[i] = stride ? stride[i] : 0;
    if (__builtin_mul_overflow(all, size[i], &all)) return DNN_NOT_SUPPORTED;
  }
  if (!stride) pack(&made, format);
  *t = made;
  return DNN_SUCCESS;
}

static dnn_status create(struct dnn_tensor **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}
static dnn_status destroy(struct dnn_tensor *t)
{
  free(t);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnCreateTensorDescriptor(struct dnn_tensor **out) { return create(out); }
PUBLIC dnn_status cudnnDestroyTensorDescriptor(struct dnn_tensor *t) { return destroy(t); }
PUBLIC dnn_status cudnnCreateFilterDescriptor(struct dnn_tensor **out) { return create(out); }
PUBLIC dnn_status cudnnDestroyFilterDescriptor(struct dnn_tensor *t) { return destroy(t); }

PUBLIC dnn_status cudnnSetTensor4dDescriptor(struct dnn_tensor *t, int format, int type, int n, int c, int h, int w)
{
  return set(t, type, 4, (const int[]){n, c, h, w}, NULL, format);
}
PUBLIC dnn_status cudnnSetTensor4dDescriptorEx(struct dnn_tensor *t, int type, int n, int c, int h, int w, int sn,
                                               int sc, int sh, int sw)
{
  return set(t, type, 4, (const int[]){n, c, h, w}, (const int[]){sn, sc, sh, sw}, DNN_NCHW);
}
PUBLIC dnn_status cudnnSetTensorNdDescriptor(struct dnn_tensor *t, int type, int dims, const int *size,
                                             const int *stride)
{
  return stride ? set(t, type, dims, size, stride, DNN_NCHW) : DNN_BAD_PARAM_NULL;
}
PUBLIC dnn_status cudnnSetTensorNdDescriptorEx(struct dnn_tensor *t, int format, int type, int dims, const int *size)
{
  return set(t, type, dims, size, NULL, format);
}

PUBLIC dnn_status cudnnGetTensor4dDescriptor(const struct dnn_tensor *t, int *type, int *n, int *c, int *h, int *w,
                                             int *sn, int *sc, int *sh, int *sw)
{
  int *const sizes[] = {n, c, h, w}, *const strides[] = {sn, sc, sh, sw};
  if (!t || t->dims != 4) return DNN_BAD_PARAM;
  if (type) *type = t->type;
  for (int i = 0; i < 4; i++) {
    if (sizes[i]) *sizes[i] = (int)t->size[i];
    if (strides[i]) *strides[i] = (int)t->stride[i];
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetTensorNdDescriptor(const struct dnn_tensor *t, int wanted, int *type, int *dims, int *size,
                                             int *stride)
{
  if (!t || wanted < 0 || wanted > DNN_DIMS) return DNN_BAD_PARAM;
  if (type) *type = t->type;
  if (dims) *dims = t->dims;
  for (int i = 0; i < wanted && i < t->dims; i++) {
    if (size) size[i] = (int)t->size[i];
    if (stride) stride[i] = (int)t->stride[i];
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetTensorSizeInBytes(const struct dnn_tensor *t, size_t *bytes)
{
  if (!t || !bytes) return DNN_BAD_PARAM_NULL;
  const int64_t reach = dnn_reach(t);
  if (reach < 0) return DNN_NOT_SUPPORTED;
  *bytes = (size_t)reach * dnn_bytes(t->type);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetFilter4dDescriptor(struct dnn_tensor *t, int type, int format, int k, int c, int h, int w)
{
  return set(t, type, 4, (const int[]){k, c, h, w}, NULL, format);
}
PUBLIC dnn_status cudnnSetFilterNdDescriptor(struct dnn_tensor *t, int type, int format, int dims, const int *size)
{
  return set(t, type, dims, size, NULL, format);
}

static int format_of(const struct dnn_tensor *t)
{
  return t->dims > 2 && t->stride[1] == 1 && t->size[1] > 1 ? DNN_NHWC : DNN_NCHW;
}

PUBLIC dnn_status cudnnGetFilter4dDescriptor(const struct dnn_tensor *t, int *type, int *format, int *k, int *c, int *h,
                                             int *w)
{
  if (format && t) *format = format_of(t);
  return cudnnGetTensor4dDescriptor(t, type, k, c, h, w, NULL, NULL, NULL, NULL);
}
PUBLIC dnn_status cudnnGetFilterNdDescriptor(const struct dnn_tensor *t, int wanted, int *type, int *format, int *dims,
                                             int *size)
{
  if (format && t) *format = format_of(t);
  return cudnnGetTensorNdDescriptor(t, wanted, type, dims, size, NULL);
}
PUBLIC dnn_status cudnnGetFilterSizeInBytes(const struct dnn_tensor *t, size_t *bytes)
{
  return cudnnGetTensorSizeInBytes(t, bytes);
}
