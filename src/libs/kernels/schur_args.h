/* What the kernels of general eigenvalues take (kernels/schur.cu), seen by the host (C) and by them (CUDA C++). */
#ifndef WS_SCHUR_ARGS_H
#define WS_SCHUR_ARGS_H

#include "libs/kernels/gemm_args.h"

struct ws_schur_args {
  int64_t n, lda, ldv;
  const void *a; /* n x n, column-major */
  void *w;       /* complex, or (`apart`) n real and n imaginary parts */
  void *v;       /* eigenvectors, or NULL; of real matrices as in LAPACK: real and imaginary part in two columns */
  void *work;    /* WS_SCHUR_ROOM(n) complex elements */
  int32_t apart;
  int32_t *info; /* 0, or how many values from the first on were not found */
};
#define WS_SCHUR_ROOM(n) (4 * (n) * (n))

#endif
