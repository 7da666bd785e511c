/* What the kernels on dense systems take (kernels/solve.cu), seen by the host (C) and by the kernels (CUDA C++).
 * Matrices are column-major; a CTA has a matrix, or a right side, for itself.
 */
#ifndef WS_SOLVE_ARGS_H
#define WS_SOLVE_ARGS_H

#include "libs/kernels/gemm_args.h"

enum { WS_SOLVE_N, WS_SOLVE_T, WS_SOLVE_C };

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
};

#endif
