/* Convolutions by descriptors: the interface of before graphs. There is one algorithm; those that a program asks for
 * are it. */
#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/dnn_activation.h"
#include "libs/cudnn/dnn_conv.h"

struct dnn_convolution {
  int dims, padding[3], stride[3], dilation[3];
  int mode, type, groups, math, reorder;
};

/* What a search for algorithms finds. */
struct found {
  int algorithm;
  dnn_status status;
  float time;
  size_t memory;
  int determinism, math;
  int reserved[3];
};

PUBLIC dnn_status cudnnCreateConvolutionDescriptor(struct dnn_convolution **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  if (!*out) return DNN_ALLOC_FAILED;
  (*out)->groups = 1;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnDestroyConvolutionDescriptor(struct dnn_convolution *c)
{
  free(c);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetConvolutionNdDescriptor(struct dnn_convolution *c, int dims, const int *padding,
                                                  const int *stride, const int *dilation, int mode, int type)
{
  if (!c || !padding || !stride || !dilation) return DNN_BAD_PARAM_NULL;
  if (dims < 1 || mode < 0 || mode > 1) return DNN_BAD_PARAM;
  if (dims > 3) return DNN_NOT_SUPPORTED;
  for (int i = 0; i < dims; i++)
    if (padding[i] < 0 || stride[i] < 1 || dilation[i] < 1) return DNN_BAD_PARAM;
  c->dims = dims, c->mode = mode, c->type = type;
  memcpy(c->padding, padding, (size_t)dims * sizeof *padding);
  memcpy(c->stride, stride, (size_t)dims * sizeof *stride);
  memcpy(c->dilation, dilation, (size_t)dims * sizeof *dilation);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetConvolution2dDescriptor(struct dnn_convolution *c, int pad_h, int pad_w, int stride_h,
                                                  int stride_w, int dilation_h, int dilation_w, int mode, int type)
{
  return cudnnSetConvolutionNdDescriptor(c, 2, (const int[]){pad_h, pad_w}, (const int[]){stride_h, stride_w},
                                         (const int[]){dilation_h, dilation_w}, mode, type);
}

PUBLIC dnn_status cudnnGetConvolutionNdDescriptor(const struct dnn_convolution *c, int wanted, int *dims, int *padding,
                                                  int *stride, int *dilation, int *mode, int *type)
{
  if (!c || wanted < 0) return DNN_BAD_PARAM;
  if (dims) *dims = c->dims;
  if (mode) *mode = c->mode;
  if (type) *type = c->type;
  for (int i = 0; i < wanted && i < c->dims; i++) {
    if (padding) padding[i] = c->padding[i];
    if (stride) stride[i] = c->stride[i];
    if (dilation) dilation[i] = c->dilation[i];
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetConvolution2dDescriptor(const struct dnn_convolution *c, int *pad_h, int *pad_w,
                                                  int *stride_h, int *stride_w, int *dilation_h, int *dilation_w,
                                                  int *mode, int *type)
{
  int *const to[] = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
  if (!c || c->dims != 2) return DNN_BAD_PARAM;
  const int from[] = {c->padding[0], c->padding[1], c->stride[0], c->stride[1], c->dilation[0], c->dilation[1]};
  for (int i = 0; i < 6; i++)
    if (to[i]) *to[i] = from[i];
  return cudnnGetConvolutionNdDescriptor(c, 0, NULL, NULL, NULL, NULL, mode, type);
}

#define MEMBER(name, member, good)                                                        \
  PUBLIC dnn_status cudnnSetConvolution##name(struct dnn_convolution *c, int value)       \
  {                                                                                       \
    if (!c || !(good)) return DNN_BAD_PARAM;                                              \
    c->member = value;                                                                    \
    return DNN_SUCCESS;                                                                   \
  }                                                                                       \
  PUBLIC dnn_status cudnnGetConvolution##name(const struct dnn_convolution *c, int *value) \
  {                                                                                       \
    if (!c || !value) return DNN_BAD_PARAM;                                               \
    *value = c->member;                                                                   \
    return DNN_SUCCESS;                                                                   \
  }
MEMBER(GroupCount, groups, value > 0)
MEMBER(MathType, math, value >= 0 && value < 4)
MEMBER(ReorderType, reorder, value == 0 || value == 1)

static dnn_status describe(const struct dnn_convolution *c, enum dnn_conv_kind kind, const struct dnn_tensor *x,
                           const struct dnn_tensor *w, const struct dnn_tensor *y, struct dnn_conv *out)
{
  if (!c || !x || !w || !y) return DNN_BAD_PARAM_NULL;
  if (c->dims != x->dims - 2 || w->dims < 2 || x->size[1] != w->size[1] * c->groups) return DNN_BAD_PARAM_SHAPE;
  *out = (struct dnn_conv){.kind = kind, .x = *x, .w = *w, .y = *y, .flipped = c->mode == 0, .alpha = 1};
  for (int i = 0; i < c->dims; i++) {
    out->before[i] = out->after[i] = c->padding[i];
    out->stride[i] = c->stride[i], out->dilation[i] = c->dilation[i];
  }
  return DNN_SUCCESS;
}

struct convolution_call {
  struct dnn *h;
  const char *function;
  struct dnn_conv conv;
  struct dnn_conv_data data;
  size_t workspace_bytes;
};

static dnn_status run(struct convolution_call *c)
{
  struct dnn_conv_plan plan;
  if (!dnn_handle_is(c->h)) return DNN_NOT_INITIALIZED;
  const dnn_status s = dnn_conv_prepare(&c->conv, c->h->blas->kernels.sms, &plan, c->function);
  if (s != DNN_SUCCESS) return s;
  if (plan.workspace > c->workspace_bytes) return DNN_BAD_PARAM_TOO_SMALL;
  return dnn_conv_run(c->h, &plan, c->conv.kind, &c->data);
}

static dnn_status room_of(const struct dnn *h, const struct dnn_conv *c, const char *function, size_t *bytes)
{
  struct dnn_conv_plan plan;
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!bytes) return DNN_BAD_PARAM_NULL;
  const dnn_status s = dnn_conv_prepare(c, h->blas->kernels.sms, &plan, function);
  if (s == DNN_SUCCESS) *bytes = plan.workspace;
  return s;
}

static dnn_status search(const struct dnn *h, const struct dnn_conv *c, const char *function, int wanted, int *n,
                         struct found *f)
{
  enum { DETERMINISTIC = 1, FMA_MATH = 3 };
  size_t bytes;
  if (wanted < 1 || !n || !f) return DNN_BAD_PARAM;
  const dnn_status s = room_of(h, c, function, &bytes);
  if (s != DNN_SUCCESS) return s;
  *f = (struct found){.algorithm = 1, .memory = bytes, .determinism = DETERMINISTIC, .math = FMA_MATH};
  *n = 1;
  return DNN_SUCCESS;
}

/* The three directions have the same functions, with tensors in an order of their own. */
#define QUERIES(Name, KIND, A, B, C)                                                                                \
  PUBLIC dnn_status cudnnGetConvolution##Name##AlgorithmMaxCount(const struct dnn *h, int *n)                        \
  {                                                                                                                 \
    if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;                                                              \
    if (!n) return DNN_BAD_PARAM_NULL;                                                                              \
    *n = 1;                                                                                                         \
    return DNN_SUCCESS;                                                                                             \
  }                                                                                                                 \
  PUBLIC dnn_status cudnnGetConvolution##Name##Algorithm_v7(                                                        \
      const struct dnn *h, const struct dnn_tensor *A, const struct dnn_tensor *B, const struct dnn_convolution *d, \
      const struct dnn_tensor *C, int wanted, int *n, struct found *f)                                              \
  {                                                                                                                 \
    struct dnn_conv c;                                                                                              \
    const dnn_status s = describe(d, KIND, x, w, y, &c);                                                            \
    return s == DNN_SUCCESS ? search(h, &c, "cudnnGetConvolution" #Name "Algorithm_v7", wanted, n, f) : s;          \
  }                                                                                                                 \
  PUBLIC dnn_status cudnnFindConvolution##Name##Algorithm(                                                          \
      const struct dnn *h, const struct dnn_tensor *A, const struct dnn_tensor *B, const struct dnn_convolution *d, \
      const struct dnn_tensor *C, int wanted, int *n, struct found *f)                                              \
  {                                                                                                                 \
    return cudnnGetConvolution##Name##Algorithm_v7(h, A, B, d, C, wanted, n, f);                                    \
  }                                                                                                                 \
  PUBLIC dnn_status cudnnFindConvolution##Name##AlgorithmEx(                                                        \
      const struct dnn *h, const struct dnn_tensor *A, const void *a_at, const struct dnn_tensor *B,                \
      const void *b_at, const struct dnn_convolution *d, const struct dnn_tensor *C, void *c_at, int wanted, int *n, \
      struct found *f, void *workspace, size_t bytes)                                                               \
  {                                                                                                                 \
    (void)a_at, (void)b_at, (void)c_at, (void)workspace, (void)bytes;                                               \
    return cudnnGetConvolution##Name##Algorithm_v7(h, A, B, d, C, wanted, n, f);                                    \
  }                                                                                                                 \
  PUBLIC dnn_status cudnnGetConvolution##Name##WorkspaceSize(                                                       \
      const struct dnn *h, const struct dnn_tensor *A, const struct dnn_tensor *B, const struct dnn_convolution *d, \
      const struct dnn_tensor *C, int algorithm, size_t *bytes)                                                     \
  {                                                                                                                 \
    struct dnn_conv c;                                                                                              \
    const dnn_status s = describe(d, KIND, x, w, y, &c);                                                            \
    (void)algorithm;                                                                                                \
    return s == DNN_SUCCESS ? room_of(h, &c, "cudnnGetConvolution" #Name "WorkspaceSize", bytes) : s;               \
  }
QUERIES(Forward, DNN_CONV_FORWARD, x, w, y)
QUERIES(BackwardData, DNN_CONV_DATA, w, y, x)
QUERIES(BackwardFilter, DNN_CONV_FILTER, x, y, w)

PUBLIC dnn_status cudnnConvolutionForward(struct dnn *h, const void *alpha, const struct dnn_tensor *xd, const void *x,
                                          const struct dnn_tensor *wd, const void *w, const struct dnn_convolution *d,
                                          int algorithm, void *workspace, size_t bytes, const void *beta,
                                          const struct dnn_tensor *yd, void *y)
{
  struct convolution_call c = {h, "cudnnConvolutionForward", {0}, {x, w, y, NULL, NULL, workspace}, bytes};
  const dnn_status s = describe(d, DNN_CONV_FORWARD, xd, wd, yd, &c.conv);
  (void)algorithm;
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta) return DNN_BAD_PARAM_NULL;
  c.conv.alpha = dnn_scale(alpha, xd->type), c.conv.beta = dnn_scale(beta, xd->type);
  return run(&c);
}

PUBLIC dnn_status cudnnConvolutionBackwardData(struct dnn *h, const void *alpha, const struct dnn_tensor *wd,
                                               const void *w, const struct dnn_tensor *dyd, const void *dy,
                                               const struct dnn_convolution *d, int algorithm, void *workspace,
                                               size_t bytes, const void *beta, const struct dnn_tensor *dxd, void *dx)
{
  struct convolution_call c = {h, "cudnnConvolutionBackwardData", {0}, {dx, w, dy, NULL, NULL, workspace}, bytes};
  const dnn_status s = describe(d, DNN_CONV_DATA, dxd, wd, dyd, &c.conv);
  (void)algorithm;
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta) return DNN_BAD_PARAM_NULL;
  c.conv.alpha = dnn_scale(alpha, dxd->type), c.conv.beta = dnn_scale(beta, dxd->type);
  return run(&c);
}

