/* Triangular systems of libcublas: trsm and trsmBatched. A large system is two of half the size, with a product between
 * them that takes the first one's unknowns out of the second; small ones are kernels/trsm.cu's.
 */
#include "libs/cublas/blas_solve.h"

#include "libs/cublas/blas_elements.h"
#include "libs/kernels/trsm_args.h"

enum { LEAF = 64 }; /* unknowns of a small system: a tile of products */
enum { MOST_BATCH = 65535 }; /* of a launch: its grid's second number */

static const double minus_one[][2] = {[D] = {-1}, [Z] = {-1}};
static const float minus_one_f32[2] = {-1};
static const double one[][2] = {[D] = {1}, [Z] = {1}};
static const float one_f32[2] = {1};

static const void *constant(int t, const double of_f64[][2], const float *of_f32)
{
  return types[t].real == DATA_R_64F ? (const void *)of_f64[t] : of_f32;
}

static int64_t at_least_1(int64_t n)
{
  return n > 1 ? n : 1;
}

static bool good(const struct triangular_system *q, const void *alpha)
{
  const int64_t n = q->side == BLAS_LEFT ? q->m : q->n;
  return (unsigned)q->side <= BLAS_RIGHT && (unsigned)q->fill <= BLAS_UPPER && (unsigned)q->op < BLAS_OPS &&
         (unsigned)q->unit <= BLAS_UNIT && alpha && q->m >= 0 && q->n >= 0 && q->lda >= at_least_1(n) &&
         q->ldb >= at_least_1(q->m);
}

/* One call. */
struct trsm_call {
  struct blas *h;
  const struct triangular_system *q;
  const char *function;
  int t;
};

/* X op(A) = B is op(A)^T X^T = B^T: whether the system's matrix is A's transpose. */
static bool flipped(const struct triangular_system *q)
{
  return (q->op != BLAS_OP_N) == (q->side == BLAS_LEFT);
}

static bool forward(const struct triangular_system *q)
{
  return (q->fill == BLAS_LOWER) != flipped(q);
}

static const char *moved(const void *p, int64_t elements, int t)
{
  return (const char *)p + elements * (int64_t)types[t].bytes;
}

/* Unknowns `from` to `from` + n. */
static blas_status launch(const struct trsm_call *p, int64_t from, int64_t n, const struct ws_scalar *alpha,
                          int64_t batch, bool pointers)
{
  const struct triangular_system *q = p->q;
  const bool left = q->side == BLAS_LEFT;
  struct ws_trsm_args g = {.n = n, .columns = left ? q->n : q->m, .lda = q->lda, .alpha = *alpha};
  g.step = left ? 1 : q->ldb, g.next = left ? q->ldb : 1;
  g.a = moved(q->a, from * (q->lda + 1), p->t);
  g.b = (void *)(uintptr_t)moved(q->b, from * g.step, p->t);
  g.by_rows = flipped(q), g.forward = forward(q);
  g.conj = q->op == BLAS_OP_C, g.unit = q->unit == BLAS_UNIT, g.pointers = pointers;
  const unsigned ctas = (unsigned)((g.columns + WS_TRSM_SIDE - 1) / WS_TRSM_SIDE);
  const struct launch_shape shape = {ctas, (unsigned)batch, 1, 256};
  const enum lib_kernel k = (enum lib_kernel)((int)KERNEL_strsm + p->t);
  return kernel_set_launch(&p->h->kernels, k, shape, p->h->stream, &g) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

/* Unknowns of the second part: alpha times theirs, less what `first` takes from them. */
static blas_status take_off(const struct trsm_call *p, int64_t first, int64_t firsts, int64_t second, int64_t seconds,
                            const void *alpha)
{
  const struct triangular_system *q = p->q;
  const bool left = q->side == BLAS_LEFT;
  const int64_t row = flipped(q) ? first : second, col = flipped(q) ? second : first;
  const int data = types[p->t].data;
  const int64_t line = left ? 1 : q->ldb; /* from one unknown to the next */
  const struct blas_operand a = {moved(q->a, col * q->lda + row, p->t), q->lda, 0, data},
                            x = {moved(q->b, first * line, p->t), q->ldb, 0, data},
                            b = {moved(q->b, second * line, p->t), q->ldb, 0, data};
  const struct blas_product r = {.op_a = left ? q->op : BLAS_OP_N, .op_b = left ? BLAS_OP_N : q->op,
                                 .m = left ? seconds : q->m, .n = left ? q->n : seconds, .k = firsts, .batch = 1,
                                 .a = left ? a : x, .b = left ? x : a, .c = b, .d = b, .scale = data,
                                 .alpha = constant(p->t, minus_one, minus_one_f32), .beta = alpha};
  return blas_multiply(p->h, &r, p->h->stream, p->function);
}

static blas_status halves(const struct trsm_call *p, int64_t from, int64_t n, const void *alpha)
{
  if (n <= LEAF) {
    const struct ws_scalar a = blas_scalar(alpha, types[p->t].data, false);
    return launch(p, from, n, &a, 1, false);
  }
  int64_t half = LEAF;
  while (2 * half < n) half *= 2;
  const bool up = forward(p->q);
  const int64_t first = up ? from : from + n - half, second = up ? from + half : from;
  blas_status status = halves(p, first, half, alpha);
  if (status == BLAS_SUCCESS) status = take_off(p, first, half, second, n - half, alpha);
  return status == BLAS_SUCCESS ? halves(p, second, n - half, constant(p->t, one, one_f32)) : status;
}

static blas_status solve(struct blas *h, int t, const struct triangular_system *q, const void *alpha,
                         const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!good(q, alpha)) return BLAS_INVALID_VALUE;
  if (q->m == 0 || q->n == 0) return BLAS_SUCCESS;
  if (q->m > INT32_MAX || q->n > INT32_MAX) return blas_refuse(function, "sizes from 2^31 on");
  const struct trsm_call p = {h, q, function, t};
  const int64_t n = q->side == BLAS_LEFT ? q->m : q->n;
  const bool device = h->pointer_mode == BLAS_DEVICE;
  const struct ws_scalar a = blas_scalar(alpha, types[t].data, device);
  /* A factor of 0 leaves A unread, and of one on the device only the kernel knows. */
  if (n <= LEAF || device || (a.re == 0 && a.im == 0)) return launch(&p, 0, n, &a, 1, false);
  return halves(&p, 0, n, alpha);
}

