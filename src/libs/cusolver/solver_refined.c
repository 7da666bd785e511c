/* Systems of libcusolver that NVIDIA's library factors in a lower precision and refines (gesv, gels). Here factors have
 * the precision of the matrix, whatever lower one a function's name has, and nothing is left to refine: the number of
 * iterations is 0. The matrix and the right sides stay as they are, as is documented of systems that converge. */
#include "libs/cusolver/solver_blocks.h"

static const size_t element[] = {4, 8, 8, 16};

struct refined {
  int64_t m, n, sides, lda, ldb, ldx;
  const void *a, *b;
  void *x;
  int32_t *pivots; /* of a square system; NULL: least squares */
};

/* What the work space has: a copy of the matrix; of least squares also the right sides, the factors of reflectors and
 * room for blocks of these. In elements. */
struct parts {
  int64_t b, tau, blocks, end;
};

static struct parts parts_of(const struct refined *r)
{
  struct parts p = {.b = r->m * r->n};
  p.tau = p.blocks = p.end = p.b;
  if (r->pivots) return p;
  p.tau = p.b + r->m * r->sides;
  p.blocks = p.tau + r->n;
  p.end = p.blocks + solver_qr_elements(r->m, r->n > r->sides ? r->n : r->sides);
  return p;
}

static bool good(const struct refined *r)
{
  const int64_t rows = r->m > 1 ? r->m : 1, unknowns = r->n > 1 ? r->n : 1;
  const int64_t most = INT64_MAX / 64; /* elements, whose bytes can be counted */
  if (r->n < 0 || r->m < r->n || r->sides < 0 || r->m * r->n > most || r->m * r->sides > most) return false;
  return r->lda >= rows && r->ldb >= rows && r->ldx >= unknowns;
}

static solver_status room(const struct solver *h, const struct refined *r, int t, size_t *bytes)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(r) || !bytes) return SOLVER_INVALID_VALUE;
  const struct parts p = parts_of(r);
  *bytes = ((size_t)p.end + 1) * element[t];
  return SOLVER_SUCCESS;
}

static solver_status copy(const struct solver *h, int t, void *to, int64_t ldt, const void *from, int64_t ldf,
                          int64_t rows, int64_t columns)
{
  enum { DEVICE_TO_DEVICE = 3 };
  if (!rows || !columns || (to == from && ldt == ldf)) return SOLVER_SUCCESS;
  const int e = cudaMemcpy2DAsync(to, (size_t)ldt * element[t], from, (size_t)ldf * element[t],
                                  (size_t)rows * element[t], (size_t)columns, DEVICE_TO_DEVICE, h->stream);
  return e ? SOLVER_EXECUTION_FAILED : SOLVER_SUCCESS;
}

/* x = A^-1 b; where a pivot is 0, info says so and x is what dividing by it gives. */
static solver_status square(struct solver *h, int t, const struct refined *r, void *a, int32_t *info)
{
  const struct ws_solve_args s = {.m = r->n, .n = r->n, .lda = r->n > 1 ? r->n : 1, .ldb = r->ldx, .a = a, .b = r->x,
                                  .op = WS_SOLVE_N, .pivots = r->pivots};
  struct ws_solve_args factors = s;
  factors.info = info;
  solver_status status = copy(h, t, r->x, r->ldx, r->b, r->ldb, r->n, r->sides);
  if (status == SOLVER_SUCCESS) status = solver_lu(h, t, &factors);
  return status == SOLVER_SUCCESS && r->n ? solver_with_lu(h, t, &s, r->sides) : status;
}

/* x = R^-1 (Q^H b), of the first n rows. */
static solver_status least_squares(struct solver *h, int t, const struct refined *r, void *a, int32_t *info)
{
  const struct parts p = parts_of(r);
  const int64_t ld = r->m > 1 ? r->m : 1;
  void *b = solver_at(a, t, 1, p.b, 0);
  struct ws_solve_args s = {.m = r->m, .n = r->n, .k = r->n, .lda = ld, .ldb = ld, .a = a, .b = b,
                            .tau = solver_at(a, t, 1, p.tau, 0), .info = info};
  const struct solver_room blocks = {solver_at(a, t, 1, p.blocks, 0), p.end - p.blocks};
  const struct triangular_system upper = {BLAS_LEFT, BLAS_UPPER, BLAS_OP_N, BLAS_NON_UNIT, r->n, r->sides,
                                          ld, r->ldx, a, r->x};
  solver_status status = copy(h, t, b, ld, r->b, r->ldb, r->m, r->sides);
  if (status == SOLVER_SUCCESS) status = solver_qr(h, t, &s, blocks);
  s.n = r->sides, s.op = WS_SOLVE_C;
  if (status == SOLVER_SUCCESS && r->n && r->sides) status = solver_apply_q(h, t, &s, blocks);
  if (status == SOLVER_SUCCESS) status = copy(h, t, r->x, r->ldx, b, ld, r->n, r->sides);
  if (status != SOLVER_SUCCESS || !r->n || !r->sides) return status;
  h->blas->stream = h->stream;
  return blas_solve_triangle(h->blas, t, &upper, "cusolverDn") == BLAS_SUCCESS ? SOLVER_SUCCESS
                                                                               : SOLVER_EXECUTION_FAILED;
}

