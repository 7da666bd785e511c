/* Symmetric, not Hermitian, matrices that need not be positive: P A P^T = L D L^T. */
#include "libs/cusolver/solver_types.h"

static int64_t at_least_1(int64_t n)
{
  return n > 1 ? n : 1;
}

static solver_status run(struct solver *h, enum lib_kernel of_s, int t, const struct ws_solve_args *a, int64_t sides)
{
  const enum lib_kernel of_d = (enum lib_kernel)((int)of_s + KERNEL_dsolve_lu - KERNEL_ssolve_lu);
  return solver_launch(h, of_s, of_d, t, a, 1, sides);
}

static solver_status factor(struct solver *h, int t, int uplo, int n, void *a, int lda, int *pivots, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)uplo > SOLVER_UPPER || n < 0 || lda < at_least_1(n) || !info) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.n = n, .lda = lda, .a = a, .upper = uplo == SOLVER_UPPER, .pivots = pivots,
                                  .info = info};
  return run(h, KERNEL_ssolve_ldl, t, &s, 1);
}

static solver_status room(const struct solver *h, int n, int lda, int *words)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (n < 0 || lda < at_least_1(n) || !words) return SOLVER_INVALID_VALUE;
  *words = 1; /* the kernel needs none */
  return SOLVER_SUCCESS;
}

#define FUNCTIONS(l, T, t)                                                                                            \
  PUBLIC solver_status cusolverDn##l##sytrf_bufferSize(const struct solver *h, int n, T *a, int lda, int *words)      \
  {                                                                                                                   \
    (void)a;                                                                                                          \
    return room(h, n, lda, words);                                                                                    \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##sytrf(struct solver *h, int uplo, int n, T *a, int lda, int *pivots, T *work,   \
                                            int words, int *info)                                                     \
  {                                                                                                                   \
    (void)work, (void)words;                                                                                          \
    return factor(h, t, uplo, n, a, lda, pivots, info);                                                               \
  }
FUNCTIONS(S, float, SOLVER_S)
FUNCTIONS(D, double, SOLVER_D)
FUNCTIONS(C, struct complex_f32, SOLVER_C)
FUNCTIONS(Z, struct complex_f64, SOLVER_Z)

PUBLIC solver_status cusolverDnXsytrs_bufferSize(const struct solver *h, int uplo, int64_t n, int64_t sides, int data,
                                                 const void *a, int64_t lda, const int64_t *pivots, int data_b,
                                                 const void *b, int64_t ldb, size_t *device, size_t *host)
{
  (void)a, (void)pivots, (void)b;
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)uplo > SOLVER_UPPER || n < 0 || sides < 0 || lda < at_least_1(n) || ldb < at_least_1(n) ||
      solver_type(data) < 0 || data_b != data || !device || !host)
    return SOLVER_INVALID_VALUE;
  *device = *host = 0;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverDnXsytrs(struct solver *h, int uplo, int64_t n, int64_t sides, int data, const void *a,
                                      int64_t lda, const int64_t *pivots, int data_b, void *b, int64_t ldb, SOLVER_ROOM,
                                      int *info)
{
  size_t device, host;
  (void)work, (void)bytes, (void)on_host, (void)host_bytes;
  const solver_status status =
    cusolverDnXsytrs_bufferSize(h, uplo, n, sides, data, a, lda, pivots, data_b, b, ldb, &device, &host);
  if (status != SOLVER_SUCCESS) return status;
  if (!pivots) return solver_refuse("cusolverDnXsytrs", "factors without pivots");
  const struct ws_solve_args s = {.n = n, .lda = lda, .ldb = ldb, .a = (void *)(uintptr_t)a, .b = b, .info = info,
                                  .upper = uplo == SOLVER_UPPER, .pivots_64 = pivots};
  return run(h, KERNEL_ssolve_with_ldl, solver_type(data), &s, sides);
}
