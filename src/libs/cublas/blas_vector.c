/* Levels 1 and 2 of libcublas: the names and argument lists of its reference. */
#include <string.h>

#include "libs/cublas/blas_elements.h"
#include "libs/cublas/blas_vector.h"

/* Kernels are numbered from those of s on. */
static enum lib_kernel of_type(enum lib_kernel of_s, int t)
{
  return (enum lib_kernel)((int)of_s + t * (KERNEL_daxpy - KERNEL_saxpy));
}

static blas_status each(struct blas *h, enum lib_kernel of_s, int t, const struct ws_vector_args *a)
{
  const bool ok = kernel_set_launch(&h->kernels, of_type(of_s, t), blas_lines(a->n), h->stream, a);
  return ok ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

static blas_status two_vectors(struct blas *h, enum lib_kernel of_s, int t, int64_t n, const void *alpha, const void *x,
                               int64_t incx, const void *y, int64_t incy)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (n <= 0) return BLAS_SUCCESS;
  if (of_s == KERNEL_saxpy && !alpha) return BLAS_INVALID_VALUE;
  struct ws_vector_args a = {.n = n, .incx = incx, .incy = incy};
  a.x = first(x, n, incx, types[t].bytes);
  a.y = first(y, n, incy, types[t].bytes);
  if (!alpha) return each(h, of_s, t, &a);
  a.alpha = blas_scalar(alpha, types[t].data, h->pointer_mode == BLAS_DEVICE);
  return blas_is_zero(&a.alpha) ? BLAS_SUCCESS : each(h, of_s, t, &a); /* as the reference: x may be no memory */
}

static blas_status scale(struct blas *h, int t, int64_t n, const void *alpha, int alpha_type, void *x, int64_t incx)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (n <= 0 || incx <= 0) return BLAS_SUCCESS;
  if (!alpha) return BLAS_INVALID_VALUE;
  struct ws_vector_args a = {.n = n, .incy = incx, .y = x, .real_alpha = alpha_type != types[t].data};
  a.alpha = blas_scalar(alpha, alpha_type, h->pointer_mode == BLAS_DEVICE);
  return each(h, KERNEL_sscal, t, &a);
}

static blas_status rotate(struct blas *h, int t, int64_t n, void *x, int64_t incx, void *y, int64_t incy, const void *c,
                          const void *s)
{
  const bool device = blas_handle_is(h) && h->pointer_mode == BLAS_DEVICE;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (n <= 0) return BLAS_SUCCESS;
  if (!c || !s) return BLAS_INVALID_VALUE;
  struct ws_vector_args a = {.n = n, .incx = incx, .incy = incy};
  a.x = first(x, n, incx, types[t].bytes);
  a.y = first(y, n, incy, types[t].bytes);
  a.alpha = blas_scalar(c, types[t].data, device);
  a.beta = blas_scalar(s, types[t].data, device);
  const enum lib_kernel k = t == S ? KERNEL_srot : KERNEL_drot;
  return kernel_set_launch(&h->kernels, k, blas_lines(n), h->stream, &a) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

blas_status blas_reduce(struct blas *h, const struct blas_sum *s, int64_t n, const void *x, int64_t incx, const void *y,
                        int64_t incy, void *result)
{
  enum { MOST_ROOM = WS_SUM_CTAS * 32 + 256 };
  size_t bytes;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!result) return BLAS_INVALID_VALUE;
  const bool one = s->what >= WS_ASUM;
  if (h->pointer_mode == BLAS_HOST && (n <= 0 || (one && incx <= 0))) {
    memset(result, 0, (size_t)s->result_bytes);
    return BLAS_SUCCESS;
  }
  const uint64_t room = blas_room(h, h->stream, MOST_ROOM, &bytes);
  if (!room) return BLAS_ALLOC_FAILED;
  if (n <= 0 || (one && incx <= 0)) n = 0;
  struct ws_vector_args a = {.n = n, .incx = incx, .incy = incy, .what = s->what, .result_type = s->result_type,
                             .wide_index = s->wide_index};
  a.x = first(x, n, incx, (unsigned)s->bytes);
  a.y = first(y, n, incy, (unsigned)s->bytes);
  a.partial = (void *)(uintptr_t)(room + 256);
  a.result = h->pointer_mode == BLAS_DEVICE ? result : (void *)(uintptr_t)room;
  struct launch_shape shape = {(unsigned)((n + 1023) / 1024), 1, 1, 256};
  if (shape.x > WS_SUM_CTAS) shape.x = WS_SUM_CTAS;
  if (!shape.x) shape.x = 1;
  if (!kernel_set_launch(&h->kernels, s->kernel, shape, h->stream, &a)) return BLAS_EXECUTION_FAILED;
  if (shape.x > 1) {
    a.n = shape.x;
    shape.x = 1;
    if (!kernel_set_launch(&h->kernels, (enum lib_kernel)((int)s->kernel + 1), shape, h->stream, &a))
      return BLAS_EXECUTION_FAILED;
  }
  if (h->pointer_mode == BLAS_DEVICE) return BLAS_SUCCESS;
  if (cuMemcpyDtoHAsync_v2(result, room, (size_t)s->result_bytes, h->stream) != DRIVER_OK ||
      cuStreamSynchronize(h->stream) != DRIVER_OK)
    return BLAS_EXECUTION_FAILED;
  return BLAS_SUCCESS;
}

