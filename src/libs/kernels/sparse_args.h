/* What the kernels on sparse matrices take (kernels/sparse.cu), seen by the host (C) and by the kernels (CUDA C++).
 * Matrices have compressed rows, or coordinates sorted by row; compressed columns are the compressed rows of the
 * transposed matrix.
 */
#ifndef WS_SPARSE_ARGS_H
#define WS_SPARSE_ARGS_H

#include "libs/kernels/gemm_args.h"

struct ws_sparse {
  int64_t rows, cols, count; /* count: of what is not zero */
  const void *offsets;       /* rows + 1; NULL: coordinates */
  const void *row;           /* of each, with coordinates */
  const void *column;
  const void *values;
  int32_t wide_offsets, wide_indices; /* 64 bits */
  int32_t base;                       /* of all indices and offsets */
};

/* C[m][n] = alpha * op(A) B + beta * C. Element (i, j) of B and C is at i * row + j * column; of vectors n is 1. */
struct ws_sparse_product {
  struct ws_sparse a;
  int32_t transposed, conj, conj_b;
  int64_t m, n, b_row, b_column, c_row, c_column;
  const void *b;
  void *c;
  struct ws_scalar alpha, beta;
};

/* offsets[rows + 1] from `row`, `row` from `offsets`, or the dense matrix in `dense`. */
struct ws_sparse_convert {
  struct ws_sparse a;
  void *to;
  int64_t to_row, to_column;
};

#endif
