/* Triangular systems of many right sides, for kernels/trsm.cu: seen by the host (C) and by the kernels (CUDA C++). */
#ifndef WS_TRSM_ARGS_H
#define WS_TRSM_ARGS_H

#include "libs/kernels/gemm_args.h"

enum { WS_TRSM_SIDE = 32 }; /* unknowns that are solved at once, and right sides of a CTA */

/* Column i of the right sides is at b + i * next, its elements `step` apart: one of both is 1. Element (i, j) of the
 * system is a[j * lda + i], by_rows: a[i * lda + j]. With `pointers` a and b are arrays of such addresses. */
struct ws_trsm_args {
  int64_t n, columns, lda, step, next;
  const void *a;
  void *b;
  int32_t forward, by_rows, conj, unit, pointers;
  struct ws_scalar alpha;
};

#endif
