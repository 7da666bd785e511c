/* Handles and dense systems of libcusolver: LU, Cholesky, QR. */
#include <stdio.h>
#include <stdlib.h>

#include "libs/cusolver/solver_blocks.h"

#define MAGIC UINT64_C(0x77617270736f6c76)

bool solver_handle_is(const struct solver *h) { return h && h->magic == MAGIC; }

solver_status solver_refuse(const char *function, const char *why)
{
  fprintf(stderr, "warpstep: %s: warpstep's own cuSOLVER does not have %s (docs/libraries.md)\n", function, why);
  return SOLVER_NOT_SUPPORTED;
}

PUBLIC solver_status cusolverDnCreate(struct solver **out)
{
  if (!out) return SOLVER_INVALID_VALUE;
  struct solver *h = calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return SOLVER_ALLOC_FAILED;
  const bool open = kernel_set_open(&h->kernels);
  if (!open || h->kernels.capability < 75) {
    free(h);
    return open ? SOLVER_ARCH_MISMATCH : SOLVER_NOT_INITIALIZED;
  }
  if (blas_open(&h->blas) != BLAS_SUCCESS) {
    kernel_set_close(&h->kernels);
    free(h);
    return SOLVER_ALLOC_FAILED;
  }
  h->magic = MAGIC;
  *out = h;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverDnDestroy(struct solver *h)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  cuStreamSynchronize(h->stream);
  if (h->pivots) cuMemFree_v2(h->pivots);
  blas_close(h->blas);
  kernel_set_close(&h->kernels);
  h->magic = 0;
  free(h);
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverDnSetStream(struct solver *h, driver_stream stream)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  h->stream = stream;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverDnGetStream(const struct solver *h, driver_stream *stream)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!stream) return SOLVER_INVALID_VALUE;
  *stream = h->stream;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverGetVersion(int *version)
{
  if (!version) return SOLVER_INVALID_VALUE;
  *version = SOLVER_VERSION;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverGetProperty(int what, int *value)
{
  if (!value || what < 0 || what > 2) return SOLVER_INVALID_VALUE;
  *value = what == 0 ? SOLVER_VERSION / 1000 : 0;
  return SOLVER_SUCCESS;
}
/* Parameters of the 64-bit interface: they say nothing that matters here. */
PUBLIC solver_status cusolverDnCreateParams(void **out)
{
  if (!out) return SOLVER_INVALID_VALUE;
  *out = calloc(1, 1);
  return *out ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}
PUBLIC solver_status cusolverDnDestroyParams(void *params)
{
  free(params);
  return SOLVER_SUCCESS;
}

static int64_t at_least_1(int64_t n)
{
  return n > 1 ? n : 1;
}

solver_status solver_launch(struct solver *h, enum lib_kernel of_s, enum lib_kernel of_d, int t, const void *args,
                            int64_t matrices, int64_t sides)
{
  const enum lib_kernel k = (enum lib_kernel)((int)of_s + t * ((int)of_d - (int)of_s));
  if (!matrices || !sides) return SOLVER_SUCCESS;
  if (sides > SOLVER_MOST_SIDE || matrices > INT32_MAX) return solver_refuse("cusolverDn", "so many right sides");
  const struct launch_shape shape = {(unsigned)matrices, (unsigned)sides, 1, 256};
  return kernel_set_launch(&h->kernels, k, shape, h->stream, args) ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

static solver_status room(const struct solver *h, bool good, int *words)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good || !words) return SOLVER_INVALID_VALUE;
  *words = 1; /* kernels need none */
  return SOLVER_SUCCESS;
}

/* For reflectors of `rows` rows that turn `lines` others; what an int cannot say goes without. */
static solver_status room_of_qr(const struct solver *h, bool good, int64_t rows, int64_t lines, int *words)
{
  const solver_status status = room(h, good, words);
  const int64_t elements = solver_qr_elements(rows, lines);
  if (status == SOLVER_SUCCESS && elements <= INT32_MAX) *words = (int)elements;
  return status;
}

