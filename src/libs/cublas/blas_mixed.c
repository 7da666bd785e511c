/* Level 1 of mixed types (…Ex). The tables of cuBLAS's reference have vectors of one type, computed with in it, and
 * vectors in half precision, computed with in FP32. The former are the functions of that type; the latter have kernels
 * of their own. copy, swap, asum, iamax, iamin, rotg, rotm and rotmg are declared in its header, but the reference says
 * nothing of them: the types are those of the others. A number that is no type of any row is an invalid value, and rows
 * that are not there are not supported. */
#include "libs/cublas/blas_elements.h"
#include "libs/cublas/blas_vector.h"

/* The functions of one type. */
struct plain {
  int data, norm; /* cudaDataType of a vector, and of its norm */
  blas_axpy *axpy;
  blas_copy *copy;
  blas_swap *swap;
  blas_scal *scal;
  blas_dot *dot, *dotc;
  blas_norm *nrm2, *asum;
  blas_index *index[2]; /* of the largest, the least */
  blas_index_64 *index_64[2];
  blas_rot *rot, *real_rot; /* by a sine of the type, by a real one */
  blas_rotm *rotm;
  blas_rotg *rotg;
  blas_rotmg *rotmg;
};

/* l: of the type; s, i: in names of norms and of indices; u, c: endings of products. */
#define PLAIN(l, s, i, u, c)                                                                                       \
  .axpy = cublas##l##axpy_v2_64, .copy = cublas##l##copy_v2_64, .swap = cublas##l##swap_v2_64,                        \
  .scal = cublas##l##scal_v2_64, .dot = cublas##l##dot##u##_v2_64, .dotc = cublas##l##dot##c##_v2_64,                 \
  .nrm2 = cublas##s##nrm2_v2_64, .asum = cublas##s##asum_v2_64, .rot = cublas##l##rot_v2_64,                          \
  .index = {cublasI##i##amax_v2, cublasI##i##amin_v2}, .index_64 = {cublasI##i##amax_v2_64, cublasI##i##amin_v2_64},  \
  .rotg = cublas##l##rotg_v2

static const struct plain plain[] = {
  {DATA_R_32F, DATA_R_32F, PLAIN(S, S, s, , ), .rotm = cublasSrotm_v2_64, .rotmg = cublasSrotmg_v2},
  {DATA_R_64F, DATA_R_64F, PLAIN(D, D, d, , ), .rotm = cublasDrotm_v2_64, .rotmg = cublasDrotmg_v2},
  {DATA_C_32F, DATA_R_32F, PLAIN(C, Sc, c, u, c), .real_rot = cublasCsrot_v2_64},
  {DATA_C_64F, DATA_R_64F, PLAIN(Z, Dz, z, u, c), .real_rot = cublasZdrot_v2_64},
};

static bool is_half(int data) { return data == DATA_R_16F || data == DATA_R_16BF; }

/* NULL: it has no functions of its own. */
static const struct plain *plain_of(int data)
{
  for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
    if (plain[i].data == data) return &plain[i];
  return NULL;
}

/* The types of a call: the vectors' one, another that belongs to it, and what is computed with. */
static blas_status types_fit(const struct blas *h, int data, const int others[3], const int wanted[3],
                             const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!is_half(data) && !plain_of(data)) return BLAS_INVALID_VALUE;
  for (int i = 0; i < 3; i++)
    if (!is_half(others[i]) && !plain_of(others[i])) return BLAS_INVALID_VALUE;
  for (int i = 0; i < 3; i++)
    if (others[i] != wanted[i]) return blas_refuse(function, "these types together");
  return BLAS_SUCCESS;
}

static int computed(int data) { return is_half(data) ? DATA_R_32F : data; }

static struct ws_vector_args half_args(int data, int64_t n, const void *x, int64_t incx, void *y, int64_t incy)
{
  return (struct ws_vector_args){.n = n, .incx = incx, .incy = incy, .x = first(x, n, incx, 2),
                                 .y = first(y, n, incy, 2), .type = blas_element(data)};
}

