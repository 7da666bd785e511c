/* Blocks on the diagonal of a matrix of which one half is stored, column-major, for kernels/blas_triangle.cu: seen by
 * the host (C) and by the kernels (CUDA C++). */
#ifndef WS_TRIANGLE_ARGS_H
#define WS_TRIANGLE_ARGS_H

#include "libs/kernels/gemm_args.h"

/* What the half that is not stored stands for: zeros, the stored one's mirror image, its conjugate. */
enum ws_triangle_kind { WS_TRIANGULAR, WS_SYMMETRIC, WS_HERMITIAN };

/* Columns of a block that a CTA has. */
enum { WS_TRIANGLE_COLUMNS = 16 };

struct ws_triangle_args {
  void *matrix; /* its first block on the diagonal */
  void *blocks; /* whole squares, one after the other; blockIdx.x is one's number */
  int64_t n, ld; /* of the matrix, from the first block on */
  int32_t side; /* of a block, whole times WS_TRIANGLE_COLUMNS */
  int32_t kind, upper, unit; /* unit: the diagonal is ones and not read */
  struct ws_scalar beta;
};

/* Factors as products take them (in this order), of a matrix's type, from those on the device. */
enum ws_factor { WS_ALPHA, WS_CONJ_ALPHA, WS_BETA, WS_ONE, WS_ZERO, WS_FACTORS };

struct ws_factors_args {
  const void *alpha, *beta; /* beta may be 0 */
  int32_t real_alpha, real_beta; /* of complex matrices: these are real */
  void *to;
};

#endif
