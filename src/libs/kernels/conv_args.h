/* What the convolution kernels of our open libraries take, seen by the host (C) and by the kernels (CUDA C++).
 *
 * Forward, gradient of the data and gradient of the filter are one sum: out[row][column] = sum over terms of
 * lhs[row][term] * source(column, term), where `source` is gathered from a tensor: column and term each give a part of
 * its coordinates, and what lies outside is 0. Rows are the channels that are put out (forward, filter) or taken in
 * (data); a column is a pixel (forward, data) or an element of the filter (filter); a term is the other of the two.
 */
#ifndef WS_CONV_ARGS_H
#define WS_CONV_ARGS_H

#include <stdint.h>

#include "libs/kernels/gemm_args.h"

/* Division by a number below 2^31 of one below 2^31: n / d = (high half of n * mul + n) >> shift. */
struct ws_divider {
  uint32_t mul, shift;
};

/* An index as four digits, the slowest first, and what one step of a digit adds. */
struct ws_digits {
  uint32_t count;                  /* of the index */
  uint32_t size[4];                /* of each digit; the first one's is not used */
  struct ws_divider by[4];
  int32_t source[4], other[4];     /* elements in the gathered tensor; in lhs (terms) or out (columns) */
  int32_t coordinate[4][3];        /* in the gathered tensor, before the division */
};

struct ws_conv_args {
  const void *lhs, *source;
  void *out;
  struct ws_digits column, term;
  int32_t rows, lhs_row, out_row;                 /* elements from a row to the next */
  int32_t origin[3];                              /* coordinates of column 0, term 0 */
  int32_t origin_source;                          /* and the element they are (or would be) */
  int32_t size[3];                                /* of the gathered tensor */
  int32_t divisor[3], step[3];                    /* strided: the coordinates' divisor; elements per coordinate then */
  struct ws_divider divide[3];
  int32_t group_lhs, group_source, group_out;     /* elements from a group to the next; groups are blockIdx.z */
  int32_t type;                                   /* enum ws_type of all tensors */
  int32_t strided;                                /* a coordinate counts only when its divisor divides it */
  int32_t splits, per_split;                      /* of the terms, over blockIdx.y */
  void *partial;                                  /* [group][split][row][column], float or double */
  const void *add, *bias;                         /* or 0: laid out as out; one per row of all groups */
  double alpha, beta, add_alpha;
  int32_t relu;
};

#endif
