/* What the kernels on vectors take (kernels/vectors.cu), seen by the host (C) and by the kernels (CUDA C++). Matrices
 * are column-major here.
 */
#ifndef WS_VECTOR_ARGS_H
#define WS_VECTOR_ARGS_H

#include "libs/kernels/gemm_args.h"

enum ws_sum { WS_DOT, WS_DOTC, WS_ASUM, WS_NRM2, WS_IAMAX, WS_IAMIN };

enum { WS_SUM_CTAS = 64 }; /* at most; each leaves 16 bytes and an index in `partial` */

struct ws_vector_args {
  int64_t n, incx, incy; /* elements; pointers are to element 0, increments may be negative */
  const void *x;
  void *y;
  struct ws_scalar alpha, beta; /* rot: cosine and sine */
  int32_t what;                 /* enum ws_sum */
  int32_t result_type;
  int32_t type;                 /* of 16-bit elements: WS_F16 or WS_BF16 */
  int32_t real_alpha;           /* of complex vectors: the factor of scal is real */
  int32_t wide_index;           /* the index of an extreme has 64 bits */
  void *result, *partial;
};

/* y[m] = alpha * op(A) x + beta * y, and A += alpha * x y^T (y^H with `conj`). */
struct ws_matvec_args {
  int64_t m, n, lda, incx, incy;
  const void *a, *x;
  void *y;
  int64_t stride_a, stride_x, stride_y;
  int32_t transposed, conj, pointers;
  struct ws_scalar alpha, beta;
};

/* out[i] = sum over j of x[i * si + j * sj]. */
struct ws_sums_args {
  int64_t n, terms, si, sj;
  const void *x;
  void *out;
  int32_t x_type, out_type;
};

#endif
