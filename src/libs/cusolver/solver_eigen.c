/* Eigenvalues of symmetric and Hermitian matrices. All functions have the same kernel, Jacobi's, so limits of sweeps
 * and tolerances that a program sets change nothing. */
#include <limits.h>

#include "libs/cusolver/solver_types.h"
#include "libs/kernels/eigen_args.h"

static const size_t element[] = {4, 8, 8, 16};

static int64_t at_least_1(int64_t n)
{
  return n > 1 ? n : 1;
}

struct symmetric {
  int vectors, uplo;
  int64_t n, lda, batch;
};

static bool good(const struct symmetric *q)
{
  return (unsigned)q->vectors <= 1 && (unsigned)q->uplo <= SOLVER_UPPER && q->n >= 0 && q->lda >= at_least_1(q->n) &&
         q->batch >= 0;
}

/* Bytes of workspace; SIZE_MAX: more than there can be. */
static size_t need(const struct symmetric *q, int t)
{
  if (q->n > 1 << 24 || q->batch > INT32_MAX) return SIZE_MAX;
  size_t bytes = (size_t)WS_EIGEN_ROOM(q->n);
  return __builtin_mul_overflow(bytes, (size_t)q->batch * element[t], &bytes) ? SIZE_MAX : bytes;
}

static solver_status solve(struct solver *h, int t, const struct symmetric *q, void *a, void *w, void *work,
                           size_t bytes, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(q) || bytes < need(q, t)) return SOLVER_INVALID_VALUE;
  const struct ws_eigen_args s = {.n = q->n, .lda = q->lda, .a_step = q->lda * q->n, .w_step = q->n, .a = a, .w = w,
                                  .work = work, .upper = q->uplo == SOLVER_UPPER, .vectors = q->vectors, .info = info};
  return solver_launch(h, KERNEL_seigen, KERNEL_deigen, t, &s, q->batch, 1);
}

int64_t solver_eigen_elements(int64_t n)
{
  return WS_EIGEN_ROOM(n);
}

solver_status solver_eigen(struct solver *h, int t, int vectors, int uplo, int64_t n, void *a, int64_t lda, void *w,
                           void *work, int *info)
{
  const struct symmetric q = {vectors, uplo, n, lda, 1};
  return solve(h, t, &q, a, w, work, need(&q, t), info);
}

/* Room in elements, as a number of the plain interface. */
static solver_status room(const struct solver *h, int t, const struct symmetric *q, int *words)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(q) || !words) return SOLVER_INVALID_VALUE;
  const size_t bytes = need(q, t);
  if (bytes / element[t] > INT_MAX) return solver_refuse("cusolverDn?syevd", "so large matrices");
  *words = (int)(bytes / element[t]);
  return SOLVER_SUCCESS;
}

static size_t of_words(int words, int t)
{
  return words > 0 ? (size_t)words * element[t] : 0;
}

/* The functions of type l: T is its element, R a real number of it, t its number, `eig` begins their names. */
#define FUNCTIONS(l, T, R, t, eig)                                                                                    \
  PUBLIC solver_status cusolverDn##l##eig##d_bufferSize(const struct solver *h, int vectors, int uplo, int n,         \
                                                        const T *a, int lda, const R *w, int *words)                  \
  {                                                                                                                   \
    const struct symmetric q = {vectors, uplo, n, lda, 1};                                                            \
    (void)a, (void)w;                                                                                                 \
    return room(h, t, &q, words);                                                                                     \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##d(struct solver *h, int vectors, int uplo, int n, T *a, int lda, R *w,     \
                                             T *work, int words, int *info)                                           \
  {                                                                                                                   \
    const struct symmetric q = {vectors, uplo, n, lda, 1};                                                            \
    return solve(h, t, &q, a, w, work, of_words(words, t), info);                                                     \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##j_bufferSize(const struct solver *h, int vectors, int uplo, int n,         \
                                                        const T *a, int lda, const R *w, int *words, void *params)    \
  {                                                                                                                   \
    (void)params;                                                                                                     \
    return cusolverDn##l##eig##d_bufferSize(h, vectors, uplo, n, a, lda, w, words);                                   \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##j(struct solver *h, int vectors, int uplo, int n, T *a, int lda, R *w,     \
                                             T *work, int words, int *info, void *params)                             \
  {                                                                                                                   \
    (void)params;                                                                                                     \
    return cusolverDn##l##eig##d(h, vectors, uplo, n, a, lda, w, work, words, info);                                  \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##jBatched_bufferSize(const struct solver *h, int vectors, int uplo, int n,  \
                                                               const T *a, int lda, const R *w, int *words,           \
                                                               void *params, int batch)                               \
  {                                                                                                                   \
    const struct symmetric q = {vectors, uplo, n, lda, batch};                                                        \
    (void)a, (void)w, (void)params;                                                                                   \
    return room(h, t, &q, words);                                                                                     \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##eig##jBatched(struct solver *h, int vectors, int uplo, int n, T *a, int lda,    \
                                                    R *w, T *work, int words, int *info, void *params, int batch)     \
  {                                                                                                                   \
    const struct symmetric q = {vectors, uplo, n, lda, batch};                                                        \
    (void)params;                                                                                                     \
    return solve(h, t, &q, a, w, work, of_words(words, t), info);                                                     \
  }
