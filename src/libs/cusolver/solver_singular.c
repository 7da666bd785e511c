/* Singular values: gesvd (also by the 64-bit interface), gesvdj and its batches, gesvda. All have the same kernel,
 * rotations from one side, so limits of sweeps and tolerances that a program sets change nothing; values are always in
 * descending order. */
#include <limits.h>

#include "libs/cusolver/solver_types.h"
#include "libs/kernels/eigen_args.h"

static const size_t element[] = {4, 8, 8, 16};

static int64_t at_least_1(int64_t n)
{
  return n > 1 ? n : 1;
}

/* A problem as a program states it: a (m x n) = U diag(s) V^H, with n_u and n_v columns of U and V wanted. */
struct factors {
  int64_t m, n, lda, ldu, ldv, n_u, n_v, batch;
  int64_t a_step, s_step, u_step, v_step;
  bool v_turned; /* V^H is wanted, n_v rows of it */
};

static bool good(const struct factors *q)
{
  const int64_t rows_v = q->v_turned ? q->n_v : q->n;
  if (q->m < 0 || q->n < 0 || q->batch < 0 || q->lda < at_least_1(q->m)) return false;
  if (q->n_u && q->ldu < at_least_1(q->m)) return false;
  if (q->n_v && q->ldv < at_least_1(rows_v)) return false;
  return q->n_u <= q->m && q->n_v <= q->n;
}

/* Bytes for kernels and for a residual of each matrix, which come first. */
static size_t need(const struct factors *q, int t)
{
  const int64_t rows = q->m > q->n ? q->m : q->n, columns = q->m > q->n ? q->n : q->m;
  if (rows > 1 << 24 || q->batch > INT32_MAX) return SIZE_MAX;
  size_t bytes = (size_t)WS_SINGULAR_ROOM(rows, columns) * element[t];
  if (__builtin_mul_overflow(bytes, (size_t)q->batch, &bytes)) return SIZE_MAX;
  return bytes + (size_t)(q->batch + 1) / 2 * 16;
}

static void tall(struct ws_singular_args *s, const struct factors *q, void *u, void *v)
{
  *s = (struct ws_singular_args){.rows = q->m, .columns = q->n, .ldq = q->ldu, .q_step = q->u_step, .ldx = q->ldv,
                                 .x_step = q->v_step, .n_q = q->n_u, .n_x = q->n_v, .q = u, .x = v,
                                 .x_turned = q->v_turned};
}

/* The conjugate transposed is V diag(s) U^H. */
static void flat(struct ws_singular_args *s, const struct factors *q, void *u, void *v)
{
  *s = (struct ws_singular_args){.rows = q->n, .columns = q->m, .ldq = q->ldv, .q_step = q->v_step, .ldx = q->ldu,
                                 .x_step = q->u_step, .n_q = q->n_v, .n_x = q->n_u, .q = v, .x = u, .turned = true};
}

struct at_gpu {
  void *a, *s, *u, *v, *work;
  size_t bytes;
  int *info;
};

static solver_status solve(struct solver *h, int t, const struct factors *q, const struct at_gpu *at, int unsettled,
                           bool residual)
{
  struct ws_singular_args s;
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(q) || at->bytes < need(q, t)) return SOLVER_INVALID_VALUE;
  if (q->m < q->n) flat(&s, q, at->u, at->v);
  else tall(&s, q, at->u, at->v);
  s.lda = q->lda, s.a_step = q->a_step, s.s_step = q->s_step;
  s.a = at->a, s.s = at->s, s.info = at->info, s.unsettled = unsettled;
  s.residual = residual ? at->work : NULL;
  s.work = (char *)at->work + (size_t)(q->batch + 1) / 2 * 16;
  return solver_launch(h, KERNEL_ssingular, KERNEL_dsingular, t, &s, q->batch, 1);
}

/* Room in elements, as a number of the plain interface. */
static solver_status room(const struct solver *h, int t, const struct factors *q, int *words)
{
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(q) || !words) return SOLVER_INVALID_VALUE;
  const size_t bytes = need(q, t);
  if (bytes / element[t] > INT_MAX) return solver_refuse("cusolverDn?gesvd", "so large matrices");
  *words = (int)(bytes / element[t]);
  return SOLVER_SUCCESS;
}

static size_t of_words(int words, int t)
{
  return words > 0 ? (size_t)words * element[t] : 0;
}

/* gesvd: jobs by letters, V^H, at least as many rows as columns; O: what is wanted comes in the place of a. */
static int64_t of_job(int job, int64_t all, int64_t few)
{
  return job == 'A' ? all : job == 'S' || job == 'O' ? few : job == 'N' ? 0 : -1;
}

struct wanted {
  int u, v;
  int64_t m, n, lda, ldu, ldv;
};

