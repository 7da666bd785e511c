/* Factors of cusolverSp step by step: analysis, factor, systems, for LU (host), QR and Cholesky (host and device),
 * and LU's factors as matrices.
 */
#include "libs/cusolver/sp_info.h"

#include <math.h>
#include <stdlib.h>

#define HOST_OF(kind) ((kind) == SP_QR_HOST || (kind) == SP_CHOLESKY_HOST || (kind) == SP_LU_HOST)

static solver_status set(struct sp_info *i, const struct sp_handle *h, const struct sp_csr *a, int t, sp_number shift,
                         uint64_t kind)
{
  solver_status status = sp_info_check(i, h, kind, a);
  if (status) return status;
  if (!a->values || (shift != 0 && a->m != a->n)) return SOLVER_INVALID_VALUE;
  i->set = i->factored = false;
  i->t = t, i->shift = shift;
  if (HOST_OF(kind)) {
    free(i->own_values);
    i->own_values = sp_values_read(t, a);
    if (!i->own_values) return SOLVER_ALLOC_FAILED;
  } else {
    status = sp_info_open(i, h, t, 1);
    if (status) return status;
    i->values = a->values;
  }
  i->set = true;
  return SOLVER_SUCCESS;
}

static solver_status factorise(struct sp_info *i, struct sp_handle *h)
{
  if (!i->set) return SOLVER_INVALID_VALUE;
  solver_status status;
  if (HOST_OF(i->kind)) {
    if (i->host.plan) sp_host_free(&i->host);
    status = sp_host_factorise(&i->host, &i->plan, i->own_values, i->shift, -1);
  } else {
    status = sp_device_factorise(&i->device, h, i->values, 0, i->shift);
  }
  i->factored = status == SOLVER_SUCCESS;
  return status;
}

static solver_status on_host(int t, const struct sp_info *i, const void *b, void *x)
{
  const int m = i->pattern.m, n = i->pattern.n;
  sp_number *v = sp_room(m > n ? m : n, sizeof *v);
  for (int r = 0; v && r < m; r++) v[r] = sp_get(t, b, r);
  const bool good = v && (i->kind == SP_LU_HOST ? sp_lu_solve(&i->lu, v, v) : sp_host_solve(&i->host, v, v));
  for (int r = 0; good && r < n; r++) sp_put(t, x, r, v[r]);
  free(v);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

/* m < 0: rows as columns. */
static solver_status solve(struct sp_info *i, struct sp_handle *h, uint64_t kind, int t, int m, int n, const void *b,
                           void *x)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!i || i->kind != kind || !i->factored || i->t != t || !b || !x) return SOLVER_INVALID_VALUE;
  if (i->pattern.n != n || i->pattern.m != m) return SOLVER_INVALID_VALUE;
  return HOST_OF(kind) ? on_host(t, i, b, x) : sp_device_solve(&i->device, h, b, x);
}

static solver_status zero_pivot(const struct sp_info *i, const struct sp_handle *h, uint64_t kind, double tolerance,
                                int *position)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!i || i->kind != kind || !i->factored || !position) return SOLVER_INVALID_VALUE;
  if (kind == SP_LU_HOST)
    *position = sp_lu_first_small(&i->lu, tolerance);
  else if (HOST_OF(kind))
    *position = sp_first_small(&i->plan, i->host.diagonal, tolerance);
  if (HOST_OF(kind)) return SOLVER_SUCCESS;
  double *diagonal = sp_room(i->plan.n, sizeof *diagonal);
  const bool good = diagonal && sp_device_diagonal(&i->device, h, diagonal);
  if (good) *position = sp_first_small(&i->plan, diagonal, tolerance);
  const solver_status status = good ? SOLVER_SUCCESS : diagonal ? SOLVER_EXECUTION_FAILED : SOLVER_ALLOC_FAILED;
  free(diagonal);
  return status;
}

static solver_status factor_qr(struct sp_info *i, struct sp_handle *h, uint64_t kind, int t, const struct sp_csr *a,
                               const void *b, void *x)
{
  solver_status status = sp_info_check(i, h, kind, a);
  if (status) return status;
  if (i->t != t) return SOLVER_INVALID_VALUE;
  status = factorise(i, h);
  return status || !b || !x ? status : solve(i, h, kind, t, a->m, a->n, b, x);
}

