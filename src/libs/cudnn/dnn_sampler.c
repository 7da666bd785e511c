/* Spatial transformers: grids of affine maps and images sampled at them, with their gradients. */
#include <stdlib.h>

#include "libs/cudnn/dnn_types.h"
#include "libs/kernels/sampler_args.h"

enum { SAMPLER_BILINEAR, SAMPLER_DIMS = 4 };

struct dnn_sampler {
  int type;
  int size[SAMPLER_DIMS]; /* of the result: images, channels, rows, columns; 0 images: not set */
};

PUBLIC dnn_status cudnnCreateSpatialTransformerDescriptor(struct dnn_sampler **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}

PUBLIC dnn_status cudnnDestroySpatialTransformerDescriptor(struct dnn_sampler *s)
{
  free(s);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetSpatialTransformerNdDescriptor(struct dnn_sampler *s, int sampler, int type, int dims,
                                                         const int *size)
{
  if (!s || !size) return DNN_BAD_PARAM_NULL;
  if (sampler != SAMPLER_BILINEAR || dnn_element(type) < 0) return DNN_BAD_PARAM;
  if (dims != SAMPLER_DIMS) return dnn_refuse(__func__, "images of other than two dimensions");
  for (int i = 0; i < SAMPLER_DIMS; i++)
    if (size[i] < 1) return DNN_BAD_PARAM;
  *s = (struct dnn_sampler){type, {size[0], size[1], size[2], size[3]}};
  return DNN_SUCCESS;
}

static bool known(int type)
{
  return type == DNN_FLOAT || type == DNN_DOUBLE || type == DNN_HALF || type == DNN_BFLOAT16;
}

/* The result's sizes, and the kernels' type. */
static dnn_status begin(const struct dnn *h, const struct dnn_sampler *s, struct ws_sampler_args *a)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!s || !s->size[0]) return DNN_BAD_PARAM;
  if (!known(s->type)) return dnn_refuse("cudnnSpatialTf", "numbers of this type");
  *a = (struct ws_sampler_args){.images = s->size[0], .channels = s->size[1], .high = s->size[2], .wide = s->size[3],
                                .type = dnn_element(s->type)};
  return DNN_SUCCESS;
}

static dnn_status launch(struct dnn *h, enum lib_kernel of_f32, const struct ws_sampler_args *a, int64_t threads)
{
  const int wide = a->type == WS_F64 ? KERNEL_sampler_forward_f64 - KERNEL_sampler_forward_f32 : 0;
  enum { MOST_CTAS = 4096 };
  const int64_t ctas = (threads + 255) / 256;
  const struct launch_shape shape = {(unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), 1, 1, 256};
  const bool ok = kernel_set_launch(&h->blas->kernels, (enum lib_kernel)((int)of_f32 + wide), shape, h->stream, a);
  return ok ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
}

static int64_t pixels(const struct ws_sampler_args *a)
{
  return (int64_t)a->images * a->high * a->wide;
}

/* A tensor of the sampler's type and the given size; false: another one. */
static bool take(const struct dnn_tensor *t, const void *at, const struct dnn_sampler *s, int64_t high, int64_t wide,
                 struct ws_sampler_tensor *out)
{
  if (!t || t->dims != SAMPLER_DIMS || t->type != s->type || dnn_reach(t) < 0) return false;
  *out = (struct ws_sampler_tensor){.at = (void *)(uintptr_t)at};
  for (int i = 0; i < SAMPLER_DIMS; i++) out->stride[i] = t->stride[i];
  return t->size[0] == s->size[0] && t->size[1] == s->size[1] && t->size[2] == high && t->size[3] == wide;
}

PUBLIC dnn_status cudnnSpatialTfGridGeneratorForward(struct dnn *h, const struct dnn_sampler *s, const void *theta,
                                                     void *grid)
{
  struct ws_sampler_args a;
  const dnn_status status = begin(h, s, &a);
  if (status != DNN_SUCCESS) return status;
  if (!theta || !grid) return DNN_BAD_PARAM_NULL;
  a.theta = (void *)(uintptr_t)theta, a.grid = grid;
  return launch(h, KERNEL_sampler_grid_f32, &a, pixels(&a));
}

