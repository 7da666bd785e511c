/* Generalised eigenvalues of symmetric and Hermitian matrices (sygvd, hegvd, sygvj, hegvj): with B = L L^H they are
 * those of W^H A W, W = L^-H for A x = w B x and W = L for A B x = w x and B A x = w x (LAPACK, sygst). Limits of
 * sweeps and tolerances change nothing, as of syevj. */
#include <limits.h>

#include "libs/cusolver/solver_blocks.h"

enum { MOST_ROWS = 1 << 24 };
enum { A_IS_B = 1, AB_IS = 2, BA_IS = 3 }; /* cusolverEigType_t: A x = w B x, A B x = w x, B A x = w x */

typedef blas_status product_function(struct blas *, int, int, int64_t, int64_t, int64_t, const void *, const void *,
                                     int64_t, const void *, int64_t, const void *, void *, int64_t);
typedef blas_status half_function(struct blas *, int, int, int64_t, int64_t, const void *, const void *, int64_t,
                                  const void *, int64_t, const void *, void *, int64_t);
typedef blas_status triangle_function(struct blas *, int, int, int, int, int64_t, int64_t, const void *, const void *,
                                      int64_t, const void *, int64_t, void *, int64_t);
product_function cublasSgemm_v2_64, cublasDgemm_v2_64, cublasCgemm_v2_64, cublasZgemm_v2_64;
half_function cublasSsymm_v2_64, cublasDsymm_v2_64, cublasChemm_v2_64, cublasZhemm_v2_64;
triangle_function cublasStrmm_v2_64, cublasDtrmm_v2_64, cublasCtrmm_v2_64, cublasZtrmm_v2_64;
static product_function *const multiply[] = {cublasSgemm_v2_64, cublasDgemm_v2_64, cublasCgemm_v2_64,
                                             cublasZgemm_v2_64};
static half_function *const with_half[] = {cublasSsymm_v2_64, cublasDsymm_v2_64, cublasChemm_v2_64, cublasZhemm_v2_64};
static triangle_function *const with_triangle[] = {cublasStrmm_v2_64, cublasDtrmm_v2_64, cublasCtrmm_v2_64,
                                                   cublasZtrmm_v2_64};

static const size_t element[] = {4, 8, 8, 16};
static const double one[2] = {1}, none[2];
static const float one_f32[2] = {1}, none_f32[2];

struct generalised {
  int kind, vectors, uplo;
  int64_t n, lda, ldb;
  void *a, *b, *w, *work;
  int *info;
};

static const void *unit_of(int t) { return t & 1 ? (const void *)one : one_f32; }
static const void *zero_of(int t) { return t & 1 ? (const void *)none : none_f32; }

static bool good(const struct generalised *g)
{
  const int64_t least = g->n > 1 ? g->n : 1;
  return g->kind >= A_IS_B && g->kind <= BA_IS && (unsigned)g->vectors <= 1 && (unsigned)g->uplo <= SOLVER_UPPER &&
         g->n >= 0 && g->lda >= least && g->ldb >= least;
}

/* Two matrices of n rows, and what eigenvalues need. */
static solver_status room(const struct solver *h, const struct generalised *g, int *words)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(g) || !words) return SOLVER_INVALID_VALUE;
  const bool large = g->n > MOST_ROWS; /* whose squares could not be added up */
  const int64_t elements = large ? INT64_MAX : 2 * g->n * g->n + solver_eigen_elements(g->n);
  if (elements > INT_MAX) return solver_refuse("cusolverDn?sygvd", "so large matrices");
  *words = (int)elements;
  return SOLVER_SUCCESS;
}

static solver_status as_solver(blas_status s) { return s == BLAS_SUCCESS ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED; }

/* x = L^-H x, L the factor of B: the upper one is L^H. */
static solver_status divide(struct solver *h, int t, const struct generalised *g, void *x, int64_t ldx)
{
  const bool upper = g->uplo == SOLVER_UPPER;
  const struct triangular_system q = {BLAS_LEFT, upper ? BLAS_UPPER : BLAS_LOWER, upper ? BLAS_OP_N : BLAS_OP_C,
                                      BLAS_NON_UNIT, g->n, g->n, g->ldb, ldx, g->b, x};
  return as_solver(blas_solve_triangle(h->blas, t, &q, "cusolverDn"));
}

/* W, of which `x` is the identity before. */
static solver_status find_w(struct solver *h, int t, const struct generalised *g, void *x)
{
  const int64_t n = g->n;
  const struct ws_solve_args identity = {.m = n, .n = n, .lda = n, .a = x};
  const solver_status status = solver_run(h, KERNEL_ssolve_form_q, t, &identity, 1, 1);
  if (status != SOLVER_SUCCESS) return status;
  if (g->kind == A_IS_B) return divide(h, t, g, x, n);
  const bool upper = g->uplo == SOLVER_UPPER;
  return as_solver(with_triangle[t](h->blas, BLAS_LEFT, upper ? BLAS_UPPER : BLAS_LOWER, upper ? BLAS_OP_C : BLAS_OP_N,
                                    BLAS_NON_UNIT, n, n, unit_of(t), g->b, g->ldb, x, n, x, n));
}