static solver_status factor_cholesky(struct sp_info *i, struct sp_handle *h, uint64_t kind, int t,
                                     const struct sp_csr *a)
{
  const solver_status status = set(i, h, a, t, 0, kind);
  return status ? status : factorise(i, h);
}

static solver_status factor_lu(struct sp_info *i, struct sp_handle *h, int t, const struct sp_csr *a, double threshold)
{
  const solver_status status = set(i, h, a, t, 0, SP_LU_HOST);
  if (status) return status;
  sp_lu_free(&i->lu);
  threshold = threshold < 0 ? 0 : threshold > 1 ? 1 : threshold;
  i->factored = sp_lu_factorise(&i->lu, &i->pattern, i->own_values, i->order, threshold);
  return i->factored ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

/* diag(L) of A(P, P) = L L^H, on the device. */
static solver_status diagonal_of(const struct sp_info *i, const struct sp_handle *h, int t, void *to)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!i || i->kind != SP_CHOLESKY_PLAN || !i->factored || i->t != t || !to) return SOLVER_INVALID_VALUE;
  const int n = i->plan.n, real = t == SOLVER_S || t == SOLVER_C ? SOLVER_S : SOLVER_D;
  double *diagonal = sp_room(n, sizeof *diagonal);
  void *out = sp_room(n, sizeof *diagonal);
  bool good = diagonal && out && sp_device_diagonal(&i->device, h, diagonal);
  for (int j = 0; good && j < n; j++) sp_put(real, out, j, diagonal[j]);
  good = good && cuMemcpyHtoD_v2((uintptr_t)to, out, (size_t)n * sp_bytes(real)) == DRIVER_OK;
  free(diagonal);
  free(out);
  return good ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

struct matrix {
  const struct description *d;
  void *values;
  int *offsets, *columns;
};

/* Compressed columns, with a diagonal or none, as compressed rows. */
static bool write_rows(const struct sp_lu *f, const struct sp_columns *c, const sp_number *diagonal, int t,
                       const struct matrix *to)
{
  const int n = f->n, base = cusparseGetMatIndexBase(to->d);
  int *at = sp_room(n + INT64_C(1), sizeof *at);
  if (!at) return false;
  for (int64_t k = 0; k < c->n; k++) at[c->rows[k] + 1]++;
  for (int i = 0; i < n; i++) at[i + 1] += at[i] + (diagonal ? 1 : 0);
  for (int i = 0; i <= n; i++) to->offsets[i] = at[i] + base;
  for (int j = 0; j < n; j++) {
    for (int64_t k = c->at[j]; k < c->at[j + 1]; k++) {
      to->columns[at[c->rows[k]]] = j + base;
      sp_put(t, to->values, at[c->rows[k]]++, c->values[k]);
    }
    if (!diagonal) continue;
    to->columns[at[j]] = j + base;
    sp_put(t, to->values, at[j]++, diagonal[j]);
  }
  free(at);
  return true;
}

static bool factored_lu(const struct sp_info *i)
{
  return i && i->kind == SP_LU_HOST && i->factored;
}

static solver_status extract(const struct sp_handle *h, const struct sp_info *i, int t, int *p, int *q,
                             const struct matrix *l, const struct matrix *u)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!factored_lu(i) || i->t != t || !p || !q || !l->d || !u->d || !l->offsets || !u->offsets)
    return SOLVER_INVALID_VALUE;
  if (!l->columns || !l->values || !u->columns || !u->values) return SOLVER_INVALID_VALUE;
  for (int j = 0; j < i->lu.n; j++) p[j] = i->lu.p[j], q[j] = i->lu.q[j];
  const bool good = write_rows(&i->lu, &i->lu.l, NULL, t, l) && write_rows(&i->lu, &i->lu.u, i->lu.diagonal, t, u);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

