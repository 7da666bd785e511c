/* What the kernels on vectors and matrices of which a part is stored take (kernels/stored.cu), seen by the host (C)
 * and by the kernels (CUDA C++): level 2 of BLAS but for gemv and ger.
 */
#ifndef WS_STORED_ARGS_H
#define WS_STORED_ARGS_H

#include "libs/kernels/gemm_args.h"

enum ws_storage { WS_FULL, WS_BAND, WS_PACKED_LOWER, WS_PACKED_UPPER };

/* Of A, column-major, elements (r, c) with c - above <= r <= c + below are stored: a triangle has below or above 0, and
 * the other one its bandwidth or, where it has none, its order. Where column c's row 0 would lie, in elements from `a`
 * on: WS_FULL: c * ld; WS_BAND: c * (ld - 1) + above; WS_PACKED_LOWER, _UPPER: the triangle's columns one behind
 * another. */
struct ws_stored {
  const void *a;
  int64_t rows, columns, ld, below, above;
  int32_t storage; /* enum ws_storage */
};

/* Pointers to vectors are to their element 0; increments may be negative. */
struct ws_stored_product_args {
  struct ws_stored a;
  int64_t outputs, incx, incy; /* outputs: elements of y */
  const void *x;
  void *y;
  int32_t by_rows;    /* y's element i takes what is stored of row i, */
  int32_t by_columns; /* or of column i; both: A is symmetric or Hermitian, a triangle of it is stored */
  int32_t conj;       /* elements by columns are conjugates */
  int32_t unit;       /* the diagonal is 1, and not read */
  struct ws_scalar alpha, beta; /* neither A and x, nor y, are read where it is 0 */
};

/* op(A) x = b, x in b's place, A a triangle. */
struct ws_stored_solve_args {
  struct ws_stored a;
  int64_t incx;
  void *x;
  int32_t transposed, conj, unit;
  int32_t forward; /* op(A) is lower: from its first row on */
};

/* What is stored of A += alpha x y^T and, with `two`, + alpha y x^T; with `conj` alpha x y^H + conj(alpha) y x^H, and
 * the imaginary part of A's diagonal becomes 0. alpha 0: A stays as it is. */
struct ws_stored_update_args {
  struct ws_stored a;
  int64_t incx, incy;
  const void *x, *y;
  int32_t two, conj;
  int32_t real; /* alpha is, also of complex numbers */
  struct ws_scalar alpha;
};

/* The same triangle in another storage. */
struct ws_stored_copy_args {
  struct ws_stored from, to;
};

#endif