static solver_status gesvd(struct solver *h, int t, const struct wanted *w, const struct at_gpu *at)
{
  const int64_t n_u = of_job(w->u, w->m, w->n), n_v = of_job(w->v, w->n, w->n);
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (n_u < 0 || n_v < 0 || w->m < w->n || (w->u == 'O' && w->v == 'O')) return SOLVER_INVALID_VALUE;
  struct factors q = {.m = w->m, .n = w->n, .lda = w->lda, .ldu = w->ldu, .ldv = w->ldv, .n_u = n_u, .n_v = n_v,
                      .batch = 1, .v_turned = true};
  struct at_gpu to = *at;
  if (w->u == 'O') to.u = at->a, q.ldu = w->lda;
  if (w->v == 'O') to.v = at->a, q.ldv = w->lda;
  return solve(h, t, &q, &to, 1, false);
}

/* gesvdj: V, of `vectors` and `econ`. */
static struct factors of_mode(int vectors, int econ, int64_t m, int64_t n)
{
  const int64_t k = m < n ? m : n;
  return (struct factors){.m = m, .n = n, .n_u = vectors ? (econ ? k : m) : 0, .n_v = vectors ? (econ ? k : n) : 0,
                          .batch = 1};
}

static int unsettled(const struct factors *q)
{
  return (int)(q->m < q->n ? q->m : q->n) + 1;
}

/* gesvda: batches at given steps, `rank` columns, and on the host the norm of what is left of each matrix. */
struct strided {
  int vectors, rank, m, n, lda, ldu, ldv, batch;
  long long a_step, s_step, u_step, v_step;
};

static struct factors of_strided(const struct strided *g)
{
  const int64_t wanted = g->vectors ? g->rank : 0;
  return (struct factors){.m = g->m, .n = g->n, .lda = g->lda, .ldu = g->ldu, .ldv = g->ldv, .n_u = wanted,
                          .n_v = wanted, .batch = g->batch, .a_step = g->a_step, .s_step = g->s_step,
                          .u_step = g->u_step, .v_step = g->v_step};
}

static solver_status gesvda(struct solver *h, int t, const struct strided *g, const struct at_gpu *at, double *left)
{
  const struct factors q = of_strided(g);
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (g->m < g->n || g->rank < 0 || g->rank > g->n) return SOLVER_INVALID_VALUE;
  const solver_status status = solve(h, t, &q, at, unsettled(&q), left && g->vectors);
  if (status != SOLVER_SUCCESS || !left || !g->vectors || !g->batch) return status;
  const size_t bytes = (size_t)g->batch * sizeof *left;
  if (cuMemcpyDtoHAsync_v2(left, (uint64_t)(uintptr_t)at->work, bytes, h->stream) != DRIVER_OK ||
      cuStreamSynchronize(h->stream) != DRIVER_OK)
    return SOLVER_EXECUTION_FAILED;
  return SOLVER_SUCCESS;
}