static solver_status lu(struct solver *h, int t, int m, int n, void *a, int lda, int *pivots, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (m < 0 || n < 0 || lda < at_least_1(m) || !info) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.m = m, .n = n, .lda = lda, .a = a, .pivots = pivots, .info = info};
  return solver_lu(h, t, &s);
}

static solver_status with_lu(struct solver *h, int t, int op, int n, int sides, const void *a, int lda,
                             const int *pivots, void *b, int ldb, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)op > WS_SOLVE_C || n < 0 || sides < 0 || lda < at_least_1(n) || ldb < at_least_1(n))
    return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.n = n, .lda = lda, .ldb = ldb, .a = (void *)(uintptr_t)a, .b = b, .op = op,
                                  .pivots = (int *)(uintptr_t)pivots, .info = info};
  return solver_with_lu(h, t, &s, sides);
}

static solver_status cholesky(struct solver *h, int t, int uplo, int64_t n, void *a, int64_t lda, int *info,
                              int64_t batch, bool pointers)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)uplo > SOLVER_UPPER || n < 0 || lda < at_least_1(n) || batch < 0 || !info) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.n = n, .lda = lda, .a = a, .upper = uplo == SOLVER_UPPER, .info = info,
                                  .pointers = pointers};
  if (!pointers) return solver_cholesky(h, t, &s);
  return solver_run(h, KERNEL_ssolve_cholesky, t, &s, batch, 1);
}

static solver_status with_cholesky(struct solver *h, int t, int uplo, int64_t n, int64_t sides, const void *a,
                                   int64_t lda, void *b, int64_t ldb, int *info, int64_t batch, bool pointers)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)uplo > SOLVER_UPPER || n < 0 || sides < 0 || lda < at_least_1(n) || ldb < at_least_1(n) || batch < 0)
    return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.n = n, .lda = lda, .ldb = ldb, .a = (void *)(uintptr_t)a, .b = b, .info = info,
                                  .upper = uplo == SOLVER_UPPER, .pointers = pointers};
  if (!pointers) return solver_with_cholesky(h, t, &s, sides);
  return solver_run(h, KERNEL_ssolve_with_cholesky, t, &s, batch, sides);
}

static solver_status qr(struct solver *h, int t, int64_t m, int64_t n, void *a, int64_t lda, void *tau,
                        struct solver_room room, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (m < 0 || n < 0 || lda < at_least_1(m)) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.m = m, .n = n, .lda = lda, .a = a, .tau = tau, .info = info};
  return solver_qr(h, t, &s, room);
}

static solver_status form_q(struct solver *h, int t, int m, int n, int k, void *a, int lda, const void *tau,
                            struct solver_room room, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (n < 0 || m < n || k < 0 || k > n || lda < at_least_1(m)) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.m = m, .n = n, .k = k, .lda = lda, .a = a, .tau = (void *)(uintptr_t)tau,
                                  .info = info};
  return solver_form_q(h, t, &s, room);
}

struct shape {
  int side, op, m, n, k, lda, ldc;
};

static bool good_shape(const struct shape *p, int t)
{
  const int order = p->side == SOLVER_LEFT ? p->m : p->n; /* of Q */
  if ((unsigned)p->side > SOLVER_RIGHT || (unsigned)p->op > WS_SOLVE_C || p->m < 0 || p->n < 0) return false;
  if (p->op == WS_SOLVE_T && t >= SOLVER_C) return false; /* as in LAPACK */
  return p->k >= 0 && p->k <= order && p->lda >= at_least_1(order) && p->ldc >= at_least_1(p->m);
}

static solver_status apply_q(struct solver *h, int t, const struct shape *p, const void *a, const void *tau, void *c,
                             struct solver_room room, int *info)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good_shape(p, t)) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.m = p->m, .n = p->n, .k = p->k, .lda = p->lda, .ldb = p->ldc,
                                  .a = (void *)(uintptr_t)a, .b = c, .tau = (void *)(uintptr_t)tau, .op = p->op,
                                  .right = p->side == SOLVER_RIGHT, .info = info};
  return solver_apply_q(h, t, &s, room);
}

