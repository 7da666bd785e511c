/* What the kernels on dense systems take (kernels/solve.cu), seen by the host (C) and by the kernels (CUDA C++).
 * Matrices are column-major; a CTA has a matrix, or a right side, for itself.
 */
#ifndef WS_SOLVE_ARGS_H
#define WS_SOLVE_ARGS_H

#include "libs/kernels/gemm_args.h"

enum { WS_SOLVE_N, WS_SOLVE_T, WS_SOLVE_C };
/* Columns of a block of a large matrix, and threads that LU and QR have for such a block; 256 for small matrices. */
enum { WS_SOLVE_BLOCK = 32, WS_SOLVE_PANEL = 512, WS_SOLVE_ROWS = 16 };

struct ws_solve_args {
  int64_t m, n, k; /* k: reflectors */
  int64_t lda, ldb;
  void *a, *b, *tau;
  int32_t pointers; /* a and b are arrays of pointers, one for each matrix */
  int32_t upper, op, right;
  int32_t invert; /* with_lu: the right sides are those of the identity */
  int32_t *pivots; /* rows from 1 on, NULL: none are exchanged */
  const int64_t *pivots_64; /* of ldl_solve */
  int64_t pivot_stride, tau_stride; /* from matrix to matrix; tau_stride 0: pointers as for a */
  int32_t *info;   /* of each matrix */
  int64_t first;   /* row and column of a larger matrix that this one begins with: pivots and info count from it */
};

/* What the kernels between the blocks of a large matrix take (kernels/solve_blocks.cu). */

/* Rows of b change places with those that `count` pivots, from row `first` on, name. Of the columns those from `gap_at`
 * on lie `gap` columns further. */
struct ws_exchange_args {
  void *b;
  int64_t ldb, rows, columns, first, count, gap_at, gap;
  const int32_t *pivots; /* pivots[i]: of row i, from 1 on */
  int32_t backwards;
};

/* What the kernels of a step of LU and Cholesky take (kernels/solve_steps.cu). */

/* Of LU, right and left of a block of `nb` columns that has its factors, `block` at its first pivot: rows change places
 * as in ws_exchange_args, of which nothing is turned backwards, and those of U right of the block are found. */
struct ws_rows_args {
  struct ws_exchange_args rows;
  const void *block;
  int32_t nb;
};

/* Of Cholesky: a[rows][nb], below a block that has its factor, becomes the factor's. Of an upper matrix a is beside the
 * block and both are conjugate transposed. */
struct ws_below_args {
  const void *block;
  void *a;
  int64_t lda, rows;
  int32_t nb, upper;
  const int32_t *info; /* not 0: there is no factor */
};

/* c[m][n] -= a[m][k] b[k][n], k at most WS_SOLVE_BLOCK. Cholesky: c is one half of a square matrix, a b the product of
 * the factor below a block with its own conjugate transposed; `first` is c's place in the whole. Then c's own first
 * block, of `next` columns, gets its factor. */
struct ws_update_args {
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc, m, n, first;
  int32_t k, half, upper, next;
  int32_t *info;
};

/* A block of k reflectors in a[m][k], as LAPACK keeps them, becomes v[m][k] with what is not stored. With `clear`, a
 * and what lies right of it, n columns, become those of the identity, with zeros in `above` rows more. */
struct ws_reflectors_args {
  void *a, *v;
  int64_t lda, ldv, m, n, k, above;
  int32_t clear;
};

/* The triangle of I - V T V^H, the product of k reflectors, from V^H V; both have WS_SOLVE_BLOCK rows. */
struct ws_block_args {
  const void *products, *tau;
  void *t;
  int32_t k;
};

#endif
