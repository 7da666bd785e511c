/* What the kernels of single operations of a graph take (kernels/graph.cu), seen by the host (C) and by the
 * kernels (CUDA C++).
 * Tensors have WS_GRAPH_DIMS sizes and strides, in elements; smaller ones have sizes of 1 before theirs.
 */
#ifndef WS_GRAPH_ARGS_H
#define WS_GRAPH_ARGS_H

#include "libs/kernels/gemm_args.h"

enum { WS_GRAPH_DIMS = 5 };

struct ws_graph_tensor {
  void *at;      /* 0: all of it is `value` */
  int64_t size[WS_GRAPH_DIMS], stride[WS_GRAPH_DIMS];
  int32_t type;  /* enum ws_type */
  float value;
};

/* Numbers of the operations of elements are those of cuDNN's reference (cudnnPointwiseMode_t). */
enum ws_graph_mode {
  WS_ADD = 0, WS_MUL = 1, WS_MIN = 2, WS_MAX = 3, WS_SQRT = 4, WS_ADD_SQUARE = 5, WS_DIV = 6, WS_POW = 8, WS_SUB = 9,
  WS_ABS = 10, WS_EXP = 13, WS_LOG = 15, WS_NEG = 16, WS_RSQRT = 17, WS_ERF = 20, WS_IDENTITY = 21, WS_RECIPROCAL = 22,
  WS_RELU_FORWARD = 100, WS_TANH_FORWARD = 101, WS_SIGMOID_FORWARD = 102,
  WS_EQUAL = 300, WS_NOT_EQUAL = 301, WS_GREATER = 302, WS_NOT_LESS = 303, WS_LESS = 304, WS_NOT_GREATER = 305,
  WS_AND = 400, WS_OR = 401, WS_NOT = 402, WS_INDEX = 501, WS_SELECT = 601,
};
/* cudnnReduceTensorOp_t */
enum ws_graph_reduction { WS_SUM_OF = 0, WS_PRODUCT_OF = 1, WS_LEAST_OF = 2, WS_MOST_OF = 3, WS_LARGEST_OF = 4,
  WS_MEAN_OF = 5 };

enum ws_graph_role { WS_X, WS_B, WS_T, WS_Y, WS_STATS, WS_ROWS, WS_ROLES };

/* Elements of an operation: y = op(alpha x, beta b); of a product: y = x b,
 * of a batch's first `t` terms where there is t, and 0 behind its first `rows` rows where there is rows;
 * of a sum: y = sum of x; of softmax: y
 * and, in
 * `stats`, the logarithm of the sum of exponentials; of random numbers: x and b are the seed and the offset, 64
 * bits each. */
struct ws_graph_args {
  struct ws_graph_tensor tensor[WS_ROLES];
  int32_t mode, axis;
  float alpha, beta, probability;
};

#endif