/* The functions of type l: T is its element, t its number, `form` and `apply` the names it has for them. */
#define FUNCTIONS(l, T, t, form, apply)                                                                             \
  PUBLIC solver_status cusolverDn##l##getrf_bufferSize(const struct solver *h, int m, int n, T *a, int lda, int *w)  \
  {                                                                                                                 \
    (void)a;                                                                                                        \
    return room(h, m >= 0 && n >= 0 && lda >= at_least_1(m), w);                                                    \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##getrf(struct solver *h, int m, int n, T *a, int lda, T *work, int *pivots,     \
                                            int *info)                                                              \
  {                                                                                                                 \
    (void)work;                                                                                                     \
    return lu(h, t, m, n, a, lda, pivots, info);                                                                    \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##getrs(struct solver *h, int op, int n, int sides, const T *a, int lda,         \
                                            const int *pivots, T *b, int ldb, int *info)                            \
  {                                                                                                                 \
    return with_lu(h, t, op, n, sides, a, lda, pivots, b, ldb, info);                                               \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##potrf_bufferSize(const struct solver *h, int uplo, int n, T *a, int lda,       \
                                                       int *w)                                                      \
  {                                                                                                                 \
    (void)a, (void)uplo;                                                                                            \
    return room(h, n >= 0 && lda >= at_least_1(n), w);                                                              \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##potrf(struct solver *h, int uplo, int n, T *a, int lda, T *work, int words,    \
                                            int *info)                                                              \
  {                                                                                                                 \
    (void)work, (void)words;                                                                                        \
    return cholesky(h, t, uplo, n, a, lda, info, 1, false);                                                         \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##potrfBatched(struct solver *h, int uplo, int n, T *a[], int lda, int *info,    \
                                                   int batch)                                                       \
  {                                                                                                                 \
    return cholesky(h, t, uplo, n, a, lda, info, batch, true);                                                      \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##potrs(struct solver *h, int uplo, int n, int sides, const T *a, int lda, T *b, \
                                            int ldb, int *info)                                                     \
  {                                                                                                                 \
    return with_cholesky(h, t, uplo, n, sides, a, lda, b, ldb, info, 1, false);                                     \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##potrsBatched(struct solver *h, int uplo, int n, int sides, T *a[], int lda,    \
                                                   T *b[], int ldb, int *info, int batch)                           \
  {                                                                                                                 \
    (void)info; /* one number for the whole batch */                                                                \
    return with_cholesky(h, t, uplo, n, sides, a, lda, b, ldb, NULL, batch, true);                                  \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##geqrf_bufferSize(const struct solver *h, int m, int n, T *a, int lda, int *w)  \
  {                                                                                                                 \
    (void)a, (void)lda; /* CuPy asks with n for it, which cuSOLVER takes */                                         \
    return room_of_qr(h, m >= 0 && n >= 0, m, n, w);                                                                \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##geqrf(struct solver *h, int m, int n, T *a, int lda, T *tau, T *work,          \
                                            int words, int *info)                                                   \
  {                                                                                                                 \
    return qr(h, t, m, n, a, lda, tau, (struct solver_room){work, words}, info);                                     \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##form##_bufferSize(const struct solver *h, int m, int n, int k, const T *a,     \
                                                        int lda, const T *tau, int *w)                              \
  {                                                                                                                 \
    (void)a, (void)tau;                                                                                             \
    return room_of_qr(h, n >= 0 && m >= n && k >= 0 && k <= n && lda >= at_least_1(m), m, n, w);                    \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##form(struct solver *h, int m, int n, int k, T *a, int lda, const T *tau,       \
                                           T *work, int words, int *info)                                           \
  {                                                                                                                 \
    return form_q(h, t, m, n, k, a, lda, tau, (struct solver_room){work, words}, info);                              \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##apply##_bufferSize(const struct solver *h, int side, int op, int m, int n,     \
                                                         int k, const T *a, int lda, const T *tau, const T *c,      \
                                                         int ldc, int *w)                                           \
  {                                                                                                                 \
    const struct shape p = {side, op, m, n, k, lda, ldc};                                                           \
    (void)a, (void)tau, (void)c;                                                                                    \
    return room_of_qr(h, good_shape(&p, t), side == SOLVER_LEFT ? m : n, side == SOLVER_LEFT ? n : m, w);           \
  }                                                                                                                 \
  PUBLIC solver_status cusolverDn##l##apply(struct solver *h, int side, int op, int m, int n, int k, const T *a,     \
                                            int lda, const T *tau, T *c, int ldc, T *work, int words, int *info)    \
  {                                                                                                                 \
    const struct shape p = {side, op, m, n, k, lda, ldc};                                                           \
    return apply_q(h, t, &p, a, tau, c, (struct solver_room){work, words}, info);                                    \
  }

