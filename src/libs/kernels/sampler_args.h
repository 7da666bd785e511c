/* Spatial transformers: grids of an affine map, and images sampled at a grid (kernels/sampler.cu), seen by the host (C)
 * and by the kernels (CUDA C++). A grid has for each pixel of the result its place in the image, x and y from -1 (the
 * middle of the first pixel) to 1 (that of the last).
 */
#ifndef WS_SAMPLER_ARGS_H
#define WS_SAMPLER_ARGS_H

#include "libs/kernels/gemm_args.h"

/* Images by channels, rows, columns. */
struct ws_sampler_tensor {
  void *at;
  int64_t stride[4]; /* elements */
};

struct ws_sampler_args {
  struct ws_sampler_tensor x, dx, y; /* y: of the backward dy */
  int32_t images, channels, high, wide, in_high, in_wide; /* of the result; of the image */
  int32_t type;                      /* enum ws_type */
  void *grid, *dgrid;                /* images x high x wide x 2 */
  void *theta;                       /* images x 2 x 3, or what they get */
  double alpha, beta, grid_alpha, grid_beta; /* result = alpha * computed + beta * what was there */
};

#endif
