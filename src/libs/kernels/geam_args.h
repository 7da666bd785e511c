/* C[m x n] = alpha * op(A) + beta * op(B), column-major, for kernels/geam.cu: seen by the host (C) and by the kernels
 * (CUDA C++). */
#ifndef WS_GEAM_ARGS_H
#define WS_GEAM_ARGS_H

#include "libs/kernels/gemm_args.h"

struct ws_geam_operand {
  const void *at; /* not looked at when its factor is 0 */
  int64_t ld;
  int32_t transposed, conj, type; /* type: enum ws_type, of warpstep_geam_mixed alone */
  struct ws_scalar factor;
};

struct ws_geam_args {
  int64_t m, n, ldc;
  void *c;
  int32_t c_type;
  struct ws_geam_operand a, b;
};

#endif