/* What L and U have, L's diagonal not counted. */
PUBLIC solver_status cusolverSpXcsrluNnzHost(const struct sp_handle *h, int *l, int *u, const struct sp_info *i)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!factored_lu(i) || !l || !u) return SOLVER_INVALID_VALUE;
  if (i->lu.l.n > INT32_MAX || i->lu.u.n + i->lu.n > INT32_MAX) return SOLVER_INVALID_VALUE;
  *l = (int)i->lu.l.n, *u = (int)i->lu.u.n + i->lu.n;
  return SOLVER_SUCCESS;
}

#define INFO(name, kind)                                                                                               \
  PUBLIC solver_status cusolverSpCreate##name(struct sp_info **out)                                                    \
  {                                                                                                                    \
    return sp_info_create(out, kind);                                                                                  \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSpDestroy##name(struct sp_info *info)                                                   \
  {                                                                                                                    \
    return sp_info_destroy(info, kind);                                                                                \
  }
INFO(CsrluInfoHost, SP_LU_HOST)
INFO(CsrqrInfoHost, SP_QR_HOST)
INFO(CsrqrInfo, SP_QR_PLAN)
INFO(CsrcholInfoHost, SP_CHOLESKY_HOST)
INFO(CsrcholInfo, SP_CHOLESKY_PLAN)

#define MATRIX(rows, v)                                                                                                \
  {                                                                                                                    \
    rows, n, count, d, v, offsets, NULL, columns                                                                       \
  }
#define SQUARE_ARGUMENTS                                                                                               \
  struct sp_handle *h, int n, int count, const struct description *d, const int *offsets, const int *columns,          \
      struct sp_info *info
#define ANALYSIS(name, kind)                                                                                           \
  PUBLIC solver_status cusolverSpX##name(SQUARE_ARGUMENTS)                                                             \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(n, NULL);                                                                           \
    return sp_info_analyse(info, h, kind, &a, __func__);                                                               \
  }
#define ANALYSIS_QR(name, kind)                                                                                        \
  PUBLIC solver_status cusolverSpX##name(struct sp_handle *h, int m, int n, int count, const struct description *d,    \
                                         const int *offsets, const int *columns, struct sp_info *info)                 \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(m, NULL);                                                                           \
    return sp_info_analyse(info, h, kind, &a, __func__);                                                               \
  }
ANALYSIS(csrluAnalysisHost, SP_LU_HOST)
ANALYSIS(csrcholAnalysisHost, SP_CHOLESKY_HOST)
ANALYSIS(csrcholAnalysis, SP_CHOLESKY_PLAN)
ANALYSIS_QR(csrqrAnalysisHost, SP_QR_HOST)
ANALYSIS_QR(csrqrAnalysis, SP_QR_PLAN)
ANALYSIS_QR(csrqrAnalysisBatched, SP_QR_PLAN)

#define VALUES(T)                                                                                                      \
  const struct description *d, const T *values, const int *offsets, const int *columns, struct sp_info *info

#define ZERO_PIVOT(name, R, kind)                                                                                      \
  PUBLIC solver_status cusolverSp##name(struct sp_handle *h, struct sp_info *info, R tolerance, int *position)         \
  {                                                                                                                    \
    return zero_pivot(info, h, kind, (double)tolerance, position);                                                     \
  }
#define BUFFER_INFO(name, T, t, kind)                                                                                  \
  PUBLIC solver_status cusolverSp##name(struct sp_handle *h, int n, int count, VALUES(T), size_t *internal,            \
                                        size_t *room)                                                                  \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(n, values);                                                                         \
    return sp_info_bytes(info, h, kind, &a, t, 1, internal, room);                                                     \
  }
#define SOLVE(name, T, t, kind)                                                                                        \
  PUBLIC solver_status cusolverSp##name(struct sp_handle *h, int n, const T *b, T *x, struct sp_info *info,            \
                                        void *room)                                                                    \
  {                                                                                                                    \
    (void)room;                                                                                                        \
    return solve(info, h, kind, t, n, n, b, x);                                                                        \
  }