static blas_status sum_of(struct blas *h, enum ws_sum what, int t, int64_t n, const void *x, int64_t incx,
                          const void *y, int64_t incy, bool wide_index, void *result)
{
  const bool real = what >= WS_ASUM; /* the result is */
  const int data = real ? types[t].real : types[t].data;
  const int bytes = what >= WS_IAMAX ? (wide_index ? 8 : 4) : data == DATA_R_32F ? 4 : data == DATA_C_64F ? 16 : 8;
  const struct blas_sum s = {of_type(KERNEL_ssum, t), what, (int)types[t].bytes, bytes, blas_element(data), wide_index};
  return blas_reduce(h, &s, n, x, incx, y, incy, result);
}

struct matvec {
  int64_t m, n, lda, incx, incy, stride_a, stride_x, stride_y, batch;
  int op;
  bool pointers;
};

static blas_status gemv(struct blas *h, int t, const struct matvec *v, const void *alpha, const void *a, const void *x,
                        const void *beta, void *y)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  const bool device = h->pointer_mode == BLAS_DEVICE;
  if ((unsigned)v->op >= BLAS_OPS || v->m < 0 || v->n < 0 || v->batch < 0 || v->lda < (v->m > 1 ? v->m : 1) ||
      !v->incx || !v->incy || !alpha || !beta)
    return BLAS_INVALID_VALUE;
  if (v->m == 0 || v->n == 0 || v->batch == 0) return BLAS_SUCCESS;
  if (v->batch > 65535 || v->m > INT32_MAX || v->n > INT32_MAX) return blas_refuse("cublas?gemv", "so large a batch");
  const int64_t nx = v->op == BLAS_OP_N ? v->n : v->m, ny = v->op == BLAS_OP_N ? v->m : v->n;
  if (v->pointers && (v->incx < 0 || v->incy < 0)) return blas_refuse("cublas?gemvBatched", "negative increments");
  struct ws_matvec_args g = {.m = v->m, .n = v->n, .lda = v->lda, .incx = v->incx, .incy = v->incy, .a = a};
  g.x = first(x, nx, v->incx, types[t].bytes);
  g.y = first(y, ny, v->incy, types[t].bytes);
  g.stride_a = v->stride_a, g.stride_x = v->stride_x, g.stride_y = v->stride_y, g.pointers = v->pointers;
  g.conj = v->op == BLAS_OP_C;
  g.alpha = blas_scalar(alpha, types[t].data, device);
  g.beta = blas_scalar(beta, types[t].data, device);
  if (blas_is_zero(&g.alpha)) *(v->op == BLAS_OP_N ? &g.n : &g.m) = 0; /* sums of nothing: a and x may be no memory */
  struct launch_shape shape = {(unsigned)((v->m + 31) / 32), 1, (unsigned)v->batch, 256};
  if (v->op != BLAS_OP_N) shape.x = (unsigned)v->n;
  const enum lib_kernel k = of_type(v->op == BLAS_OP_N ? KERNEL_sgemv_n : KERNEL_sgemv_t, t);
  return kernel_set_launch(&h->kernels, k, shape, h->stream, &g) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