PUBLIC dnn_status cudnnSpatialTfGridGeneratorBackward(struct dnn *h, const struct dnn_sampler *s, const void *dgrid,
                                                      void *dtheta)
{
  struct ws_sampler_args a;
  const dnn_status status = begin(h, s, &a);
  if (status != DNN_SUCCESS) return status;
  if (!dgrid || !dtheta) return DNN_BAD_PARAM_NULL;
  a.dgrid = (void *)(uintptr_t)dgrid, a.theta = dtheta;
  return launch(h, KERNEL_sampler_grid_backward_f32, &a, (int64_t)a.images * 6 * 32);
}

PUBLIC dnn_status cudnnSpatialTfSamplerForward(struct dnn *h, const struct dnn_sampler *s, const void *alpha,
                                               const struct dnn_tensor *x_is, const void *x, const void *grid,
                                               const void *beta, const struct dnn_tensor *y_is, void *y)
{
  struct ws_sampler_args a;
  const dnn_status status = begin(h, s, &a);
  if (status != DNN_SUCCESS) return status;
  if (!alpha || !beta || !x_is || !x || !grid || !y_is || !y) return DNN_BAD_PARAM_NULL;
  if (x_is->dims != SAMPLER_DIMS || !take(x_is, x, s, x_is->size[2], x_is->size[3], &a.x) ||
      !take(y_is, y, s, a.high, a.wide, &a.y))
    return DNN_BAD_PARAM;
  a.in_high = (int32_t)x_is->size[2], a.in_wide = (int32_t)x_is->size[3], a.grid = (void *)(uintptr_t)grid;
  a.alpha = dnn_scale(alpha, s->type), a.beta = dnn_scale(beta, s->type);
  return launch(h, KERNEL_sampler_forward_f32, &a, pixels(&a));
}

PUBLIC dnn_status cudnnSpatialTfSamplerBackward(struct dnn *h, const struct dnn_sampler *s, const void *alpha,
                                                const struct dnn_tensor *x_is, const void *x, const void *beta,
                                                const struct dnn_tensor *dx_is, void *dx, const void *grid_alpha,
                                                const struct dnn_tensor *dy_is, const void *dy, const void *grid,
                                                const void *grid_beta, void *dgrid)
{
  struct ws_sampler_args a;
  dnn_status status = begin(h, s, &a);
  if (status != DNN_SUCCESS) return status;
  if (!alpha || !beta || !grid_alpha || !grid_beta || !x_is || !x || !dx_is || !dx || !dy_is || !dy || !grid || !dgrid)
    return DNN_BAD_PARAM_NULL;
  if (x_is->dims != SAMPLER_DIMS || !take(x_is, x, s, x_is->size[2], x_is->size[3], &a.x) ||
      !take(dx_is, dx, s, x_is->size[2], x_is->size[3], &a.dx) || !take(dy_is, dy, s, a.high, a.wide, &a.y))
    return DNN_BAD_PARAM;
  a.in_high = (int32_t)x_is->size[2], a.in_wide = (int32_t)x_is->size[3];
  a.grid = (void *)(uintptr_t)grid, a.dgrid = dgrid;
  a.alpha = dnn_scale(alpha, s->type), a.beta = dnn_scale(beta, s->type);
  a.grid_alpha = dnn_scale(grid_alpha, s->type), a.grid_beta = dnn_scale(grid_beta, s->type);
  status = launch(h, KERNEL_sampler_scale_f32, &a, (int64_t)a.images * a.channels * a.in_high * a.in_wide);
  return status == DNN_SUCCESS ? launch(h, KERNEL_sampler_backward_f32, &a, pixels(&a)) : status;
}