blas_status blas_solve_triangle(struct blas *h, int t, const struct triangular_system *q, const char *function)
{
  return solve(h, t, q, constant(t, one, one_f32), function);
}

/* Matrices of a batch lie where arrays on the device say: each is the kernel's alone. */
static blas_status batch_of(struct blas *h, int t, const struct triangular_system *q, const void *alpha, int64_t batch,
                            const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!good(q, alpha) || batch < 0) return BLAS_INVALID_VALUE;
  if (q->m == 0 || q->n == 0 || batch == 0) return BLAS_SUCCESS;
  if (batch > MOST_BATCH || q->m > INT32_MAX || q->n > INT32_MAX) return blas_refuse(function, "so large a batch");
  const struct trsm_call p = {h, q, function, t};
  const struct ws_scalar a = blas_scalar(alpha, types[t].data, h->pointer_mode == BLAS_DEVICE);
  return launch(&p, 0, q->side == BLAS_LEFT ? q->m : q->n, &a, batch, true);
}

#define TRSM(l, v2, w)                                                                                                \
  PUBLIC blas_status cublas##l##trsm##v2(struct blas *h, int side, int fill, int op, int unit, INT m, INT n,          \
                                         const void *alpha, const void *a, INT lda, void *b, INT ldb)                 \
  {                                                                                                                   \
    const struct triangular_system q = {side, fill, op, unit, m, n, lda, ldb, a, b};                                  \
    return solve(h, l, &q, alpha, "cublas" #l "trsm");                                                           \
  }                                                                                                                   \
  PUBLIC blas_status cublas##l##trsmBatched##w(struct blas *h, int side, int fill, int op, int unit, INT m, INT n,    \
                                               const void *alpha, const void *const *a, INT lda, void *const *b,      \
                                               INT ldb, INT batch)                                                    \
  {                                                                                                                   \
    const struct triangular_system q = {side, fill, op, unit, m, n, lda, ldb, a, (void *)(uintptr_t)b};               \
    return batch_of(h, l, &q, alpha, batch, "cublas" #l "trsmBatched");                                               \
  }
#define TRSMS(v2, w) TRSM(S, v2, w) TRSM(D, v2, w) TRSM(C, v2, w) TRSM(Z, v2, w)

#define INT int
TRSMS(_v2, )
#undef INT
#define INT int64_t
TRSMS(_v2_64, _64)
#undef INT