FUNCTIONS(S, float, SOLVER_S, orgqr, ormqr)
FUNCTIONS(D, double, SOLVER_D, orgqr, ormqr)
FUNCTIONS(C, struct complex_f32, SOLVER_C, ungqr, unmqr)
FUNCTIONS(Z, struct complex_f64, SOLVER_Z, ungqr, unmqr)

/* The 64-bit interface: types are arguments. */
int solver_type(int data)
{
  return data == 0 ? SOLVER_S : data == 1 ? SOLVER_D : data == 4 ? SOLVER_C : data == 5 ? SOLVER_Z : -1;
}

static solver_status no_room(const struct solver *h, bool good, int data, size_t *device, size_t *host)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good || !device || !host || solver_type(data) < 0) return SOLVER_INVALID_VALUE;
  *device = *host = 0;
  return SOLVER_SUCCESS;
}

PUBLIC solver_status cusolverDnXpotrf_bufferSize(const struct solver *h, void *params, int uplo, int64_t n, int data,
                                                 const void *a, int64_t lda, int compute, size_t *device, size_t *host)
{
  (void)params, (void)uplo, (void)a, (void)compute;
  return no_room(h, n >= 0 && lda >= at_least_1(n), data, device, host);
}
PUBLIC solver_status cusolverDnXpotrf(struct solver *h, void *params, int uplo, int64_t n, int data, void *a,
                                      int64_t lda, int compute, SOLVER_ROOM, int *info)
{
  (void)params, (void)work, (void)bytes, (void)on_host, (void)host_bytes;
  if (solver_type(data) < 0 || compute != data) return SOLVER_INVALID_VALUE;
  return cholesky(h, solver_type(data), uplo, n, a, lda, info, 1, false);
}
PUBLIC solver_status cusolverDnXpotrs(struct solver *h, void *params, int uplo, int64_t n, int64_t sides, int data,
                                      const void *a, int64_t lda, int data_b, void *b, int64_t ldb, int *info)
{
  (void)params;
  if (solver_type(data) < 0 || data_b != data) return SOLVER_INVALID_VALUE;
  return with_cholesky(h, solver_type(data), uplo, n, sides, a, lda, b, ldb, info, 1, false);
}
PUBLIC solver_status cusolverDnXgeqrf_bufferSize(const struct solver *h, void *params, int64_t m, int64_t n, int data,
                                                 const void *a, int64_t lda, int data_tau, const void *tau,
                                                 int compute, size_t *device, size_t *host)
{
  static const size_t bytes[] = {4, 8, 8, 16};
  (void)params, (void)a, (void)data_tau, (void)tau, (void)compute;
  const solver_status status = no_room(h, m >= 0 && n >= 0 && lda >= at_least_1(m), data, device, host);
  if (status == SOLVER_SUCCESS && m <= INT32_MAX && n <= INT32_MAX)
    *device = (size_t)solver_qr_elements(m, n) * bytes[solver_type(data)];
  return status;
}
PUBLIC solver_status cusolverDnXgeqrf(struct solver *h, void *params, int64_t m, int64_t n, int data, void *a,
                                      int64_t lda, int data_tau, void *tau, int compute, SOLVER_ROOM, int *info)
{
  static const int64_t of_element[] = {4, 8, 8, 16};
  (void)params, (void)on_host, (void)host_bytes;
  if (solver_type(data) < 0 || compute != data || data_tau != data) return SOLVER_INVALID_VALUE;
  const struct solver_room room = {work, (int64_t)(bytes / (size_t)of_element[solver_type(data)])};
  return qr(h, solver_type(data), m, n, a, lda, tau, room, info);
}