PUBLIC dnn_status cudnnConvolutionBackwardFilter(struct dnn *h, const void *alpha, const struct dnn_tensor *xd,
                                                 const void *x, const struct dnn_tensor *dyd, const void *dy,
                                                 const struct dnn_convolution *d, int algorithm, void *workspace,
                                                 size_t bytes, const void *beta, const struct dnn_tensor *dwd, void *dw)
{
  struct convolution_call c = {h, "cudnnConvolutionBackwardFilter", {0}, {x, dw, dy, NULL, NULL, workspace}, bytes};
  const dnn_status s = describe(d, DNN_CONV_FILTER, xd, dwd, dyd, &c.conv);
  (void)algorithm;
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta) return DNN_BAD_PARAM_NULL;
  c.conv.alpha = dnn_scale(alpha, xd->type), c.conv.beta = dnn_scale(beta, xd->type);
  return run(&c);
}

/* y = activation(alpha1 * convolution + alpha2 * z + bias), z laid out as y. */
PUBLIC dnn_status cudnnConvolutionBiasActivationForward(
    struct dnn *h, const void *alpha1, const struct dnn_tensor *xd, const void *x, const struct dnn_tensor *wd,
    const void *w, const struct dnn_convolution *d, int algorithm, void *workspace, size_t bytes, const void *alpha2,
    const struct dnn_tensor *zd, const void *z, const struct dnn_tensor *bd, const void *bias,
    const struct dnn_activation *activation, const struct dnn_tensor *yd, void *y)
{
  static const char name[] = "cudnnConvolutionBiasActivationForward";
  struct convolution_call c = {h, name, {0}, {x, w, y, NULL, bias, workspace}, bytes};
  const dnn_status s = describe(d, DNN_CONV_FORWARD, xd, wd, yd, &c.conv);
  (void)algorithm;
  if (s != DNN_SUCCESS) return s;
  if (!alpha1 || !alpha2 || !activation || !bd || !bias || !zd) return DNN_BAD_PARAM_NULL;
  if (activation->mode != ACTIVATION_RELU && activation->mode != ACTIVATION_IDENTITY)
    return dnn_refuse(name, "activations other than ReLU and the identity");
  if (bd->type != yd->type || zd->type != yd->type || !dnn_alike(zd, yd)) return dnn_refuse(name, "such tensors");
  if (dnn_elements(bd) != yd->size[1] || dnn_reach(bd) != yd->size[1]) return DNN_BAD_PARAM_SHAPE;
  c.conv.alpha = dnn_scale(alpha1, xd->type), c.conv.add_alpha = dnn_scale(alpha2, xd->type);
  c.conv.relu = activation->mode == ACTIVATION_RELU;
  if (c.conv.add_alpha != 0) {
    if (!z) return DNN_BAD_PARAM_NULL;
    c.data.add = z;
  }
  return run(&c);
}

