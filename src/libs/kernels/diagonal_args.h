/* C[m x n] = A diag(x) or diag(x) A, column-major, for kernels/diagonal.cu: seen by the host (C) and by the kernels
 * (CUDA C++). */
#ifndef WS_DIAGONAL_ARGS_H
#define WS_DIAGONAL_ARGS_H

#include <stdint.h>

struct ws_diagonal_args {
  int64_t m, n, lda, ldc, incx;
  const void *a, *x; /* x: element 0 */
  void *c;
  int32_t by_rows; /* diag(x) A */
};

#endif
