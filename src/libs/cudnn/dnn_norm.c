/* Batch normalisation: training, inference, gradients. Activations after it are not there. */
#include "libs/cudnn/dnn_types.h"
#include "libs/kernels/norm_args.h"

/* cudnnBatchNormMode_t and cudnnBatchNormOps_t */
enum { PER_ACTIVATION, SPATIAL, SPATIAL_PERSISTENT, MODES };
enum { OPS_NORM, OPS_ACTIVATION, OPS_ADD_ACTIVATION };

/* A tensor as images by channels by space; false when its space cannot be walked with one stride. Per activation, each
 * place of an image is a channel of its own. */
static bool take_tensor(const struct dnn_tensor *t, const void *at, int mode, struct ws_norm_tensor *out,
                        int64_t *space)
{
  if (!t || t->dims < 2 || dnn_reach(t) < 0) return false;
  int64_t size = 1, step = 0;
  for (int i = t->dims - 1; i >= 2; i--) {
    if (t->size[i] == 1) continue;
    if (size == 1) step = t->stride[i];
    else if (t->stride[i] != step * size) return false;
    size *= t->size[i];
  }
  *out = (struct ws_norm_tensor){(void *)(uintptr_t)at, t->stride[0], t->stride[1], step};
  *space = size;
  if (mode != PER_ACTIVATION) return true;
  if (size > 1 && (step != 1 || (t->size[1] > 1 && t->stride[1] != size))) return false;
  *space = 1;
  if (size > 1) out->channel = 1;
  return true;
}

struct norm_call {
  struct dnn *h;
  int mode;
  const char *function;
  const struct dnn_tensor *x, *y, *dy, *param; /* dy: or NULL */
};

static dnn_status prepare(const struct norm_call *c, const void *x, const void *y, const void *dy,
                          struct ws_norm_args *a)
{
  int64_t space, other;
  if (!dnn_handle_is(c->h)) return DNN_NOT_INITIALIZED;
  if (!c->x || !c->y || !c->param || !x || !y) return DNN_BAD_PARAM_NULL;
  if (c->mode < 0 || c->mode >= MODES || c->x->dims != c->y->dims) return DNN_BAD_PARAM;
  const int type = dnn_element(c->x->type), param = dnn_element(c->param->type);
  if (type < 0 || c->y->type != c->x->type || param != (type == WS_F64 ? WS_F64 : WS_F32))
    return dnn_refuse(c->function, "normalisation of these types");
  for (int i = 0; i < c->x->dims; i++)
    if (c->x->size[i] != c->y->size[i] || (c->dy && (c->dy->dims != c->x->dims || c->dy->size[i] != c->x->size[i])))
      return DNN_BAD_PARAM_SHAPE;
  if (!take_tensor(c->x, x, c->mode, &a->x, &space) || !take_tensor(c->y, y, c->mode, &a->y, &other) ||
      (c->dy && (c->dy->type != c->x->type || !take_tensor(c->dy, dy, c->mode, &a->dy, &other))))
    return dnn_refuse(c->function, "normalisation of tensors laid out like this");
  const int64_t all = dnn_elements(c->x);
  a->images = (int32_t)c->x->size[0];
  a->space = (int32_t)space;
  a->channels = (int32_t)(all / c->x->size[0] / space);
  if (dnn_elements(c->param) != a->channels) return DNN_BAD_PARAM_SHAPE;
  a->type = type, a->param_type = param;
  return DNN_SUCCESS;
}

static dnn_status launch(const struct norm_call *c, int f32, int f64, unsigned ctas, const struct ws_norm_args *a)
{
  const struct launch_shape shape = {(unsigned)a->channels, ctas, 1, 256};
  const enum lib_kernel k = (enum lib_kernel)(a->type == WS_F64 ? f64 : f32);
  return kernel_set_launch(&c->h->blas->kernels, k, shape, c->h->stream, a) ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
}

static dnn_status only_norm(int ops, const char *function)
{
  if (ops < OPS_NORM || ops > OPS_ADD_ACTIVATION) return DNN_BAD_PARAM;
  return ops == OPS_NORM ? DNN_SUCCESS : dnn_refuse(function, "normalisation with an activation in one call");
}