static blas_status ger(struct blas *h, int t, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
                       const void *y, int64_t incy, void *a, int64_t lda, bool conj)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !incx || !incy || !alpha) return BLAS_INVALID_VALUE;
  if (m == 0 || n == 0) return BLAS_SUCCESS;
  if (m > INT32_MAX || n > INT32_MAX) return blas_refuse("cublas?ger", "sizes from 2^31 on");
  struct ws_matvec_args g = {.m = m, .n = n, .lda = lda, .incx = incx, .incy = incy, .a = a, .conj = conj};
  g.x = first(x, m, incx, types[t].bytes);
  g.y = first(y, n, incy, types[t].bytes);
  g.alpha = blas_scalar(alpha, types[t].data, h->pointer_mode == BLAS_DEVICE);
  if (blas_is_zero(&g.alpha)) return BLAS_SUCCESS;
  const bool ok = kernel_set_launch(&h->kernels, of_type(KERNEL_sger, t), blas_lines(m * n), h->stream, &g);
  return ok ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

/* The names. NAME(s, rest): cublas s rest; V2: with the ending that the header gives the plain name. */
#define F PUBLIC blas_status
#define ALL(T, l, v2, sfx)                                                                                            \
  F cublas##l##axpy##v2(struct blas *h, INT n, const void *alpha, const void *x, INT incx, void *y, INT incy)         \
  {                                                                                                                   \
    return alpha ? two_vectors(h, KERNEL_saxpy, T, n, alpha, x, incx, y, incy) : BLAS_INVALID_VALUE;                  \
  }                                                                                                                   \
  F cublas##l##copy##v2(struct blas *h, INT n, const void *x, INT incx, void *y, INT incy)                            \
  {                                                                                                                   \
    return two_vectors(h, KERNEL_scopy, T, n, NULL, x, incx, y, incy);                                                \
  }                                                                                                                   \
  F cublas##l##swap##v2(struct blas *h, INT n, void *x, INT incx, void *y, INT incy)                                  \
  {                                                                                                                   \
    return two_vectors(h, KERNEL_sswap, T, n, NULL, x, incx, y, incy);                                                \
  }                                                                                                                   \
  F cublas##l##scal##v2(struct blas *h, INT n, const void *alpha, void *x, INT incx)                                  \
  {                                                                                                                   \
    return scale(h, T, n, alpha, types[T].data, x, incx);                                                             \
  }                                                                                                                   \
  F cublas##l##gemv##v2(struct blas *h, int op, INT m, INT n, const void *alpha, const void *a, INT lda,              \
                        const void *x, INT incx, const void *beta, void *y, INT incy)                                 \
  {                                                                                                                   \
    const struct matvec v = {m, n, lda, incx, incy, 0, 0, 0, 1, op, false};                                           \
    return gemv(h, T, &v, alpha, a, x, beta, y);                                                                      \
  }                                                                                                                   \
  F cublas##l##gemvStridedBatched##sfx(struct blas *h, int op, INT m, INT n, const void *alpha, const void *a,        \
                                       INT lda, long long sa, const void *x, INT incx, long long sx,                  \
                                       const void *beta, void *y,                                                     \
                                       INT incy, long long sy, INT batch)                                             \
  {                                                                                                                   \
    const struct matvec v = {m, n, lda, incx, incy, sa, sx, sy, batch, op, false};                                    \
    return gemv(h, T, &v, alpha, a, x, beta, y);                                                                      \
  }                                                                                                                   \
  F cublas##l##gemvBatched##sfx(struct blas *h, int op, INT m, INT n, const void *alpha, const void *const *a,        \
                                INT lda, const void *const *x, INT incx, const void *beta,                            \
                                void *const *y, INT incy, INT batch)                                                  \
  {                                                                                                                   \
    const struct matvec v = {m, n, lda, incx, incy, 0, 0, 0, batch, op, true};                                        \
    return gemv(h, T, &v, alpha, a, x, beta, (void *)(uintptr_t)y);                                                   \
  }

#define DOT(T, name, what)                                                                                            \
  F name(struct blas *h, INT n, const void *x, INT incx, const void *y, INT incy, void *result)                       \
  {                                                                                                                   \
    return sum_of(h, what, T, n, x, incx, y, incy, false, result);                                                    \
  }