/* Cholesky's factor of B. Where there is none *at is the first minor that is not positive, and info n behind it. */
static solver_status factor(struct solver *h, int t, const struct generalised *g, int *at)
{
  const struct ws_solve_args s = {.n = g->n, .lda = g->ldb, .a = g->b, .upper = g->uplo == SOLVER_UPPER,
                                  .info = g->info};
  const uint64_t info = (uint64_t)(uintptr_t)g->info;
  const solver_status status = solver_cholesky(h, t, &s);
  if (status != SOLVER_SUCCESS) return status;
  if (cuMemcpyDtoHAsync_v2(at, info, sizeof *at, h->stream) || cuStreamSynchronize(h->stream))
    return SOLVER_EXECUTION_FAILED;
  const unsigned say = (unsigned)(*at + (int)g->n);
  return *at && cuMemsetD32Async(info, say, 1, h->stream) ? SOLVER_EXECUTION_FAILED : SOLVER_SUCCESS;
}

/* a = W^H A W, by way of T = A W. */
static solver_status reduce(struct solver *h, int t, const struct generalised *g, const void *w, void *product)
{
  const int64_t n = g->n;
  const int half = g->uplo == SOLVER_UPPER ? BLAS_UPPER : BLAS_LOWER;
  const blas_status s = with_half[t](h->blas, BLAS_LEFT, half, n, n, unit_of(t), g->a, g->lda, w, n, zero_of(t),
                                     product, n);
  if (s != BLAS_SUCCESS) return SOLVER_EXECUTION_FAILED;
  return as_solver(multiply[t](h->blas, BLAS_OP_C, BLAS_OP_N, n, n, n, unit_of(t), w, n, product, n, zero_of(t), g->a,
                               g->lda));
}

/* The vectors of the reduced matrix, in a, become those of the pair. */
static solver_status back(struct solver *h, int t, const struct generalised *g, const void *w, void *product)
{
  const int64_t n = g->n;
  const size_t row = (size_t)n * element[t];
  if (g->kind == AB_IS) return divide(h, t, g, g->a, g->lda);
  const blas_status s = multiply[t](h->blas, BLAS_OP_N, BLAS_OP_N, n, n, n, unit_of(t), w, n, g->a, g->lda, zero_of(t),
                                    product, n);
  if (s != BLAS_SUCCESS) return SOLVER_EXECUTION_FAILED;
  return cudaMemcpy2DAsync(g->a, (size_t)g->lda * element[t], product, row, row, (size_t)n, DRIVER_COPY_DEFAULT,
                           h->stream)
           ? SOLVER_EXECUTION_FAILED
           : SOLVER_SUCCESS;
}

static solver_status solve(struct solver *h, int t, const struct generalised *g, int words)
{
  int needed, at = 0;
  solver_status status = room(h, g, &needed);
  if (status != SOLVER_SUCCESS) return status;
  if (words < needed || !g->info) return SOLVER_INVALID_VALUE;
  const int64_t n = g->n;
  void *w = g->work, *product = solver_at(w, t, 1, n * n, 0), *rest = solver_at(w, t, 1, 2 * n * n, 0);
  h->blas->stream = h->stream;
  status = factor(h, t, g, &at);
  if (status != SOLVER_SUCCESS || at || !n) return status;
  status = find_w(h, t, g, w);
  if (status == SOLVER_SUCCESS) status = reduce(h, t, g, w, product);
  if (status == SOLVER_SUCCESS)
    status = solver_eigen(h, t, g->vectors, g->uplo, n, g->a, g->lda, g->w, rest, g->info);
  return status == SOLVER_SUCCESS && g->vectors ? back(h, t, g, w, product) : status;
}

#define FUNCTIONS(l, t, eig)                                                                                          \
  PUBLIC solver_status cusolverDn##l##eig##d_bufferSize(const struct solver *h, int kind, int vectors, int uplo,      \
                                                        int n, void *a, int lda, void *b, int ldb, void *w,           \
                                                        int *words)                                                   \
  {                                                                                                                   \
    const struct generalised g = {kind, vectors, uplo, n, lda, ldb, a, b, w, NULL, NULL};                             \
    return room(h, &g, words);                                                                                        \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##d(struct solver *h, int kind, int vectors, int uplo, int n, void *a,       \
                                             int lda, void *b, int ldb, void *w, void *work, int words, int *info)    \
  {                                                                                                                   \
    const struct generalised g = {kind, vectors, uplo, n, lda, ldb, a, b, w, work, info};                             \
    return solve(h, t, &g, words);                                                                                    \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##j_bufferSize(const struct solver *h, int kind, int vectors, int uplo,      \
                                                        int n, void *a, int lda, void *b, int ldb, void *w,           \
                                                        int *words, void *params)                                     \
  {                                                                                                                   \
    (void)params;                                                                                                     \
    return cusolverDn##l##eig##d_bufferSize(h, kind, vectors, uplo, n, a, lda, b, ldb, w, words);                     \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##j(struct solver *h, int kind, int vectors, int uplo, int n, void *a,       \
                                             int lda, void *b, int ldb, void *w, void *work, int words, int *info,    \
                                             void *params)                                                            \
  {                                                                                                                   \
    (void)params;                                                                                                     \
    return cusolverDn##l##eig##d(h, kind, vectors, uplo, n, a, lda, b, ldb, w, work, words, info);                    \
  }
FUNCTIONS(S, SOLVER_S, sygv)
FUNCTIONS(D, SOLVER_D, sygv)
FUNCTIONS(C, SOLVER_C, hegv)
FUNCTIONS(Z, SOLVER_Z, hegv)