PUBLIC dnn_status cudnnGetConvolutionNdForwardOutputDim(const struct dnn_convolution *c, const struct dnn_tensor *x,
                                                        const struct dnn_tensor *w, int dims, int *size)
{
  if (!c || !x || !w || !size) return DNN_BAD_PARAM_NULL;
  if (dims != x->dims || dims != w->dims || dims != c->dims + 2 || x->size[1] != w->size[1] * c->groups)
    return DNN_BAD_PARAM;
  size[0] = (int)x->size[0], size[1] = (int)w->size[0];
  for (int i = 0; i < c->dims; i++) {
    const int64_t n = dnn_conv_length(x->size[i + 2], w->size[i + 2], 2 * (int64_t)c->padding[i], c->stride[i],
                                      c->dilation[i]);
    if (n < 1 || n > INT32_MAX) return DNN_BAD_PARAM;
    size[i + 2] = (int)n;
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetConvolution2dForwardOutputDim(const struct dnn_convolution *d, const struct dnn_tensor *x,
                                                        const struct dnn_tensor *w, int *n, int *c, int *h, int *wide)
{
  int size[4];
  if (!n || !c || !h || !wide) return DNN_BAD_PARAM_NULL;
  const dnn_status s = cudnnGetConvolutionNdForwardOutputDim(d, x, w, 4, size);
  if (s == DNN_SUCCESS) *n = size[0], *c = size[1], *h = size[2], *wide = size[3];
  return s;
}