static blas_status over_halves(struct blas *h, enum lib_kernel k, const struct ws_vector_args *a)
{
  return kernel_set_launch(&h->kernels, k, blas_lines(a->n), h->stream, a) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

/* A vector as a call has it. */
struct any_vector {
  void *at;
  int type;
  int64_t inc;
};

static blas_status axpy_ex(struct blas *h, int64_t n, const void *alpha, int alpha_type, const struct any_vector *x,
                           const struct any_vector *y, int compute)
{
  const int all = computed(x->type);
  const blas_status s = types_fit(h, x->type, (const int[]){y->type, alpha_type, compute},
                                  (const int[]){x->type, all, all}, "cublasAxpyEx");
  if (s != BLAS_SUCCESS) return s;
  if (!is_half(x->type)) return plain_of(x->type)->axpy(h, n, alpha, x->at, x->inc, y->at, y->inc);
  if (!alpha) return BLAS_INVALID_VALUE;
  if (n <= 0) return BLAS_SUCCESS;
  struct ws_vector_args a = half_args(x->type, n, x->at, x->inc, y->at, y->inc);
  a.alpha = blas_scalar(alpha, DATA_R_32F, h->pointer_mode == BLAS_DEVICE);
  return blas_is_zero(&a.alpha) ? BLAS_SUCCESS : over_halves(h, KERNEL_haxpy, &a);
}

static blas_status scal_ex(struct blas *h, int64_t n, const void *alpha, int alpha_type, const struct any_vector *x,
                           int compute)
{
  const int all = computed(x->type);
  const blas_status s = types_fit(h, x->type, (const int[]){x->type, alpha_type, compute},
                                  (const int[]){x->type, all, all}, "cublasScalEx");
  if (s != BLAS_SUCCESS) return s;
  if (!is_half(x->type)) return plain_of(x->type)->scal(h, n, alpha, x->at, x->inc);
  if (n <= 0 || x->inc <= 0) return BLAS_SUCCESS;
  if (!alpha) return BLAS_INVALID_VALUE;
  struct ws_vector_args a = half_args(x->type, n, NULL, 1, x->at, x->inc);
  a.alpha = blas_scalar(alpha, DATA_R_32F, h->pointer_mode == BLAS_DEVICE);
  return over_halves(h, KERNEL_hscal, &a);
}

/* copy and swap. */
static blas_status move_ex(struct blas *h, bool swaps, int64_t n, const struct any_vector *x,
                           const struct any_vector *y)
{
  const int t = x->type;
  const blas_status s = types_fit(h, t, (const int[]){y->type, t, t}, (const int[]){t, t, t},
                                  swaps ? "cublasSwapEx" : "cublasCopyEx");
  if (s != BLAS_SUCCESS) return s;
  const struct plain *p = plain_of(t);
  if (p && swaps) return p->swap(h, n, x->at, x->inc, y->at, y->inc);
  if (p) return p->copy(h, n, x->at, x->inc, y->at, y->inc);
  if (n <= 0) return BLAS_SUCCESS;
  const struct ws_vector_args a = half_args(t, n, x->at, x->inc, y->at, y->inc);
  return over_halves(h, swaps ? KERNEL_hswap : KERNEL_hcopy, &a);
}

static struct blas_sum half_sum(int data, enum ws_sum what)
{
  const enum lib_kernel k = data == DATA_R_16F ? KERNEL_hsum : KERNEL_bsum;
  return (struct blas_sum){.kernel = k, .what = what, .bytes = 2, .result_bytes = 2, .result_type = blas_element(data)};
}

static blas_status dot_ex(struct blas *h, enum ws_sum what, int64_t n, const struct any_vector *x,
                          const struct any_vector *y, void *result, int result_type, int compute)
{
  const int t = x->type;
  const blas_status s = types_fit(h, t, (const int[]){y->type, result_type, compute},
                                  (const int[]){t, t, computed(t)}, what == WS_DOT ? "cublasDotEx" : "cublasDotcEx");
  if (s != BLAS_SUCCESS) return s;
  const struct plain *p = plain_of(t);
  if (p) return (what == WS_DOT ? p->dot : p->dotc)(h, n, x->at, x->inc, y->at, y->inc, result);
  const struct blas_sum of = half_sum(t, what);
  return blas_reduce(h, &of, n, x->at, x->inc, y->at, y->inc, result);
}

/* nrm2 and asum. */
static blas_status norm_ex(struct blas *h, enum ws_sum what, int64_t n, const struct any_vector *x, void *result,
                           int result_type, int compute)
{
  const struct plain *p = plain_of(x->type);
  const int norm = p ? p->norm : x->type;
  const blas_status s = types_fit(h, x->type, (const int[]){x->type, result_type, compute},
                                  (const int[]){x->type, norm, computed(norm)},
                                  what == WS_NRM2 ? "cublasNrm2Ex" : "cublasAsumEx");
  if (s != BLAS_SUCCESS) return s;
  if (p) return (what == WS_NRM2 ? p->nrm2 : p->asum)(h, n, x->at, x->inc, result);
  const struct blas_sum of = half_sum(x->type, what);
  return blas_reduce(h, &of, n, x->at, x->inc, NULL, 0, result);
}

/* iamax and iamin; the index has as many bits as n. */
static blas_status index_ex(struct blas *h, enum ws_sum what, int64_t n, const struct any_vector *x, void *result,
                            bool wide)
{
  const struct plain *p = plain_of(x->type);
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!p && !is_half(x->type)) return BLAS_INVALID_VALUE;
  if (p && wide) return p->index_64[what == WS_IAMIN](h, n, x->at, x->inc, result);
  if (p) return p->index[what == WS_IAMIN](h, (int)n, x->at, (int)x->inc, result);
  struct blas_sum of = half_sum(x->type, what);
  of.wide_index = wide;
  of.result_bytes = wide ? 8 : 4;
  return blas_reduce(h, &of, n, x->at, x->inc, NULL, 0, result);
}

