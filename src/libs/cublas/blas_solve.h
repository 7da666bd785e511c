/* What libcusolver takes of libcublas beside products (blas_product.h). */
#ifndef WS_BLAS_SOLVE_H
#define WS_BLAS_SOLVE_H

#include "libs/cublas/blas_product.h"

/* op(A) X = B or X op(A) = B, of matrices of m x n right sides; X takes B's place. */
struct triangular_system {
  int side, fill, op, unit;
  int64_t m, n, lda, ldb;
  const void *a;
  void *b;
};

/* Solves a system of type t (s, d, c, z) on the handle's stream. */
blas_status blas_solve_triangle(struct blas *h, int t, const struct triangular_system *q, const char *function);

#endif