#define SUM(T, name, what)                                                                                            \
  F name(struct blas *h, INT n, const void *x, INT incx, void *result)                                                \
  {                                                                                                                   \
    return sum_of(h, what, T, n, x, incx, NULL, 0, false, result);                                                    \
  }
#define INDEX64(T, name, what)                                                                                        \
  F name(struct blas *h, int64_t n, const void *x, int64_t incx, int64_t *result)                                     \
  {                                                                                                                   \
    return sum_of(h, what, T, n, x, incx, NULL, 0, true, result);                                                     \
  }
#define GER(T, name, conj)                                                                                            \
  F name(struct blas *h, INT m, INT n, const void *alpha, const void *x, INT incx, const void *y, INT incy,           \
         void *a, INT lda)                                                                                            \
  {                                                                                                                   \
    return ger(h, T, m, n, alpha, x, incx, y, incy, a, lda, conj);                                                    \
  }
#define ROT(T, name)                                                                                                  \
  F name(struct blas *h, INT n, void *x, INT incx, void *y, INT incy, const void *c, const void *s)                   \
  {                                                                                                                   \
    return rotate(h, T, n, x, incx, y, incy, c, s);                                                                   \
  }
#define SCALE_REAL(T, name)                                                                                           \
  F name(struct blas *h, INT n, const void *alpha, void *x, INT incx)                                                 \
  {                                                                                                                   \
    return scale(h, T, n, alpha, types[T].real, x, incx);                                                             \
  }
/* All functions of one width of INT; `w` ends their names. INDEX: how those give the place of an element. */
#define EVERY_VECTOR(INDEX, w) \
  ALL(S, S, _v2##w, w) \
  ALL(D, D, _v2##w, w) \
  ALL(C, C, _v2##w, w) \
  ALL(Z, Z, _v2##w, w) \
  DOT(S, cublasSdot_v2##w, WS_DOT) \
  GER(S, cublasSger_v2##w, false) \
  ROT(S, cublasSrot_v2##w) \
  DOT(D, cublasDdot_v2##w, WS_DOT) \
  GER(D, cublasDger_v2##w, false) \
  ROT(D, cublasDrot_v2##w) \
  DOT(C, cublasCdotu_v2##w, WS_DOT) \
  DOT(C, cublasCdotc_v2##w, WS_DOTC) \
  GER(C, cublasCgeru_v2##w, false) \
  GER(C, cublasCgerc_v2##w, true) \
  DOT(Z, cublasZdotu_v2##w, WS_DOT) \
  DOT(Z, cublasZdotc_v2##w, WS_DOTC) \
  GER(Z, cublasZgeru_v2##w, false) \
  GER(Z, cublasZgerc_v2##w, true) \
  SCALE_REAL(C, cublasCsscal_v2##w) \
  SCALE_REAL(Z, cublasZdscal_v2##w) \
  SUM(S, cublasSasum_v2##w, WS_ASUM) \
  SUM(S, cublasSnrm2_v2##w, WS_NRM2) \
  SUM(D, cublasDasum_v2##w, WS_ASUM) \
  SUM(D, cublasDnrm2_v2##w, WS_NRM2) \
  SUM(C, cublasScasum_v2##w, WS_ASUM) \
  SUM(C, cublasScnrm2_v2##w, WS_NRM2) \
  SUM(Z, cublasDzasum_v2##w, WS_ASUM) \
  SUM(Z, cublasDznrm2_v2##w, WS_NRM2) \
  INDEX(S, cublasIsamax_v2##w, WS_IAMAX) \
  INDEX(S, cublasIsamin_v2##w, WS_IAMIN) \
  INDEX(D, cublasIdamax_v2##w, WS_IAMAX) \
  INDEX(D, cublasIdamin_v2##w, WS_IAMIN) \
  INDEX(C, cublasIcamax_v2##w, WS_IAMAX) \
  INDEX(C, cublasIcamin_v2##w, WS_IAMIN) \
  INDEX(Z, cublasIzamax_v2##w, WS_IAMAX) \
  INDEX(Z, cublasIzamin_v2##w, WS_IAMIN)

#define INT int
EVERY_VECTOR(SUM, )
#undef INT

#define INT int64_t
EVERY_VECTOR(INDEX64, _64)
#undef INT
