/* What the kernels of pooling and softmax of our open libraries take, seen by the host (C) and by the kernels (CUDA
 * C++). Tensors are images by channels by depth, rows, columns; smaller ones have sizes of 1 before their space.
 */
#ifndef WS_POOL_ARGS_H
#define WS_POOL_ARGS_H

#include "libs/kernels/gemm_args.h"

enum { WS_POOL_SPACE = 3, WS_POOL_DIMS = 2 + WS_POOL_SPACE };

struct ws_pool_tensor {
  void *at;
  int64_t stride[WS_POOL_DIMS]; /* elements */
};

/* Numbers are those of cudnnPoolingMode_t and cudnnSoftmaxAlgorithm_t. */
enum ws_pool_mode { WS_POOL_MAX, WS_POOL_AVERAGE, WS_POOL_AVERAGE_INSIDE, WS_POOL_MAX_FIXED };
enum ws_softmax_mode { WS_SOFTMAX_FAST, WS_SOFTMAX_ACCURATE, WS_SOFTMAX_LOG };

/* Forward: out of x. Backward: out, as large as x, of x and dy. */
struct ws_pool_args {
  struct ws_pool_tensor x, dy, out;
  int32_t images, channels, in[WS_POOL_SPACE], pooled[WS_POOL_SPACE]; /* in: sizes of x, pooled: of dy (or out) */
  int32_t window[WS_POOL_SPACE], before[WS_POOL_SPACE], step[WS_POOL_SPACE];
  int32_t mode, keep_nan;  /* keep_nan: the largest of what has a NaN is that, else NaNs are passed over */
  int32_t type;            /* enum ws_type */
  double alpha, beta;      /* result = alpha * computed + beta * what was there */
};

/* A CTA has a group of elements that sum to 1: all of an image, or all channels of a place. */
struct ws_softmax_args {
  struct ws_pool_tensor x, dy, out; /* backward x is the result of the forward */
  int32_t size[WS_POOL_DIMS];
  int32_t whole_image, mode, type;
  double alpha, beta;
};

#endif