PUBLIC dnn_status cudnnDeriveBNTensorDescriptor(struct dnn_tensor *out, const struct dnn_tensor *x, int mode)
{
  if (!out || !x) return DNN_BAD_PARAM_NULL;
  if (mode < 0 || mode >= MODES || x->dims < 4 || x->dims > 5) return DNN_BAD_PARAM;
  struct dnn_tensor t = *x;
  int64_t step = 1;
  t.type = x->type == DNN_DOUBLE ? DNN_DOUBLE : DNN_FLOAT;
  for (int i = t.dims - 1; i >= 0; i--) {
    if (i == 0 || (i > 1 && mode != PER_ACTIVATION)) t.size[i] = 1;
    t.stride[i] = step;
    step *= t.size[i];
  }
  *out = t;
  return DNN_SUCCESS;
}

/* No room is needed; a program may give some. */
static dnn_status no_room(const struct dnn *h, size_t *bytes)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!bytes) return DNN_BAD_PARAM_NULL;
  *bytes = 0;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    const struct dnn *h, int mode, int ops, const struct dnn_tensor *x, const struct dnn_tensor *z,
    const struct dnn_tensor *y, const struct dnn_tensor *param, const void *activation, size_t *bytes)
{
  (void)mode, (void)ops, (void)x, (void)z, (void)y, (void)param, (void)activation;
  return no_room(h, bytes);
}
PUBLIC dnn_status cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    const struct dnn *h, int mode, int ops, const struct dnn_tensor *x, const struct dnn_tensor *y,
    const struct dnn_tensor *dy, const struct dnn_tensor *dz, const struct dnn_tensor *dx,
    const struct dnn_tensor *param, const void *activation, size_t *bytes)
{
  (void)mode, (void)ops, (void)x, (void)y, (void)dy, (void)dz, (void)dx, (void)param, (void)activation;
  return no_room(h, bytes);
}
PUBLIC dnn_status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(const struct dnn *h, int mode, int ops,
                                                                       const void *activation,
                                                                       const struct dnn_tensor *x, size_t *bytes)
{
  (void)mode, (void)ops, (void)activation, (void)x;
  return no_room(h, bytes);
}

static dnn_status train(const struct norm_call *c, const void *alpha, const void *beta, const void *x, void *y,
                        struct ws_norm_args *a)
{
  const dnn_status s = prepare(c, x, y, NULL, a);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !a->scale || !a->bias) return DNN_BAD_PARAM_NULL;
  if (!a->running_mean != !a->running_var || !a->save_mean != !a->save_inv || a->epsilon < 0) return DNN_BAD_PARAM;
  a->alpha = dnn_scale(alpha, c->x->type), a->beta = dnn_scale(beta, c->x->type);
  return launch(c, KERNEL_norm_train_f32, KERNEL_norm_train_f64, 1, a);
}

PUBLIC dnn_status cudnnBatchNormalizationForwardTraining(struct dnn *h, int mode, const void *alpha, const void *beta,
                                                         const struct dnn_tensor *xd, const void *x,
                                                         const struct dnn_tensor *yd, void *y,
                                                         const struct dnn_tensor *param, const void *scale,
                                                         const void *bias, double factor, void *running_mean,
                                                         void *running_var, double epsilon, void *save_mean,
                                                         void *save_inv)
{
  const struct norm_call c = {h, mode, "cudnnBatchNormalizationForwardTraining", xd, yd, NULL, param};
  struct ws_norm_args a = {.scale = scale, .bias = bias, .running_mean = running_mean, .running_var = running_var,
                           .save_mean = save_mean, .save_inv = save_inv, .epsilon = epsilon, .factor = factor};
  return train(&c, alpha, beta, x, y, &a);
}

PUBLIC dnn_status cudnnBatchNormalizationForwardTrainingEx(
    struct dnn *h, int mode, int ops, const void *alpha, const void *beta, const struct dnn_tensor *xd, const void *x,
    const struct dnn_tensor *zd, const void *z, const struct dnn_tensor *yd, void *y, const struct dnn_tensor *param,
    const void *scale, const void *bias, double factor, void *running_mean, void *running_var, double epsilon,
    void *save_mean, void *save_inv, const void *activation, void *workspace, size_t workspace_bytes, void *reserve,
    size_t reserve_bytes)
{
  const dnn_status s = only_norm(ops, "cudnnBatchNormalizationForwardTrainingEx");
  (void)zd, (void)z, (void)activation, (void)workspace, (void)workspace_bytes, (void)reserve, (void)reserve_bytes;
  if (s != DNN_SUCCESS) return s;
  return cudnnBatchNormalizationForwardTraining(h, mode, alpha, beta, xd, x, yd, y, param, scale, bias, factor,
                                                running_mean, running_var, epsilon, save_mean, save_inv);
}