FUNCTIONS(S, float, float, SOLVER_S, syev)
FUNCTIONS(D, double, double, SOLVER_D, syev)
FUNCTIONS(C, struct complex_f32, float, SOLVER_C, heev)
FUNCTIONS(Z, struct complex_f64, double, SOLVER_Z, heev)

/* The 64-bit interface. */
struct types {
  int a, w, compute;
};

/* SOLVER_S to SOLVER_Z; -1: types that do not go together. */
static int type_of(const struct types *y)
{
  const int t = solver_type(y->a);
  if (t < 0 || y->compute != y->a || solver_type(y->w) != (t & 1)) return -1;
  return t;
}

static solver_status need_64(const struct solver *h, const struct types *y, const struct symmetric *q, size_t *device,
                             size_t *host)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (type_of(y) < 0 || !good(q) || !device || !host) return SOLVER_INVALID_VALUE;
  *host = 0;
  *device = need(q, type_of(y));
  return *device == SIZE_MAX ? solver_refuse("cusolverDnXsyevd", "so large matrices") : SOLVER_SUCCESS;
}

PUBLIC solver_status cusolverDnXsyevd_bufferSize(const struct solver *h, void *params, int vectors, int uplo, int64_t n,
                                                 int data, const void *a, int64_t lda, int data_w, const void *w,
                                                 int compute, size_t *device, size_t *host)
{
  const struct types y = {data, data_w, compute};
  const struct symmetric q = {vectors, uplo, n, lda, 1};
  (void)params, (void)a, (void)w;
  return need_64(h, &y, &q, device, host);
}
PUBLIC solver_status cusolverDnXsyevd(struct solver *h, void *params, int vectors, int uplo, int64_t n, int data,
                                      void *a, int64_t lda, int data_w, void *w, int compute, SOLVER_ROOM, int *info)
{
  const struct types y = {data, data_w, compute};
  const struct symmetric q = {vectors, uplo, n, lda, 1};
  (void)params, (void)on_host, (void)host_bytes;
  return type_of(&y) < 0 ? SOLVER_INVALID_VALUE : solve(h, type_of(&y), &q, a, w, work, bytes, info);
}
PUBLIC solver_status cusolverDnXsyevBatched_bufferSize(const struct solver *h, void *params, int vectors, int uplo,
                                                       int64_t n, int data, const void *a, int64_t lda, int data_w,
                                                       const void *w, int compute, size_t *device, size_t *host,
                                                       int64_t batch)
{
  const struct types y = {data, data_w, compute};
  const struct symmetric q = {vectors, uplo, n, lda, batch};
  (void)params, (void)a, (void)w;
  return need_64(h, &y, &q, device, host);
}
PUBLIC solver_status cusolverDnXsyevBatched(struct solver *h, void *params, int vectors, int uplo, int64_t n, int data,
                                            void *a, int64_t lda, int data_w, void *w, int compute, SOLVER_ROOM,
                                            int *info, int64_t batch)
{
  const struct types y = {data, data_w, compute};
  const struct symmetric q = {vectors, uplo, n, lda, batch};
  (void)params, (void)on_host, (void)host_bytes;
  return type_of(&y) < 0 ? SOLVER_INVALID_VALUE : solve(h, type_of(&y), &q, a, w, work, bytes, info);
}
