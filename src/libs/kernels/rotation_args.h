/* What the kernels of rotations take (kernels/rotation.cu), seen by the host (C) and by the kernels (CUDA C++). */
#ifndef WS_ROTATION_ARGS_H
#define WS_ROTATION_ARGS_H

#include "libs/kernels/gemm_args.h"

/* Of two vectors, by cosine and sine (rot) or param (rotm). Pointers are to element 0, increments may be negative. */
struct ws_rotation_args {
  int64_t n, incx, incy;
  void *x, *y;
  struct ws_scalar c, s;
  double flag, h11, h21, h12, h22; /* rotm; looked at where param is NULL */
  const void *param;               /* five numbers on the device, in the order above */
};

/* A rotation is made of numbers on the device: a, b, c, s of rotg; d1, d2, x1, y1, param of rotmg. */
struct ws_make_rotation_args {
  void *at[5];
};

#endif