PUBLIC dnn_status cudnnBatchNormalizationForwardInference(struct dnn *h, int mode, const void *alpha, const void *beta,
                                                          const struct dnn_tensor *xd, const void *x,
                                                          const struct dnn_tensor *yd, void *y,
                                                          const struct dnn_tensor *param, const void *scale,
                                                          const void *bias, const void *mean, const void *var,
                                                          double epsilon)
{
  enum { PER_CTA = 2048, MOST_CTAS = 65535 };
  const struct norm_call c = {h, mode, "cudnnBatchNormalizationForwardInference", xd, yd, NULL, param};
  struct ws_norm_args a = {.scale = scale, .bias = bias, .epsilon = epsilon};
  const dnn_status s = prepare(&c, x, y, NULL, &a);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !scale || !bias || !mean || !var) return DNN_BAD_PARAM_NULL;
  if (epsilon < 0) return DNN_BAD_PARAM;
  a.running_mean = (void *)(uintptr_t)mean, a.running_var = (void *)(uintptr_t)var;
  a.alpha = dnn_scale(alpha, xd->type), a.beta = dnn_scale(beta, xd->type);
  const int64_t ctas = ((int64_t)a.images * a.space + PER_CTA - 1) / PER_CTA;
  return launch(&c, KERNEL_norm_infer_f32, KERNEL_norm_infer_f64, (unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), &a);
}

PUBLIC dnn_status cudnnBatchNormalizationBackward(struct dnn *h, int mode, const void *alpha, const void *beta,
                                                  const void *param_alpha, const void *param_beta,
                                                  const struct dnn_tensor *xd, const void *x,
                                                  const struct dnn_tensor *dyd, const void *dy,
                                                  const struct dnn_tensor *dxd, void *dx,
                                                  const struct dnn_tensor *param, const void *scale, void *dscale,
                                                  void *dbias, double epsilon, const void *mean, const void *inv)
{
  const struct norm_call c = {h, mode, "cudnnBatchNormalizationBackward", xd, dxd, dyd, param};
  struct ws_norm_args a = {.scale = scale, .dscale = dscale, .dbias = dbias, .epsilon = epsilon};
  if (!dyd || !dy) return DNN_BAD_PARAM_NULL;
  const dnn_status s = prepare(&c, x, dx, dy, &a);
  if (s != DNN_SUCCESS) return s;
  if (!alpha || !beta || !param_alpha || !param_beta || !scale || !dscale || !dbias) return DNN_BAD_PARAM_NULL;
  if (!mean != !inv || epsilon < 0) return DNN_BAD_PARAM;
  a.save_mean = (void *)(uintptr_t)mean, a.save_inv = (void *)(uintptr_t)inv;
  a.alpha = dnn_scale(alpha, xd->type), a.beta = dnn_scale(beta, xd->type);
  a.param_alpha = dnn_scale(param_alpha, xd->type), a.param_beta = dnn_scale(param_beta, xd->type);
  return launch(&c, KERNEL_norm_backward_f32, KERNEL_norm_backward_f64, 1, &a);
}

PUBLIC dnn_status cudnnBatchNormalizationBackwardEx(
    struct dnn *h, int mode, int ops, const void *alpha, const void *beta, const void *param_alpha,
    const void *param_beta, const struct dnn_tensor *xd, const void *x, const struct dnn_tensor *yd, const void *y,
    const struct dnn_tensor *dyd, const void *dy, const struct dnn_tensor *dzd, void *dz, const struct dnn_tensor *dxd,
    void *dx, const struct dnn_tensor *param, const void *scale, const void *bias, void *dscale, void *dbias,
    double epsilon, const void *mean, const void *inv, const void *activation, void *workspace, size_t workspace_bytes,
    void *reserve, size_t reserve_bytes)
{
  const dnn_status s = only_norm(ops, "cudnnBatchNormalizationBackwardEx");
  (void)yd, (void)y, (void)dzd, (void)dz, (void)bias, (void)activation, (void)workspace, (void)workspace_bytes;
  (void)reserve, (void)reserve_bytes;
  if (s != DNN_SUCCESS) return s;
  return cudnnBatchNormalizationBackward(h, mode, alpha, beta, param_alpha, param_beta, xd, x, dyd, dy, dxd, dx, param,
                                         scale, dscale, dbias, epsilon, mean, inv);
}