#define QR(l, T, R, t, value, where, kind)                                                                             \
  PUBLIC solver_status cusolverSp##l##csrqrBufferInfo##where(struct sp_handle *h, int m, int n, int count, VALUES(T),  \
                                                             size_t *internal, size_t *room)                           \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(m, values);                                                                         \
    return sp_info_bytes(info, h, kind, &a, t, 1, internal, room);                                                     \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrqrSetup##where(                                                               \
      struct sp_handle *h, int m, int n, int count, const struct description *d, const T *values, const int *offsets,  \
      const int *columns, T shift, struct sp_info *info)                                                               \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(m, values);                                                                         \
    return set(info, h, &a, t, value, kind);                                                                           \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrqrFactor##where(struct sp_handle *h, int m, int n, int count, T *b, T *x,     \
                                                         struct sp_info *info, void *room)                             \
  {                                                                                                                    \
    const struct sp_csr a = {.m = m, .n = n, .count = count};                                                          \
    (void)room;                                                                                                        \
    return factor_qr(info, h, kind, t, &a, b, x);                                                                      \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrqrSolve##where(struct sp_handle *h, int m, int n, T *b, T *x,                 \
                                                        struct sp_info *info, void *room)                              \
  {                                                                                                                    \
    (void)room;                                                                                                        \
    return solve(info, h, kind, t, m, n, b, x);                                                                        \
  }                                                                                                                    \
  ZERO_PIVOT(l##csrqrZeroPivot##where, R, kind)

#define CHOLESKY(l, T, R, t, where, kind)                                                                              \
  BUFFER_INFO(l##csrcholBufferInfo##where, T, t, kind)                                                                 \
  PUBLIC solver_status cusolverSp##l##csrcholFactor##where(struct sp_handle *h, int n, int count, VALUES(T),           \
                                                           void *room)                                                 \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(n, values);                                                                         \
    (void)room;                                                                                                        \
    return factor_cholesky(info, h, kind, t, &a);                                                                      \
  }                                                                                                                    \
  SOLVE(l##csrcholSolve##where, T, t, kind)                                                                            \
  ZERO_PIVOT(l##csrcholZeroPivot##where, R, kind)

#define LU(l, T, R, t)                                                                                                 \
  BUFFER_INFO(l##csrluBufferInfoHost, T, t, SP_LU_HOST)                                                                \
  PUBLIC solver_status cusolverSp##l##csrluFactorHost(struct sp_handle *h, int n, int count, VALUES(T), R threshold,   \
                                                      void *room)                                                      \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(n, values);                                                                         \
    (void)room;                                                                                                        \
    return factor_lu(info, h, t, &a, (double)threshold);                                                               \
  }                                                                                                                    \
  SOLVE(l##csrluSolveHost, T, t, SP_LU_HOST)                                                                           \
  ZERO_PIVOT(l##csrluZeroPivotHost, R, SP_LU_HOST)                                                                     \
  PUBLIC solver_status cusolverSp##l##csrluExtractHost(                                                                \
      struct sp_handle *h, int *p, int *q, const struct description *dl, T *vl, int *ol, int *cl,                      \
      const struct description *du, T *vu, int *ou, int *cu, struct sp_info *info, void *room)                         \
  {                                                                                                                    \
    const struct matrix lower = {dl, vl, ol, cl}, upper = {du, vu, ou, cu};                                            \
    (void)room;                                                                                                        \
    return extract(h, info, t, p, q, &lower, &upper);                                                                  \
  }

#define FUNCTIONS(l, T, R, t, value)                                                                                   \
  LU(l, T, R, t)                                                                                                       \
  QR(l, T, R, t, value, , SP_QR_PLAN)                                                                                  \
  QR(l, T, R, t, value, Host, SP_QR_HOST)                                                                              \
  CHOLESKY(l, T, R, t, , SP_CHOLESKY_PLAN)                                                                             \
  CHOLESKY(l, T, R, t, Host, SP_CHOLESKY_HOST)                                                                         \
  PUBLIC solver_status cusolverSp##l##csrcholDiag(const struct sp_handle *h, const struct sp_info *info, R *to)        \
  {                                                                                                                    \
    return diagonal_of(info, h, t, to);                                                                                \
  }

FUNCTIONS(S, float, float, SOLVER_S, (double)shift)
FUNCTIONS(D, double, double, SOLVER_D, shift)
FUNCTIONS(C, struct complex_f32, float, SOLVER_C, sp_complex(shift.re, shift.im))
FUNCTIONS(Z, struct complex_f64, double, SOLVER_Z, sp_complex(shift.re, shift.im))
