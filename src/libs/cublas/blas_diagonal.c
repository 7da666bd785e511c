/* Products of a matrix and a diagonal one (dgmm). */
#include "libs/cublas/blas_types.h"
#include "libs/kernels/diagonal_args.h"

static blas_status multiply(struct blas *h, enum lib_kernel k, unsigned bytes, int side,
                            const struct ws_diagonal_args *g)
{
  enum { MOST_CTAS = 4096 };
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  const int64_t least = g->m > 1 ? g->m : 1, length = side == BLAS_LEFT ? g->m : g->n;
  if ((unsigned)side > 1 || g->m < 0 || g->n < 0 || g->lda < least || g->ldc < least) return BLAS_INVALID_VALUE;
  if (g->m == 0 || g->n == 0) return BLAS_SUCCESS;
  if (g->m > INT32_MAX || g->n > INT32_MAX) return blas_refuse("cublas?dgmm", "sizes from 2^31 on");
  struct ws_diagonal_args a = *g;
  a.by_rows = side == BLAS_LEFT;
  if (a.incx < 0) a.x = (const char *)a.x + (1 - length) * a.incx * (int64_t)bytes;
  const int64_t ctas = (a.m * a.n + 255) / 256;
  const struct launch_shape shape = {(unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), 1, 1, 256};
  return kernel_set_launch(&h->kernels, k, shape, h->stream, &a) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

#define DGMM(name, kernel, bytes, INT)                                                                                \
  PUBLIC blas_status name(struct blas *h, int side, INT m, INT n, const void *a, INT lda, const void *x, INT incx,    \
                          void *c, INT ldc)                                                                           \
  {                                                                                                                   \
    const struct ws_diagonal_args g = {.m = m, .n = n, .lda = lda, .ldc = ldc, .incx = incx, .a = a, .x = x, .c = c}; \
    return multiply(h, kernel, bytes, side, &g);                                                                      \
  }
#define DGMM_BOTH(l, kernel, bytes)                   \
  DGMM(cublas##l##dgmm, kernel, bytes, int)           \
  DGMM(cublas##l##dgmm_64, kernel, bytes, int64_t)
DGMM_BOTH(S, KERNEL_sdgmm, 4)
DGMM_BOTH(D, KERNEL_ddgmm, 8)
DGMM_BOTH(C, KERNEL_cdgmm, 8)
DGMM_BOTH(Z, KERNEL_zdgmm, 16)
