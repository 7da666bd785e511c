/* What a pass of a Fourier transform takes (kernels/fft.cu), seen by the host (C) and by the kernels (CUDA C++). A pass
 * transforms many lines of `n` elements each in shared memory. Element e of a line is number d of its dimension, which
 * is e * each + what the line adds; what is loaded and stored where goes by d.
 */
#ifndef WS_FFT_ARGS_H
#define WS_FFT_ARGS_H

#include "libs/kernels/gemm_args.h"

enum {
  WS_FFT_STAGES = 11,
  WS_FFT_DIMS = 5,        /* of the index of a line */
  WS_FFT_LINES = 64,      /* of a CTA, at most; a power of two */
  WS_FFT_ROOM_F32 = 2048, /* elements of a CTA, at most */
  WS_FFT_ROOM_F64 = 1024,
  WS_FFT_THREADS = 256,
  WS_FFT_ROOT_BITS = 9,   /* roots of unity of large orders are products of two from tables: fine ones, 2^9 of them */
};

/* Where lines are loaded from, or stored to. */
struct ws_fft_side {
  void *at;
  int32_t type;       /* enum ws_type of a component */
  int32_t real;       /* elements are real numbers */
  int32_t by_line;    /* neighbouring threads take neighbouring lines, not elements */
  int32_t conj, conj_after; /* of a value, before and after the factor */
  int64_t stride;     /* in elements of the side, from d to d + 1 */
  int64_t each;       /* d of element e + 1 minus that of e */
  int64_t limit;      /* d from here on: 0 is loaded, nothing is stored */
  int64_t half, full; /* d > half: the conjugate of number full - d is loaded; half < 0: never */
  const void *factor; /* by d, of the kernel's type; NULL: none */
  int64_t dim[WS_FFT_DIMS];   /* elements of the side, of each index of the line */
  int64_t d_dim[WS_FFT_DIMS]; /* what it adds to d */
};

struct ws_fft_stage {
  int32_t radix, done; /* product of the radices before */
  int32_t step;        /* n / (radix * done) */
  uint32_t magic_done, magic_rest; /* for division by `done` and by n / radix: ceil(2^32 / x); 0: x is 1 */
};

struct ws_fft_args {
  int32_t n, stages, pitch; /* pitch: from line to line in shared memory */
  int32_t lines_bits;       /* log2 of the lines of a CTA */
  uint32_t magic_n;
  int32_t dims;
  int64_t lines, size[WS_FFT_DIMS];
  const void *roots;        /* w^k, w = exp(-2 pi i / n), k < n */
  /* What is stored is first multiplied by w^(k j), w of order `order`, j the sum of index * twist of the line. */
  const void *coarse, *fine; /* w^(m << WS_FFT_ROOT_BITS), w^m; NULL: this is not done */
  int64_t twist[WS_FFT_DIMS];
  struct ws_fft_stage stage[WS_FFT_STAGES];
  struct ws_fft_side in, out;
};

#endif
