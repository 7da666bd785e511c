/* What the kernels of eigenvalues and singular values take (kernels/eigen.cu), seen by the host (C) and by the kernels
 * (CUDA C++). Matrices are column-major, a CTA has one for itself, `_step` is from one to the next in elements.
 */
#ifndef WS_EIGEN_ARGS_H
#define WS_EIGEN_ARGS_H

#include "libs/kernels/gemm_args.h"

/* Symmetric or Hermitian: a (n x n) = V diag(w) V^H. */
struct ws_eigen_args {
  int64_t n, lda, a_step, w_step;
  void *a;    /* its eigenvectors afterwards, where they are wanted */
  void *w;    /* real, ascending */
  void *work; /* WS_EIGEN_ROOM(n) elements of each matrix */
  int32_t upper, vectors;
  int32_t *info; /* of each matrix: 0, or 1 when it did not converge */
};
#define WS_EIGEN_ROOM(n) ((n) * (n) + 2 * (n) + 2)

/* a (m x n), or with `turned` its conjugate transposed, has `rows` >= `columns`: it is Q diag(s) X^H. */
struct ws_singular_args {
  int64_t rows, columns, lda, a_step, s_step;
  int64_t ldq, q_step, ldx, x_step;
  int64_t n_q, n_x; /* columns of Q and X that are wanted, 0: none; beyond those of a, Q is completed */
  void *a, *s, *q, *x;
  void *work; /* WS_SINGULAR_ROOM(rows, columns) elements of each matrix */
  int32_t turned, x_turned; /* x_turned: X^H is wanted */
  int32_t *info;  /* of each matrix: 0, or `unsettled` when it did not converge */
  int32_t unsettled;
  double *residual; /* NULL, or for the norm of a - Q diag(s) X^H of each matrix (not with x_turned) */
};
#define WS_SINGULAR_ROOM(rows, columns) ((rows) * (columns) + (columns) * (columns) + (columns) + (rows))

#endif
