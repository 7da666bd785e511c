/* What the kernels of fused attention take (kernels/attention.cu), seen by the host (C) and by the kernels (CUDA C++).
 * Scores are scale q k + bias + slope (column - row) where they are kept, weights their softmax along a row, the output
 * weights v. Rows are those of q, columns those of k and v.
 */
#ifndef WS_ATTENTION_ARGS_H
#define WS_ATTENTION_ARGS_H

#include "libs/kernels/gemm_args.h"

/* A matrix for each batch and head; strides in elements, neighbours in a row lie side by side. Where there are fewer
 * heads than of q, neighbouring heads of q share one. */
struct ws_attention_side {
  void *at;               /* 0: there is none */
  int64_t batch, head, row;
  const void *begins;     /* not 0: where each batch begins behind `at`, instead of `batch`, in units of elements */
  int64_t begins_step, begins_unit;
  int32_t begins_wide;    /* they have 64 bits, not 32 */
  int32_t heads, columns;
  int32_t vector;         /* chunks of 16 bytes lie on their borders */
  int32_t type;           /* enum ws_type */
};

/* Which scores are kept: those with row < N, column < N, column - row <= N or >= N, all of them.
 * N = base + the sum of sign * at[batch * step], lengths of sequences. */
enum ws_attention_limit { WS_ROWS_BELOW, WS_COLUMNS_BELOW, WS_AT_MOST, WS_AT_LEAST };
enum { WS_LIMITS = 8, WS_LIMIT_TERMS = 4 };
struct ws_attention_bound {
  int64_t base;
  const int32_t *at[WS_LIMIT_TERMS];
  int64_t step[WS_LIMIT_TERMS];
  int32_t sign[WS_LIMIT_TERMS]; /* 0: no more terms */
  int32_t limit;
};

struct ws_attention_args {
  struct ws_attention_side q, k, v, o, stats; /* stats: logarithms of a row's sum, one column */
  struct ws_attention_side d_o, d_q, d_k, d_v, sums; /* gradients; sums: of o d_o along a row, times sums_scale */
  struct ws_attention_bound bound[WS_LIMITS];
  const void *bias;
  int64_t bias_stride[4]; /* batch, head, row, column */
  const float *slope;
  int64_t slope_step;     /* from head to head of q */
  const uint64_t *seed, *offset; /* 0: none is dropped */
  float keep;             /* the part that is not */
  float scale, weight_scale, slope_scale, sums_scale; /* of products; of weights; of the scores' gradients */
  int32_t bounds, bias_type;
  int32_t batches, heads, rows, columns;
};

#endif
