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
  int32_t c_type; /* of values of 16 bits: enum ws_type */
  int64_t m, n, b_row, b_column, c_row, c_column;
  const void *b;
  void *c;
  struct ws_scalar alpha, beta;
};

/* The same of a matrix of square blocks: `product.a` has rows and columns of blocks, whose values follow each other,
 * each by rows or by columns. */
struct ws_sparse_blocks {
  struct ws_sparse_product product;
  int64_t side;
  int32_t by_columns;
};

/* The same of a matrix whose elements have their places by a rule. In blocks, row by row: `width` elements of each row
 * (WS_BLOCKED_ELL, product.a.column has a number for each block, below `base` where there is none), or as many blocks
 * as the offsets say (WS_BSR). In slices of block_rows rows: the first elements of all rows of a slice, then the second
 * ones (WS_SLICED_ELL, a column below `base` is no element). `width`, rows and columns are below 2^31. */
enum { WS_BLOCKED_ELL, WS_BSR, WS_SLICED_ELL };
struct ws_sparse_ell {
  struct ws_sparse_product product;
  int32_t format, by_columns; /* by_columns: a block's values follow each other by columns */
  uint32_t block_rows, block_cols, width;
};

/* offsets[rows + 1] from `row`, `row` from `offsets`, or the dense matrix in `dense`. */
struct ws_sparse_convert {
  struct ws_sparse a;
  void *to;
  int64_t to_row, to_column;
};

/* The order in which the rows of a triangular system can be solved. Rows of a level need only those of levels before
 * it; they are listed level by level. The elements of the row at place r of that list are first[r] to first[r + 1]:
 * where each one's value is, and the unknown that it multiplies. */
struct ws_sparse_levels {
  const int32_t *row;    /* of each place of the list */
  const int32_t *first;  /* of each place of the list, and the end */
  const int32_t *place, *unknown;
  const int32_t *level;  /* where each level begins in the list, and the end */
};

/* op(A) C = alpha * op(B), A a triangle of what is stored; with `unit` its diagonal is 1. A launch solves the levels
 * `from` to `to`, several of them in one CTA for each column of C; `lanes` threads share a row. */
struct ws_sparse_solve {
  struct ws_sparse_levels order;
  const void *values;
  int32_t conj, conj_b, unit, lanes, from, to;
  int64_t n, b_row, b_column, c_row, c_column;
  const void *b;
  void *c;
  struct ws_scalar alpha;
};

/* Tridiagonal systems, one for each CTA: element i of the three diagonals and of a right side is `step` elements behind
 * the one before, systems are `stride` elements apart, the n right sides of one `ldx`. Row i has lower[i], diagonal[i],
 * upper[i]. `work`: WS_TRIDIAGONAL_ROOM numbers for each row. */
#define WS_TRIDIAGONAL_ROOM 5
struct ws_tridiagonal {
  const void *lower, *diagonal, *upper;
  void *x, *work;
  int64_t m, n, ldx, step, stride;
};

/* Systems of five diagonals, one for each thread: element i of system b is at i * batch + b. diagonal[0] is two below
 * the main one, diagonal[4] two above. `work`: WS_PENTADIAGONAL_ROOM numbers for each row of each system. */
#define WS_PENTADIAGONAL_ROOM 5
struct ws_pentadiagonal {
  const void *diagonal[5];
  void *x, *work;
  int64_t m, batch;
};

/* Incomplete factors in the place of A's values, `order` that of A's lower triangle. `diagonal` has for each row the
 * place of its diagonal, or -1. A launch makes the rows of the levels `from` to `to`, several of them in one CTA;
 * `lanes` threads, 1 or 32, share a row. */
struct ws_sparse_factor {
  struct ws_sparse a;
  struct ws_sparse_levels order;
  int32_t lanes, from, to;
  int *diagonal, *position; /* position: of the first row whose pivot is 0, counted as A's indices are; -1: none */
  int32_t boost;            /* pivots not larger than `tol` become `boost_value` */
  struct ws_scalar tol, boost_value; /* tol: a double */
};

/* C = alpha * A B + beta * C, all by compressed rows, C with the elements that A B has. Each row of C is a list of
 * products, of row i from first[i] on, which is sorted by column and place in the list, `keys`; of each column the
 * first one has the sum. */
struct ws_sparse_gemm {
  struct ws_sparse a, b;
  int64_t *first;          /* rows + 1; */
  int64_t *counts;         /* rows + 1: elements of C's rows, then where they begin */
  uint64_t *keys;          /* column << WS_PLACE_BITS | place in the row's list */
  void *products;
  void *c_offsets, *c_columns; /* or 0: they are there */
  void *c_values;              /* or 0 */
  int32_t c_wide_offsets, c_wide_indices, c_base;
  struct ws_scalar alpha, beta;
};
enum { WS_PLACE_BITS = 32 };

/* Sums of all before: list[i] becomes the sum of list[0] to list[i - 1], for i from 0 to n; list[n] is not read. */
struct ws_sparse_scan {
  int64_t n;
  void *list;
  int32_t wide, base;
};

/* Compressed columns of a matrix with compressed rows. `order` has room for a number of each element, `at` for one
 * of each column. */
struct ws_sparse_turn {
  struct ws_sparse a;
  int *offsets, *rows, *order, *at;
  void *values; /* or 0 */
  int32_t bytes; /* of a value */
};

/* Sorting n elements by major and minor number (row and column, or the other way round); those alike keep their order.
 * Two lists each of keys, major << 32 | minor, and of the places where elements were: list `from` holds what is sorted
 * so far, in runs. Rows are coordinates, `major`, or `lines` that begin at `offsets`. */
struct ws_sparse_sort {
  int64_t n, run, lines;
  int *major, *minor;
  const int *offsets;
  int *numbers; /* of the elements, the caller's; or 0 */
  uint64_t *key[2];
  int *place[2];
  int32_t from, base;
};

/* C = alpha * A + beta * B, by compressed rows whose columns ascend; indices of 32 bits. */
struct ws_sparse_sum {
  struct ws_sparse a, b;
  int *c_offsets, *c_columns;
  void *c_values;
  int32_t c_base;
  struct ws_scalar alpha, beta;
};

/* What is not zero of a dense matrix, line by line: rows, or columns for compressed columns. `first` gets how many
 * each line has, then where each begins, from 0 on. */
struct ws_sparse_dense {
  int64_t lines, length, line_step, step; /* steps in the dense matrix: from line to line, within one */
  const void *from;
  int64_t *first;         /* lines + 1 */
  void *offsets;          /* the compressed matrix's, or 0 */
  void *major;            /* coordinates: the line of each, or 0 */
  void *minor, *values;
  int32_t wide_offsets, wide_indices, base;
  int32_t *counts;        /* or 0: gets how many each line has instead of `first` */
};

/* A sparse vector x of `count` elements beside a dense one, y. */
struct ws_sparse_vector {
  int64_t count;
  const void *indices;
  void *x, *y, *result;
  int32_t wide, base, bytes, conj; /* bytes: of a value; conj: x counts as its conjugate */
  struct ws_scalar alpha, beta;    /* beta: the sine of a rotation, whose cosine is alpha */
};

#endif
