/* Pooling and softmax by descriptors: one to three dimensions of space, every layout that strides can say. */
#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/dnn_types.h"
#include "libs/kernels/pool_args.h"

enum { POOL_MODES = 4, SOFTMAX_MODES = 3 };
enum { SOFTMAX_INSTANCE, SOFTMAX_CHANNEL };

struct dnn_pooling {
  int mode, nan, dims; /* dims: of space; 0: not set */
  int window[WS_POOL_SPACE], before[WS_POOL_SPACE], step[WS_POOL_SPACE];
};

PUBLIC dnn_status cudnnCreatePoolingDescriptor(struct dnn_pooling **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}

PUBLIC dnn_status cudnnDestroyPoolingDescriptor(struct dnn_pooling *p)
{
  free(p);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetPoolingNdDescriptor(struct dnn_pooling *p, int mode, int nan, int dims, const int *window,
                                              const int *before, const int *step)
{
  if (!p || !window || !before || !step) return DNN_BAD_PARAM_NULL;
  if (mode < 0 || mode >= POOL_MODES || nan < 0 || nan > 1 || dims < 1) return DNN_BAD_PARAM;
  if (dims > WS_POOL_SPACE) return DNN_NOT_SUPPORTED;
  struct dnn_pooling made = {.mode = mode, .nan = nan, .dims = dims};
  for (int i = 0; i < dims; i++) {
    if (window[i] < 1 || step[i] < 1 || before[i] < 0 || before[i] >= window[i]) return DNN_BAD_PARAM;
    made.window[i] = window[i], made.before[i] = before[i], made.step[i] = step[i];
  }
  *p = made;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetPooling2dDescriptor(struct dnn_pooling *p, int mode, int nan, int high, int wide, int above,
                                              int left, int down, int across)
{
  return cudnnSetPoolingNdDescriptor(p, mode, nan, 2, (const int[]){high, wide}, (const int[]){above, left},
                                     (const int[]){down, across});
}

PUBLIC dnn_status cudnnGetPoolingNdDescriptor(const struct dnn_pooling *p, int wanted, int *mode, int *nan, int *dims,
                                              int *window, int *before, int *step)
{
  if (!p || wanted < 0) return DNN_BAD_PARAM;
  if (mode) *mode = p->mode;
  if (nan) *nan = p->nan;
  if (dims) *dims = p->dims;
  for (int i = 0; i < wanted && i < p->dims; i++) {
    if (window) window[i] = p->window[i];
    if (before) before[i] = p->before[i];
    if (step) step[i] = p->step[i];
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetPooling2dDescriptor(const struct dnn_pooling *p, int *mode, int *nan, int *high, int *wide,
                                              int *above, int *left, int *down, int *across)
{
  int *const at[] = {high, wide, above, left, down, across};
  if (!p || p->dims != 2) return DNN_BAD_PARAM;
  if (mode) *mode = p->mode;
  if (nan) *nan = p->nan;
  for (int i = 0; i < 6; i++)
    if (at[i]) *at[i] = (i < 2 ? p->window : i < 4 ? p->before : p->step)[i % 2];
  return DNN_SUCCESS;
}

static int64_t pooled_size(const struct dnn_pooling *p, int i, int64_t size)
{
  return 1 + (size + 2 * (int64_t)p->before[i] - p->window[i]) / p->step[i];
}

PUBLIC dnn_status cudnnGetPoolingNdForwardOutputDim(const struct dnn_pooling *p, const struct dnn_tensor *x, int dims,
                                                    int *size)
{
  if (!p || !x || !size) return DNN_BAD_PARAM_NULL;
  if (dims != x->dims || p->dims != dims - 2) return DNN_BAD_PARAM;
  for (int i = 0; i < dims; i++)
    size[i] = (int)(i < 2 ? x->size[i] : pooled_size(p, i - 2, x->size[i]));
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetPooling2dForwardOutputDim(const struct dnn_pooling *p, const struct dnn_tensor *x, int *n,
                                                    int *c, int *h, int *w)
{
  int size[4];
  if (!n || !c || !h || !w) return DNN_BAD_PARAM_NULL;
  const dnn_status s = cudnnGetPoolingNdForwardOutputDim(p, x, 4, size);
  if (s != DNN_SUCCESS) return s;
  *n = size[0], *c = size[1], *h = size[2], *w = size[3];
  return DNN_SUCCESS;
}

/* Space lies behind sizes of 1. False: not a tensor of at most three dimensions of space. */
static bool take(const struct dnn_tensor *t, const void *at, struct ws_pool_tensor *out, int32_t size[WS_POOL_DIMS])
{
  if (t->dims < 2 || t->dims > WS_POOL_DIMS || dnn_reach(t) < 0) return false;
  const int empty = WS_POOL_DIMS - t->dims;
  *out = (struct ws_pool_tensor){.at = (void *)(uintptr_t)at};
  for (int i = 0; i < WS_POOL_DIMS; i++) {
    const int from = i < 2 ? i : i - empty;
    const bool there = i < 2 || from >= 2;
    size[i] = there ? (int32_t)t->size[from] : 1;
    out->stride[i] = there ? t->stride[from] : 0;
  }
  return true;
}

static bool same_size(const struct dnn_tensor *a, const struct dnn_tensor *b)
{
  return a->dims == b->dims && a->type == b->type && memcmp(a->size, b->size, sizeof(int64_t) * (size_t)a->dims) == 0;
}

static dnn_status run(struct dnn *h, enum lib_kernel f32, enum lib_kernel f64, int type, int64_t ctas, const void *args)
{
  const struct launch_shape shape = {(unsigned)ctas, 1, 1, 128};
  const enum lib_kernel k = type == WS_F64 ? f64 : f32;
  return kernel_set_launch(&h->blas->kernels, k, shape, h->stream, args) ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
}

static int64_t ctas_of(const struct dnn_tensor *t) { return (dnn_elements(t) + 127) / 128; }

/* What forward and backward have in common: the window, sizes of both sides. */
static dnn_status prepare_pool(const struct dnn *h, const struct dnn_pooling *p, const struct dnn_tensor *xd,
                               const struct dnn_tensor *yd, const char *function, struct ws_pool_args *a)
{
  struct ws_pool_tensor unused;
  int32_t in[WS_POOL_DIMS], out[WS_POOL_DIMS];
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!p || !xd || !yd) return DNN_BAD_PARAM_NULL;
  if (dnn_element(xd->type) < 0 || xd->type != yd->type) return dnn_refuse(function, "pooling of these types");
  if (p->dims + 2 != xd->dims || yd->dims != xd->dims) return DNN_BAD_PARAM;
  if (!take(xd, NULL, &unused, in) || !take(yd, NULL, &unused, out)) return DNN_NOT_SUPPORTED;
  for (int i = 0; i < xd->dims; i++)
    if (yd->size[i] != (i < 2 ? xd->size[i] : pooled_size(p, i - 2, xd->size[i]))) return DNN_BAD_PARAM_SHAPE;
  *a = (struct ws_pool_args){.images = in[0], .channels = in[1], .mode = p->mode, .keep_nan = p->nan,
                             .type = dnn_element(xd->type)};
  for (int i = 0; i < WS_POOL_SPACE; i++) {
    const int of = i - (WS_POOL_SPACE - p->dims);
    a->in[i] = in[2 + i], a->pooled[i] = out[2 + i];
    a->window[i] = of < 0 ? 1 : p->window[of];
    a->before[i] = of < 0 ? 0 : p->before[of];
    a->step[i] = of < 0 ? 1 : p->step[of];
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnPoolingForward(struct dnn *h, const struct dnn_pooling *p, const void *alpha,
                                      const struct dnn_tensor *xd, const void *x, const void *beta,
                                      const struct dnn_tensor *yd, void *y)
{
  struct ws_pool_args a;
  int32_t size[WS_POOL_DIMS];
  const dnn_status s = prepare_pool(h, p, xd, yd, "cudnnPoolingForward", &a);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !x || !y) return DNN_BAD_PARAM_NULL;
  take(xd, x, &a.x, size), take(yd, y, &a.out, size);
  a.alpha = dnn_scale(alpha, xd->type), a.beta = dnn_scale(beta, xd->type);
  return run(h, KERNEL_pool_forward_f32, KERNEL_pool_forward_f64, a.type, ctas_of(yd), &a);
}

/* The largest elements are found again, so that y is not looked at. */
PUBLIC dnn_status cudnnPoolingBackward(struct dnn *h, const struct dnn_pooling *p, const void *alpha,
                                       const struct dnn_tensor *yd, const void *y, const struct dnn_tensor *dyd,
                                       const void *dy, const struct dnn_tensor *xd, const void *x, const void *beta,
                                       const struct dnn_tensor *dxd, void *dx)
{
  struct ws_pool_args a;
  int32_t size[WS_POOL_DIMS];
  (void)y;
  const dnn_status s = prepare_pool(h, p, xd, dyd, "cudnnPoolingBackward", &a);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !dy || !x || !dx || !dxd || !yd) return DNN_BAD_PARAM_NULL;
  if (!same_size(xd, dxd) || !same_size(yd, dyd)) return DNN_BAD_PARAM_SHAPE;
  if (!take(xd, x, &a.x, size) || !take(dyd, dy, &a.dy, size) || !take(dxd, dx, &a.out, size)) return DNN_NOT_SUPPORTED;
  a.alpha = dnn_scale(alpha, xd->type), a.beta = dnn_scale(beta, xd->type);
  return run(h, KERNEL_pool_backward_f32, KERNEL_pool_backward_f64, a.type, ctas_of(xd), &a);
}

/* Sizes of x count; `groups`: the CTAs. */
static dnn_status prepare_softmax(const struct dnn *h, int algorithm, int mode, const struct dnn_tensor *xd,
                                  const struct dnn_tensor *yd, const char *function, struct ws_softmax_args *a,
                                  int64_t *groups)
{
  struct ws_pool_tensor unused;
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!xd || !yd) return DNN_BAD_PARAM_NULL;
  if (algorithm < 0 || algorithm >= SOFTMAX_MODES || mode < SOFTMAX_INSTANCE || mode > SOFTMAX_CHANNEL)
    return DNN_BAD_PARAM;
  if (dnn_element(xd->type) < 0) return dnn_refuse(function, "softmax of these types");
  if (!same_size(xd, yd)) return DNN_BAD_PARAM_SHAPE;
  *a = (struct ws_softmax_args){.whole_image = mode == SOFTMAX_INSTANCE, .mode = algorithm};
  a->type = dnn_element(xd->type);
  if (!take(xd, NULL, &unused, a->size)) return DNN_NOT_SUPPORTED;
  *groups = mode == SOFTMAX_INSTANCE ? xd->size[0] : dnn_elements(xd) / xd->size[1];
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSoftmaxForward(struct dnn *h, int algorithm, int mode, const void *alpha,
                                      const struct dnn_tensor *xd, const void *x, const void *beta,
                                      const struct dnn_tensor *yd, void *y)
{
  struct ws_softmax_args a;
  int64_t groups;
  const dnn_status s = prepare_softmax(h, algorithm, mode, xd, yd, "cudnnSoftmaxForward", &a, &groups);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !x || !y) return DNN_BAD_PARAM_NULL;
  if (!take(xd, x, &a.x, a.size) || !take(yd, y, &a.out, a.size)) return DNN_NOT_SUPPORTED;
  a.alpha = dnn_scale(alpha, xd->type), a.beta = dnn_scale(beta, xd->type);
  return run(h, KERNEL_softmax_forward_f32, KERNEL_softmax_forward_f64, a.type, groups, &a);
}

PUBLIC dnn_status cudnnSoftmaxBackward(struct dnn *h, int algorithm, int mode, const void *alpha,
                                       const struct dnn_tensor *yd, const void *y, const struct dnn_tensor *dyd,
                                       const void *dy, const void *beta, const struct dnn_tensor *dxd, void *dx)
{
  struct ws_softmax_args a;
  int64_t groups;
  const dnn_status s = prepare_softmax(h, algorithm, mode, yd, dyd, "cudnnSoftmaxBackward", &a, &groups);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !y || !dy || !dxd || !dx) return DNN_BAD_PARAM_NULL;
  if (!same_size(yd, dxd)) return DNN_BAD_PARAM_SHAPE;
  if (!take(yd, y, &a.x, a.size) || !take(dyd, dy, &a.dy, a.size) || !take(dxd, dx, &a.out, a.size))
    return DNN_NOT_SUPPORTED;
  a.alpha = dnn_scale(alpha, yd->type), a.beta = dnn_scale(beta, yd->type);
  return run(h, KERNEL_softmax_backward_f32, KERNEL_softmax_backward_f64, a.type, groups, &a);
}