static blas_status rot_ex(struct blas *h, int64_t n, const struct any_vector *x, const struct any_vector *y,
                          const void *c, const void *sine, int cs_type, int compute)
{
  const struct plain *p = plain_of(x->type);
  const int t = x->type;
  const bool by_real = p && p->real_rot && cs_type == p->norm;
  const blas_status s = types_fit(h, t, (const int[]){y->type, cs_type, compute},
                                  (const int[]){t, by_real ? cs_type : t, computed(t)}, "cublasRotEx");
  if (s != BLAS_SUCCESS) return s;
  if (p) return (by_real ? p->real_rot : p->rot)(h, n, x->at, x->inc, y->at, y->inc, c, sine);
  if (n <= 0) return BLAS_SUCCESS;
  if (!c || !sine) return BLAS_INVALID_VALUE;
  struct ws_vector_args a = half_args(t, n, x->at, x->inc, y->at, y->inc);
  a.alpha = blas_scalar(c, cs_type, h->pointer_mode == BLAS_DEVICE);
  a.beta = blas_scalar(sine, cs_type, h->pointer_mode == BLAS_DEVICE);
  return over_halves(h, KERNEL_hrot, &a);
}

static blas_status rotm_ex(struct blas *h, int64_t n, const struct any_vector *x, const struct any_vector *y,
                           const void *param, int param_type, int compute)
{
  const int t = x->type;
  const blas_status s = types_fit(h, t, (const int[]){y->type, param_type, compute}, (const int[]){t, t, t},
                                  "cublasRotmEx");
  if (s != BLAS_SUCCESS) return s;
  if (!plain_of(t) || !plain_of(t)->rotm) return blas_refuse("cublasRotmEx", "vectors of this type");
  return plain_of(t)->rotm(h, n, x->at, x->inc, y->at, y->inc, param);
}

/* The names. */
#define F PUBLIC blas_status
#define VECTOR(p, type, inc) &(const struct any_vector){(void *)(uintptr_t)(p), type, inc}
#define DOT_EX(name, what)                                                                                            \
  F name(struct blas *h, INT n, const void *x, int xt, INT incx, const void *y, int yt, INT incy, void *result,       \
         int rt, int compute)                                                                                         \
  {                                                                                                                   \
    return dot_ex(h, what, n, VECTOR(x, xt, incx), VECTOR(y, yt, incy), result, rt, compute);                         \
  }
#define NORM_EX(name, what)                                                                                           \
  F name(struct blas *h, INT n, const void *x, int xt, INT incx, void *result, int rt, int compute)                   \
  {                                                                                                                   \
    return norm_ex(h, what, n, VECTOR(x, xt, incx), result, rt, compute);                                             \
  }
#define INDEX_EX(name, what)                                                                                          \
  F name(struct blas *h, INT n, const void *x, int xt, INT incx, INT *result)                                         \
  {                                                                                                                   \
    return index_ex(h, what, n, VECTOR(x, xt, incx), result, sizeof n == 8);                                          \
  }