static solver_status solve(struct solver *h, const struct refined *r, int t, void *work, size_t bytes, int *iterations,
                           int32_t *info)
{
  size_t needed;
  solver_status status = room(h, r, t, &needed);
  if (status != SOLVER_SUCCESS) return status;
  if (!iterations || !info || !work || bytes < needed) return SOLVER_INVALID_VALUE;
  if (r->m && (!r->a || (r->sides && (!r->b || !r->x)))) return SOLVER_INVALID_VALUE;
  *iterations = 0;
  status = copy(h, t, work, r->m > 1 ? r->m : 1, r->a, r->lda, r->m, r->n);
  if (status != SOLVER_SUCCESS) return status;
  return r->pivots ? square(h, t, r, work, info) : least_squares(h, t, r, work, info);
}

/* Names have the precision of the matrix and the lower one of its factors. */
#define REFINED(l, low, t)                                                                                           \
  PUBLIC solver_status cusolverDn##l##low##gesv_bufferSize(const struct solver *h, int n, int sides, void *a, int lda, \
                                                           int *pivots, void *b, int ldb, void *x, int ldx,          \
                                                           void *work, size_t *bytes)                                \
  {                                                                                                                  \
    int some;                                                                                                        \
    const struct refined r = {n, n, sides, lda, ldb, ldx, a, b, x, pivots ? pivots : &some};                         \
    (void)work;                                                                                                      \
    return room(h, &r, t, bytes);                                                                                    \
  }                                                                                                                  \
  PUBLIC solver_status cusolverDn##l##low##gesv(struct solver *h, int n, int sides, void *a, int lda, int *pivots,   \
                                                void *b, int ldb, void *x, int ldx, void *work, size_t bytes,        \
                                                int *iterations, int *info)                                          \
  {                                                                                                                  \
    const struct refined r = {n, n, sides, lda, ldb, ldx, a, b, x, pivots};                                          \
    return pivots ? solve(h, &r, t, work, bytes, iterations, info) : SOLVER_INVALID_VALUE;                           \
  }                                                                                                                  \
  PUBLIC solver_status cusolverDn##l##low##gels_bufferSize(const struct solver *h, int m, int n, int sides, void *a, \
                                                           int lda, void *b, int ldb, void *x, int ldx, void *work,  \
                                                           size_t *bytes)                                            \
  {                                                                                                                  \
    const struct refined r = {m, n, sides, lda, ldb, ldx, a, b, x, NULL};                                            \
    (void)work;                                                                                                      \
    return room(h, &r, t, bytes);                                                                                    \
  }                                                                                                                  \
  PUBLIC solver_status cusolverDn##l##low##gels(struct solver *h, int m, int n, int sides, void *a, int lda, void *b, \
                                                int ldb, void *x, int ldx, void *work, size_t bytes,                 \
                                                int *iterations, int *info)                                          \
  {                                                                                                                  \
    const struct refined r = {m, n, sides, lda, ldb, ldx, a, b, x, NULL};                                            \
    return solve(h, &r, t, work, bytes, iterations, info);                                                           \
  }
REFINED(S, S, SOLVER_S)
REFINED(S, H, SOLVER_S)
REFINED(S, B, SOLVER_S)
REFINED(S, X, SOLVER_S)
REFINED(D, D, SOLVER_D)
REFINED(D, S, SOLVER_D)
REFINED(D, H, SOLVER_D)
REFINED(D, B, SOLVER_D)
REFINED(D, X, SOLVER_D)
REFINED(C, C, SOLVER_C)
REFINED(C, K, SOLVER_C)
REFINED(C, E, SOLVER_C)
REFINED(C, Y, SOLVER_C)
REFINED(Z, Z, SOLVER_Z)
REFINED(Z, C, SOLVER_Z)
REFINED(Z, K, SOLVER_Z)
REFINED(Z, E, SOLVER_Z)
REFINED(Z, Y, SOLVER_Z)
