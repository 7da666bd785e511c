/* Batches of matrix times vector in half precision, factors and sums in FP32. y^T = x^T op(A)^T is a product of
 * matrices of one row, whose leading dimensions are the increments. */
#include "libs/cublas/blas_product.h"

struct half_vectors {
  int op;
  int64_t m, n;
  const void *alpha, *beta;
  struct blas_operand a, x, y; /* ld of x and y: increments */
  int64_t batch;
  bool pointers;
};

static blas_status multiply(struct blas *h, const struct half_vectors *v, const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if ((unsigned)v->op >= BLAS_OPS || v->m < 0 || v->n < 0 || v->batch < 0 || v->a.ld < (v->m > 1 ? v->m : 1) ||
      !v->x.ld || !v->y.ld || !v->alpha || !v->beta)
    return BLAS_INVALID_VALUE;
  if (v->m == 0 || v->n == 0 || v->batch == 0) return BLAS_SUCCESS;
  if (v->x.ld < 0 || v->y.ld < 0) return blas_refuse(function, "negative increments");
  const bool turned = v->op != BLAS_OP_N;
  const struct blas_product p = {.op_a = BLAS_OP_N, .op_b = turned ? BLAS_OP_N : BLAS_OP_T, .m = 1,
                                 .n = turned ? v->n : v->m, .k = turned ? v->m : v->n, .batch = v->batch, .a = v->x,
                                 .b = v->a, .c = v->y, .d = v->y, .pointers = v->pointers, .alpha = v->alpha,
                                 .beta = v->beta, .on_device = h->pointer_mode == BLAS_DEVICE, .scale = DATA_R_32F,
                                 .compute = COMPUTE_32F};
  return blas_multiply(h, &p, h->stream, function);
}

/* The names: the types of A and x, of the factors, of y; w ends them. */
#define F PUBLIC blas_status
#define HALF(l, in, out, w)                                                                                           \
  F cublas##l##gemvBatched##w(struct blas *h, int op, INT m, INT n, const void *alpha, const void *const *a, INT lda, \
                              const void *const *x, INT incx, const void *beta, void *const *y, INT incy, INT batch)  \
  {                                                                                                                   \
    const struct half_vectors v = {op, m, n, alpha, beta, {a, lda, 0, in}, {x, incx, 0, in}, {y, incy, 0, out},       \
                                   batch, true};                                                                      \
    return multiply(h, &v, "cublas" #l "gemvBatched");                                                                \
  }                                                                                                                   \
  F cublas##l##gemvStridedBatched##w(struct blas *h, int op, INT m, INT n, const void *alpha, const void *a, INT lda, \
                                     long long sa, const void *x, INT incx, long long sx, const void *beta, void *y,  \
                                     INT incy, long long sy, INT batch)                                               \
  {                                                                                                                   \
    const struct half_vectors v = {op, m, n, alpha, beta, {a, lda, sa, in}, {x, incx, sx, in}, {y, incy, sy, out},    \
                                   batch, false};                                                                     \
    return multiply(h, &v, "cublas" #l "gemvStridedBatched");                                                         \
  }
#define EVERY_TYPE(w)                    \
  HALF(HSH, DATA_R_16F, DATA_R_16F, w)   \
  HALF(HSS, DATA_R_16F, DATA_R_32F, w)   \
  HALF(TST, DATA_R_16BF, DATA_R_16BF, w) \
  HALF(TSS, DATA_R_16BF, DATA_R_32F, w)

#define INT int
EVERY_TYPE()
#undef INT

#define INT int64_t
EVERY_TYPE(_64)
#undef INT
