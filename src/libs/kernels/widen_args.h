/* What the kernel that widens complex numbers of bytes takes (kernels/widen.cu), seen by the host (C) and by the
 * kernels (CUDA C++). */
#ifndef WS_WIDEN_ARGS_H
#define WS_WIDEN_ARGS_H

#include <stdint.h>

struct ws_widen_args {
  const void *from;       /* column-major, real and imaginary part a signed byte each */
  void *to;               /* the same in FP32, columns without gaps */
  int64_t rows, cols, ld; /* ld: of `from`, in elements */
};

#endif
