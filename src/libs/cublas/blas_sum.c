/* Sums of two matrices (geam). */
#include "libs/cublas/blas_product.h"
#include "libs/kernels/geam_args.h"

struct sum_operand {
  int op;
  const void *factor, *at;
  int64_t ld;
};

static bool fits(const struct sum_operand *o, int64_t m, int64_t n)
{
  const int64_t rows = o->op == BLAS_OP_N ? m : n;
  return (unsigned)o->op < BLAS_OPS && o->factor && o->ld >= (rows > 1 ? rows : 1);
}

static struct ws_geam_operand operand(const struct blas *h, const struct sum_operand *o, int data)
{
  return (struct ws_geam_operand){.at = o->at, .ld = o->ld, .transposed = o->op != BLAS_OP_N,
                                  .conj = o->op == BLAS_OP_C,
                                  .factor = blas_scalar(o->factor, data, h->pointer_mode == BLAS_DEVICE)};
}

static blas_status sum(struct blas *h, enum lib_kernel kernel, int data, int64_t m, int64_t n,
                       const struct sum_operand *a, const struct sum_operand *b, void *c, int64_t ldc)
{
  enum { MOST_CTAS = 4096 };
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || !fits(a, m, n) || !fits(b, m, n) || ldc < (m > 1 ? m : 1)) return BLAS_INVALID_VALUE;
  if (m == 0 || n == 0) return BLAS_SUCCESS;
  if (m > INT32_MAX || n > INT32_MAX) return blas_refuse("cublas?geam", "sizes from 2^31 on");
  const struct ws_geam_args g = {.m = m, .n = n, .ldc = ldc, .c = c, .a = operand(h, a, data),
                                 .b = operand(h, b, data)};
  const int64_t squares = (m + 31) / 32 * ((n + 31) / 32);
  const struct launch_shape shape = {(unsigned)(squares < MOST_CTAS ? squares : MOST_CTAS), 1, 1, 256};
  return kernel_set_launch(&h->kernels, kernel, shape, h->stream, &g) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

#define GEAM(name, kernel, data, INT)                                                                               \
  PUBLIC blas_status name(struct blas *h, int op_a, int op_b, INT m, INT n, const void *alpha, const void *a,       \
                          INT lda, const void *beta, const void *b, INT ldb, void *c, INT ldc)                      \
  {                                                                                                                 \
    const struct sum_operand x = {op_a, alpha, a, lda}, y = {op_b, beta, b, ldb};                                   \
    return sum(h, kernel, data, m, n, &x, &y, c, ldc);                                                              \
  }
#define GEAM_BOTH(l, kernel, data)               \
  GEAM(cublas##l##geam, kernel, data, int)       \
  GEAM(cublas##l##geam_64, kernel, data, int64_t)
GEAM_BOTH(S, KERNEL_sgeam, DATA_R_32F)
GEAM_BOTH(D, KERNEL_dgeam, DATA_R_64F)
GEAM_BOTH(C, KERNEL_cgeam, DATA_C_32F)
GEAM_BOTH(Z, KERNEL_zgeam, DATA_C_64F)