#define EVERY_EX(w)                                                                                                   \
  F cublasAxpyEx##w(struct blas *h, INT n, const void *alpha, int alpha_type, const void *x, int xt, INT incx,        \
                    void *y, int yt, INT incy, int compute)                                                           \
  {                                                                                                                   \
    return axpy_ex(h, n, alpha, alpha_type, VECTOR(x, xt, incx), VECTOR(y, yt, incy), compute);                       \
  }                                                                                                                   \
  F cublasScalEx##w(struct blas *h, INT n, const void *alpha, int alpha_type, void *x, int xt, INT incx, int compute) \
  {                                                                                                                   \
    return scal_ex(h, n, alpha, alpha_type, VECTOR(x, xt, incx), compute);                                            \
  }                                                                                                                   \
  F cublasCopyEx##w(struct blas *h, INT n, const void *x, int xt, INT incx, void *y, int yt, INT incy)                \
  {                                                                                                                   \
    return move_ex(h, false, n, VECTOR(x, xt, incx), VECTOR(y, yt, incy));                                            \
  }                                                                                                                   \
  F cublasSwapEx##w(struct blas *h, INT n, void *x, int xt, INT incx, void *y, int yt, INT incy)                      \
  {                                                                                                                   \
    return move_ex(h, true, n, VECTOR(x, xt, incx), VECTOR(y, yt, incy));                                             \
  }                                                                                                                   \
  F cublasRotEx##w(struct blas *h, INT n, void *x, int xt, INT incx, void *y, int yt, INT incy, const void *c,        \
                   const void *s, int cs_type, int compute)                                                           \
  {                                                                                                                   \
    return rot_ex(h, n, VECTOR(x, xt, incx), VECTOR(y, yt, incy), c, s, cs_type, compute);                            \
  }                                                                                                                   \
  F cublasRotmEx##w(struct blas *h, INT n, void *x, int xt, INT incx, void *y, int yt, INT incy, const void *param,   \
                    int param_type, int compute)                                                                      \
  {                                                                                                                   \
    return rotm_ex(h, n, VECTOR(x, xt, incx), VECTOR(y, yt, incy), param, param_type, compute);                       \
  }                                                                                                                   \
  DOT_EX(cublasDotEx##w, WS_DOT)                                                                                      \
  DOT_EX(cublasDotcEx##w, WS_DOTC)                                                                                    \
  NORM_EX(cublasNrm2Ex##w, WS_NRM2)                                                                                   \
  NORM_EX(cublasAsumEx##w, WS_ASUM)                                                                                   \
  INDEX_EX(cublasIamaxEx##w, WS_IAMAX)                                                                                \
  INDEX_EX(cublasIaminEx##w, WS_IAMIN)

#define INT int
EVERY_EX()
#undef INT
#define INT int64_t
EVERY_EX(_64)
#undef INT

/* The cosine is real: in memory that is where the real part of a complex one is, too. */
F cublasRotgEx(struct blas *h, void *a, void *b, int ab_type, void *c, void *s, int cs_type, int compute)
{
  const blas_status status = types_fit(h, ab_type, (const int[]){cs_type, compute, compute},
                                       (const int[]){ab_type, ab_type, ab_type}, "cublasRotgEx");
  if (status != BLAS_SUCCESS) return status;
  if (!plain_of(ab_type)) return blas_refuse("cublasRotgEx", "numbers of this type");
  return plain_of(ab_type)->rotg(h, a, b, c, s);
}

F cublasRotmgEx(struct blas *h, void *d1, int d1_type, void *d2, int d2_type, void *x1, int x1_type, const void *y1,
                int y1_type, void *param, int param_type, int compute)
{
  const blas_status of_d = types_fit(h, d1_type, (const int[]){d2_type, x1_type, y1_type},
                                     (const int[]){d1_type, d1_type, d1_type}, "cublasRotmgEx");
  if (of_d != BLAS_SUCCESS) return of_d;
  const blas_status of_rest = types_fit(h, d1_type, (const int[]){param_type, compute, compute},
                                        (const int[]){d1_type, d1_type, d1_type}, "cublasRotmgEx");
  if (of_rest != BLAS_SUCCESS) return of_rest;
  if (!plain_of(d1_type) || !plain_of(d1_type)->rotmg) return blas_refuse("cublasRotmgEx", "numbers of this type");
  return plain_of(d1_type)->rotmg(h, d1, d2, x1, y1, param);
}
