#include "libs/cudnn/dnn_dropout.h"

#include <stdlib.h>

#include "libs/kernels/dropout_args.h"

enum { STATE_BYTES = 16 };

PUBLIC dnn_status cudnnCreateDropoutDescriptor(struct dnn_dropout **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}

PUBLIC dnn_status cudnnDestroyDropoutDescriptor(struct dnn_dropout *d)
{
  free(d);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnDropoutGetStatesSize(const struct dnn *h, size_t *bytes)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!bytes) return DNN_BAD_PARAM_NULL;
  *bytes = STATE_BYTES;
  return DNN_SUCCESS;
}

/* A byte per element. */
PUBLIC dnn_status cudnnDropoutGetReserveSpaceSize(const struct dnn_tensor *x, size_t *bytes)
{
  if (!x || !bytes) return DNN_BAD_PARAM_NULL;
  const int64_t n = dnn_elements(x);
  if (n < 0) return DNN_NOT_SUPPORTED;
  *bytes = (size_t)n;
  return DNN_SUCCESS;
}

static bool launch(struct dnn *h, enum lib_kernel k, unsigned ctas, unsigned threads, const struct ws_dropout_args *a)
{
  const struct launch_shape shape = {ctas, 1, 1, threads};
  return kernel_set_launch(&h->blas->kernels, k, shape, h->stream, a);
}

PUBLIC dnn_status cudnnRestoreDropoutDescriptor(struct dnn_dropout *d, const struct dnn *h, float rate, void *states,
                                                size_t bytes, unsigned long long seed)
{
  if (!d) return DNN_BAD_PARAM_NULL;
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!(rate >= 0 && rate <= 1)) return DNN_BAD_PARAM;
  if (states && bytes < STATE_BYTES) return DNN_BAD_PARAM_TOO_SMALL;
  *d = (struct dnn_dropout){rate, states, seed};
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetDropoutDescriptor(struct dnn_dropout *d, struct dnn *h, float rate, void *states,
                                            size_t bytes, unsigned long long seed)
{
  const dnn_status s = cudnnRestoreDropoutDescriptor(d, h, rate, states, bytes, seed);
  const struct ws_dropout_args a = {.states = states, .seed = seed};
  if (s != DNN_SUCCESS || !states) return s;
  return launch(h, KERNEL_dropout_seed, 1, 1, &a) ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
}

PUBLIC dnn_status cudnnGetDropoutDescriptor(const struct dnn_dropout *d, const struct dnn *h, float *rate,
                                            void **states, unsigned long long *seed)
{
  if (!d) return DNN_BAD_PARAM_NULL;
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (rate) *rate = d->rate;
  if (states) *states = d->states;
  if (seed) *seed = d->seed;
  return DNN_SUCCESS;
}

dnn_status dnn_dropout_apply(struct dnn *h, const struct dnn_dropout *d, int type, int64_t n, const void *from,
                             void *to, void *mask, bool draw)
{
  enum { THREADS = 256, MOST_CTAS = 1024 };
  const int64_t ctas = (n + THREADS * 4 - 1) / (THREADS * 4);
  const struct ws_dropout_args a = {.from = from, .to = to, .mask = mask, .states = d->states, .n = n, .rate = d->rate,
                                    .type = dnn_element(type), .draw = draw};
  if (a.type < 0) return dnn_refuse("cudnnDropoutForward", "dropout of this type");
  if (!launch(h, KERNEL_dropout, (unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), THREADS, &a) ||
      (draw && !launch(h, KERNEL_dropout_next, 1, 1, &a)))
    return DNN_EXECUTION_FAILED;
  return DNN_SUCCESS;
}

static dnn_status apply(struct dnn *h, const struct dnn_dropout *d, const struct dnn_tensor *x, const void *from,
                        const struct dnn_tensor *y, void *to, void *mask, size_t bytes, bool draw)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!d || !x || !y || !from || !to || !mask || !d->states) return DNN_BAD_PARAM_NULL;
  const int64_t n = dnn_elements(x);
  if (x->type != y->type || n < 0 || dnn_elements(y) != n) return DNN_BAD_PARAM_SHAPE;
  if (dnn_reach(x) != n || dnn_reach(y) != n || !dnn_alike(x, y))
    return dnn_refuse("cudnnDropoutForward", "dropout of tensors with gaps");
  if (bytes < (size_t)n) return DNN_BAD_PARAM_TOO_SMALL;
  return dnn_dropout_apply(h, d, x->type, n, from, to, mask, draw);
}

PUBLIC dnn_status cudnnDropoutForward(struct dnn *h, const struct dnn_dropout *d, const struct dnn_tensor *xd,
                                      const void *x, const struct dnn_tensor *yd, void *y, void *reserve, size_t bytes)
{
  return apply(h, d, xd, x, yd, y, reserve, bytes, true);
}
PUBLIC dnn_status cudnnDropoutBackward(struct dnn *h, const struct dnn_dropout *d, const struct dnn_tensor *dyd,
                                       const void *dy, const struct dnn_tensor *dxd, void *dx, void *reserve,
                                       size_t bytes)
{
  return apply(h, d, dyd, dy, dxd, dx, reserve, bytes, false);
}
