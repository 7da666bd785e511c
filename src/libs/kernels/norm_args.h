/* What the batch normalisation kernels of our open libraries take, seen by the host (C) and by the kernels (CUDA C++).
 * A tensor is images by channels by space, each with one stride; a CTA has a channel.
 */
#ifndef WS_NORM_ARGS_H
#define WS_NORM_ARGS_H

#include <stdint.h>

#include "libs/kernels/gemm_args.h"

struct ws_norm_tensor {
  void *at;
  int64_t image, channel, space; /* elements from one to the next */
};

struct ws_norm_args {
  struct ws_norm_tensor x, y, dy; /* y: what is put out; the gradient of x backward */
  int32_t images, channels, space;
  int32_t type, param_type;       /* enum ws_type: of x, y, dy; of all below */
  const void *scale, *bias;
  void *running_mean, *running_var; /* or 0 */
  void *save_mean, *save_inv;       /* or 0: mean and 1 / sqrt(variance + epsilon) of the batch */
  void *dscale, *dbias;
  double epsilon, factor;
  double alpha, beta;               /* result = alpha * computed + beta * what was there */
  double param_alpha, param_beta;   /* of dscale and dbias */
};

#endif