/* The functions of type l: T is its element, R a real number of it, t its number. */
#define FUNCTIONS(l, T, R, t)                                                                                         \
  PUBLIC solver_status cusolverDn##l##gesvd_bufferSize(const struct solver *h, int m, int n, int *words)              \
  {                                                                                                                   \
    const struct factors q = {.m = m, .n = n, .lda = m > 1 ? m : 1, .batch = 1};                                      \
    return m < n ? SOLVER_INVALID_VALUE : room(h, t, &q, words);                                                      \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvd(struct solver *h, signed char u_job, signed char v_job, int m, int n,     \
                                            T *a, int lda, R *s, T *u, int ldu, T *v, int ldv, T *work, int words,    \
                                            R *unused, int *info)                                                     \
  {                                                                                                                   \
    const struct wanted w = {u_job, v_job, m, n, lda, ldu, ldv};                                                      \
    const struct at_gpu at = {a, s, u, v, work, of_words(words, t), info};                                            \
    (void)unused;                                                                                                     \
    return gesvd(h, t, &w, &at);                                                                                      \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvdj_bufferSize(const struct solver *h, int vectors, int econ, int m, int n,  \
                                                        const T *a, int lda, const R *s, const T *u, int ldu,         \
                                                        const T *v, int ldv, int *words, void *params)                \
  {                                                                                                                   \
    struct factors q = of_mode(vectors, econ, m, n);                                                                  \
    (void)a, (void)s, (void)u, (void)v, (void)params;                                                                 \
    q.lda = lda, q.ldu = ldu, q.ldv = ldv;                                                                            \
    return room(h, t, &q, words);                                                                                     \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvdj(struct solver *h, int vectors, int econ, int m, int n, T *a, int lda,    \
                                             R *s, T *u, int ldu, T *v, int ldv, T *work, int words, int *info,       \
                                             void *params)                                                            \
  {                                                                                                                   \
    struct factors q = of_mode(vectors, econ, m, n);                                                                  \
    const struct at_gpu at = {a, s, u, v, work, of_words(words, t), info};                                            \
    (void)params;                                                                                                     \
    q.lda = lda, q.ldu = ldu, q.ldv = ldv;                                                                            \
    return solve(h, t, &q, &at, unsettled(&q), false);                                                                \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvdjBatched_bufferSize(const struct solver *h, int vectors, int m, int n,     \
                                                               const T *a, int lda, const R *s, const T *u, int ldu,  \
                                                               const T *v, int ldv, int *words, void *params,         \
                                                               int batch)                                             \
  {                                                                                                                   \
    struct factors q = of_mode(vectors, 0, m, n);                                                                     \
    (void)a, (void)s, (void)u, (void)v, (void)params;                                                                 \
    q.lda = lda, q.ldu = ldu, q.ldv = ldv, q.batch = batch;                                                           \
    return room(h, t, &q, words);                                                                                     \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvdjBatched(struct solver *h, int vectors, int m, int n, T *a, int lda, R *s, \
                                                    T *u, int ldu, T *v, int ldv, T *work, int words, int *info,      \
                                                    void *params, int batch)                                          \
  {                                                                                                                   \
    struct factors q = of_mode(vectors, 0, m, n);                                                                     \
    const struct at_gpu at = {a, s, u, v, work, of_words(words, t), info};                                            \
    (void)params;                                                                                                     \
    q.lda = lda, q.ldu = ldu, q.ldv = ldv, q.batch = batch;                                                           \
    q.a_step = (int64_t)lda * n, q.s_step = m < n ? m : n, q.u_step = (int64_t)ldu * m, q.v_step = (int64_t)ldv * n;  \
    return solve(h, t, &q, &at, unsettled(&q), false);                                                                \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvdaStridedBatched_bufferSize(                                                \
    const struct solver *h, int vectors, int rank, int m, int n, const T *a, int lda, long long a_step, const R *s,   \
    long long s_step, const T *u, int ldu, long long u_step, const T *v, int ldv, long long v_step, int *words,       \
    int batch)                                                                                                        \
  {                                                                                                                   \
    const struct strided g = {vectors, rank, m, n, lda, ldu, ldv, batch, a_step, s_step, u_step, v_step};             \
    const struct factors q = of_strided(&g);                                                                          \
    (void)a, (void)s, (void)u, (void)v;                                                                               \
    return m < n ? SOLVER_INVALID_VALUE : room(h, t, &q, words);                                                      \
  }                                                                                                                   \
  PUBLIC solver_status cusolverDn##l##gesvdaStridedBatched(                                                           \
    struct solver *h, int vectors, int rank, int m, int n, const T *a, int lda, long long a_step, R *s,               \
    long long s_step, T *u, int ldu, long long u_step, T *v, int ldv, long long v_step, T *work, int words,           \
    int *info, double *left, int batch)                                                                               \
  {                                                                                                                   \
    const struct strided g = {vectors, rank, m, n, lda, ldu, ldv, batch, a_step, s_step, u_step, v_step};             \
    const struct at_gpu at = {(void *)(uintptr_t)a, s, u, v, work, of_words(words, t), info};                         \
    return gesvda(h, t, &g, &at, left);                                                                               \
  }
FUNCTIONS(S, float, float, SOLVER_S)
FUNCTIONS(D, double, double, SOLVER_D)
FUNCTIONS(C, struct complex_f32, float, SOLVER_C)
FUNCTIONS(Z, struct complex_f64, double, SOLVER_Z)

/* The 64-bit interface. */
struct svd_types {
  int a, s, u, v, compute;
};

/* SOLVER_S to SOLVER_Z; -1: types that do not go together. */
static int type_of(const struct svd_types *y)
{
  const int t = solver_type(y->a);
  if (t < 0 || y->compute != y->a || y->u != y->a || y->v != y->a || solver_type(y->s) != (t & 1)) return -1;
  return t;
}

PUBLIC solver_status cusolverDnXgesvd_bufferSize(const struct solver *h, void *params, signed char u_job,
                                                 signed char v_job, int64_t m, int64_t n, int data, const void *a,
                                                 int64_t lda, int data_s, const void *s, int data_u, const void *u,
                                                 int64_t ldu, int data_v, const void *v, int64_t ldv, int compute,
                                                 size_t *device, size_t *host)
{
  const struct svd_types y = {data, data_s, data_u, data_v, compute};
  const struct factors q = {.m = m, .n = n, .lda = lda, .batch = 1};
  const int t = type_of(&y);
  (void)params, (void)u_job, (void)v_job, (void)a, (void)s, (void)u, (void)ldu, (void)v, (void)ldv;
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (t < 0 || m < n || !good(&q) || !device || !host) return SOLVER_INVALID_VALUE;
  *host = 0;
  *device = need(&q, t);
  return *device == SIZE_MAX ? solver_refuse("cusolverDnXgesvd", "so large matrices") : SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverDnXgesvd(struct solver *h, void *params, signed char u_job, signed char v_job, int64_t m,
                                      int64_t n, int data, void *a, int64_t lda, int data_s, void *s, int data_u,
                                      void *u, int64_t ldu, int data_v, void *v, int64_t ldv, int compute, SOLVER_ROOM,
                                      int *info)
{
  const struct svd_types y = {data, data_s, data_u, data_v, compute};
  const struct wanted w = {u_job, v_job, m, n, lda, ldu, ldv};
  const struct at_gpu at = {a, s, u, v, work, bytes, info};
  (void)params, (void)on_host, (void)host_bytes;
  return type_of(&y) < 0 ? SOLVER_INVALID_VALUE : gesvd(h, type_of(&y), &w, &at);
}
