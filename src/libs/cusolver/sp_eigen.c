/* Eigenvalues of cusolverSp: the one nearest a number, by inverse iteration (csreigvsi); how many are in a box
 * (csreigs). */
#include "libs/cusolver/sp_device.h"
#include "libs/cusolver/sp_host.h"

#include <math.h>
#include <stdlib.h>

/* What is called of our cuBLAS and cuSPARSE. */
struct blas;
struct sparse_handle;
struct sparse_matrix;
struct dense_matrix;
int cublasCreate_v2(struct blas **);
int cublasDestroy_v2(struct blas *);
int cublasSetStream_v2(struct blas *, driver_stream);
int cublasNrm2Ex(struct blas *, int n, const void *x, int x_type, int step, void *result, int type, int reckoned);
int cublasDotcEx(struct blas *, int n, const void *x, int x_type, int x_step, const void *y, int y_type, int y_step,
                 void *result, int type, int reckoned);
int cublasScalEx(struct blas *, int n, const void *alpha, int alpha_type, void *x, int x_type, int step, int reckoned);
int cublasAxpyEx(struct blas *, int n, const void *alpha, int alpha_type, const void *x, int x_type, int x_step,
                 void *y, int y_type, int y_step, int reckoned);
int cusparseCreate(struct sparse_handle **);
int cusparseDestroy(struct sparse_handle *);
int cusparseSetStream(struct sparse_handle *, driver_stream);
int cusparseCreateCsr(struct sparse_matrix **, int64_t rows, int64_t columns, int64_t count, void *offsets,
                      void *indices, void *values, int offset_type, int index_type, int base, int type);
int cusparseDestroySpMat(struct sparse_matrix *);
int cusparseCreateDnVec(struct dense_matrix **, int64_t n, void *values, int type);
int cusparseDestroyDnVec(struct dense_matrix *);
int cusparseSpMV(struct sparse_handle *, int op, const void *alpha, const struct sparse_matrix *,
                 const struct dense_matrix *x, const void *beta, const struct dense_matrix *y, int type, int algorithm,
                 void *room);

struct search {
  int t;
  struct sp_csr a;
  sp_number near;
  const void *start;
  int most;
  double tolerance;
  void *value, *x;
};

static solver_status check(const struct sp_handle *h, const struct search *s)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  return s->a.values && s->start && s->value && s->x && s->most > 0 ? SOLVER_SUCCESS : SOLVER_INVALID_VALUE;
}

static solver_status plan_of(struct sp_plan *plan, const struct sp_pattern *p)
{
  int *order = sp_room(p->n, sizeof *order);
  solver_status status = SOLVER_ALLOC_FAILED;
  if (order && sp_order_columns(SP_ORDER_AMD, p, order)) status = sp_plan_make(plan, SP_QR, p, order, true);
  free(order);
  return status;
}

/* x / |x|; false: there is none. */
static bool normalise(sp_number *x, int n)
{
  double most = 0, sum = 0;
  for (int i = 0; i < n; i++) most = fmax(most, cabs(x[i]));
  if (!(most > 0) || !isfinite(most)) return false;
  for (int i = 0; i < n; i++) x[i] /= most, sum += sp_square(x[i]);
  for (int i = 0; i < n; i++) x[i] /= sqrt(sum);
  return true;
}

/* x^H A x, and how far A x is from its multiple of x. */
static sp_number quotient(const struct sp_pattern *a, const sp_number *values, const sp_number *x, sp_number *ax,
                          double *left)
{
  sp_number value = 0;
  for (int i = 0; i < a->m; i++) {
    ax[i] = 0;
    for (int k = a->offsets[i]; k < a->offsets[i + 1]; k++) ax[i] += sp_times(values[k], x[a->columns[k]]);
    value += sp_times(conj(x[i]), ax[i]);
  }
  *left = 0;
  for (int i = 0; i < a->m; i++) *left += sp_square(ax[i] - sp_times(value, x[i]));
  *left = sqrt(*left);
  return value;
}

static solver_status iterate(const struct search *s, const struct sp_pattern *p, const sp_number *values,
                             const struct sp_host_factor *f)
{
  const int n = p->n;
  sp_number *x = sp_room(2 * (int64_t)n, sizeof *x), value = s->near;
  solver_status status = x ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  for (int i = 0; !status && i < n; i++) x[i] = sp_get(s->t, s->start, i);
  double left = INFINITY;
  for (int step = 0; !status && step < s->most && !(left <= s->tolerance * cabs(value)); step++) {
    if (!sp_host_solve(f, x, x))
      status = SOLVER_ALLOC_FAILED;
    else if (!normalise(x, n))
      status = SOLVER_EXECUTION_FAILED;
    else
      value = quotient(p, values, x, x + n, &left);
  }
  for (int i = 0; !status && i < n; i++) sp_put(s->t, s->x, i, x[i]);
  if (!status) sp_put(s->t, s->value, 0, value);
  free(x);
  return status;
}

/* What is on the diagonal of the factor where it is 0, as when `near` is an eigenvalue: iterations go on with next
 * to nothing. */
static sp_number aside(sp_number near, const sp_number *values, int count, double unit)
{
  double most = 0;
  for (int k = 0; k < count; k++) most = fmax(most, cabs(values[k]));
  return near + most * unit;
}
static double unit_of(int t)
{
  return t == SOLVER_S || t == SOLVER_C ? 0x1p-20 : 0x1p-48;
}

static solver_status on_host(const struct sp_handle *h, const struct search *s, const char *function)
{
  struct sp_pattern p;
  struct sp_plan plan = {0};
  struct sp_host_factor f = {0};
  solver_status status = check(h, s);
  if (!status) status = sp_pattern_read(&p, &s->a, function);
  if (status) return status;
  sp_number *values = sp_values_read(s->t, &s->a);
  status = values ? plan_of(&plan, &p) : SOLVER_ALLOC_FAILED;
  if (!status) status = sp_host_factorise(&f, &plan, values, s->near, -1);
  if (!status && sp_first_small(&plan, f.diagonal, 0) >= 0) {
    sp_host_free(&f);
    status = sp_host_factorise(&f, &plan, values, aside(s->near, values, s->a.count, unit_of(SOLVER_Z)), -1);
  }
  if (!status) status = iterate(s, &p, values, &f);
  if (f.plan) sp_host_free(&f);
  free(values);
  sp_plan_free(&plan);
  sp_pattern_free(&p);
  return status;
}

/* Vectors and the matrix on the device. */
struct run {
  struct sp_device *d;
  struct sp_handle *h;
  struct blas *blas;
  struct sparse_handle *sparse;
  struct sparse_matrix *a;
  struct dense_matrix *x, *ax;
  uint64_t room;  /* A x */
  int type, real; /* cudaDataType */
};

static bool open_run(struct run *r, const struct search *s)
{
  static const int types[] = {0, 1, 4, 5}, reals[] = {0, 1, 0, 1};
  enum { INDEX_32 = 2 };
  const int n = s->a.n;
  void *const arrays[] = {(void *)(uintptr_t)s->a.offsets, (void *)(uintptr_t)s->a.columns,
                          (void *)(uintptr_t)s->a.values};
  r->type = types[s->t], r->real = reals[s->t];
  return cuMemAlloc_v2(&r->room, (size_t)n * sp_bytes(s->t)) == DRIVER_OK && !cublasCreate_v2(&r->blas) &&
         !cusparseCreate(&r->sparse) && !cublasSetStream_v2(r->blas, r->h->stream) &&
         !cusparseSetStream(r->sparse, r->h->stream) &&
         !cusparseCreateCsr(&r->a, n, n, s->a.count, arrays[0], arrays[1], arrays[2], INDEX_32, INDEX_32,
                            cusparseGetMatIndexBase(s->a.d), r->type) &&
         !cusparseCreateDnVec(&r->x, n, s->x, r->type) && !cusparseCreateDnVec(&r->ax, n, sp_pointer(r->room), r->type);
}
static void close_run(struct run *r)
{
  if (r->blas) cublasDestroy_v2(r->blas);
  if (r->a) cusparseDestroySpMat(r->a);
  if (r->x) cusparseDestroyDnVec(r->x);
  if (r->ax) cusparseDestroyDnVec(r->ax);
  if (r->sparse) cusparseDestroy(r->sparse);
  if (r->room) cuMemFree_v2(r->room);
}

static bool norm(const struct run *r, int n, int t, const void *x, double *size)
{
  double v[2];
  if (cublasNrm2Ex(r->blas, n, x, r->type, 1, v, r->real, r->real)) return false;
  *size = creal(sp_get(t == SOLVER_S || t == SOLVER_C ? SOLVER_S : SOLVER_D, v, 0));
  return true;
}

/* One step from `from` to x: x, its quotient, how far A x is from that multiple. */
static bool turn(const struct run *r, const struct search *s, const void *from, sp_number *value, double *left)
{
  const int n = s->a.n, t = s->t;
  void *const ax = sp_pointer(r->room);
  double size, number[2], one[2], zero[2] = {0, 0};
  sp_put(t, one, 0, 1);
  if (sp_device_solve(r->d, r->h, from, s->x) || !norm(r, n, t, s->x, &size) || !(size > 0) || !isfinite(size))
    return false;
  sp_put(t, number, 0, 1 / size);
  if (cublasScalEx(r->blas, n, number, r->type, s->x, r->type, 1, r->type)) return false;
  if (cusparseSpMV(r->sparse, 0, one, r->a, r->x, zero, r->ax, r->type, 0, NULL)) return false;
  if (cublasDotcEx(r->blas, n, s->x, r->type, 1, ax, r->type, 1, number, r->type, r->type)) return false;
  *value = sp_get(t, number, 0);
  sp_put(t, number, 0, -*value);
  return !cublasAxpyEx(r->blas, n, number, r->type, s->x, r->type, 1, ax, r->type, 1, r->type) &&
         norm(r, n, t, ax, left);
}

static solver_status run(struct run *r, const struct search *s)
{
  const int n = s->a.n;
  double *diagonal = sp_room(n, sizeof *diagonal), left = INFINITY, number[2];
  const size_t bytes = (size_t)s->a.count * sp_bytes(s->t);
  void *values = sp_room((int64_t)bytes, 1);
  sp_number value = s->near;
  solver_status status =
      diagonal && values ? sp_device_factorise(r->d, r->h, s->a.values, 0, s->near) : SOLVER_ALLOC_FAILED;
  if (!status && !sp_device_diagonal(r->d, r->h, diagonal)) status = SOLVER_EXECUTION_FAILED;
  if (!status && sp_first_small(r->d->plan, diagonal, 0) >= 0) {
    struct sp_csr here = s->a;
    here.values = values;
    sp_number *wide = sp_fetch(r->h, values, s->a.values, bytes) ? sp_values_read(s->t, &here) : NULL;
    status = wide ? sp_device_factorise(r->d, r->h, s->a.values, 0, aside(s->near, wide, s->a.count, unit_of(s->t)))
                  : SOLVER_ALLOC_FAILED;
    free(wide);
  }
  for (int step = 0; !status && step < s->most && !(left <= s->tolerance * cabs(value)); step++)
    if (!turn(r, s, step ? s->x : s->start, &value, &left)) status = SOLVER_EXECUTION_FAILED;
  sp_put(s->t, number, 0, value);
  if (!status && cuMemcpyHtoD_v2((uintptr_t)s->value, number, sp_bytes(s->t)) != DRIVER_OK)
    status = SOLVER_EXECUTION_FAILED;
  free(diagonal);
  free(values);
  return status;
}

static solver_status on_device(struct sp_handle *h, const struct search *s, const char *function)
{
  struct sp_pattern p;
  struct sp_plan plan = {0};
  struct sp_device d = {0};
  solver_status status = check(h, s);
  if (!status) status = sp_pattern_fetch(&p, h, &s->a, function);
  if (status) return status;
  struct run r = {.d = &d, .h = h};
  status = plan_of(&plan, &p);
  if (!status) status = sp_device_open(&d, h, &plan, s->t, 1);
  if (!status && !open_run(&r, s)) status = SOLVER_ALLOC_FAILED;
  if (!status) status = run(&r, s);
  close_run(&r);
  sp_device_close(&d);
  sp_plan_free(&plan);
  sp_pattern_free(&p);
  return status;
}

/* A dense matrix's eigenvalues: to Hessenberg's form by eliminations, then QR steps with Wilkinson's shift. */
static void hessenberg(sp_number *a, int64_t n)
{
  for (int64_t k = 0; k + 2 < n; k++) {
    int64_t top = k + 1;
    for (int64_t i = k + 2; i < n; i++)
      if (cabs(a[i * n + k]) > cabs(a[top * n + k])) top = i;
    if (a[top * n + k] == 0) continue;
    for (int64_t j = 0; j < n && top != k + 1; j++) {
      const sp_number t = a[top * n + j];
      a[top * n + j] = a[(k + 1) * n + j], a[(k + 1) * n + j] = t;
    }
    for (int64_t i = 0; i < n && top != k + 1; i++) {
      const sp_number t = a[i * n + top];
      a[i * n + top] = a[i * n + k + 1], a[i * n + k + 1] = t;
    }
    for (int64_t i = k + 2; i < n; i++) {
      const sp_number by = a[i * n + k] / a[(k + 1) * n + k];
      if (by == 0) continue;
      for (int64_t j = k; j < n; j++) a[i * n + j] -= sp_times(by, a[(k + 1) * n + j]);
      for (int64_t j = 0; j < n; j++) a[j * n + k + 1] += sp_times(by, a[j * n + i]);
    }
  }
}

/* The eigenvalue of the last two rows that is nearest the last element. */
static sp_number nearest(const sp_number *a, int64_t n, int64_t last)
{
  const sp_number p = a[(last - 1) * n + last - 1], q = a[(last - 1) * n + last], r = a[last * n + last - 1],
                  s = a[last * n + last];
  const sp_number half = (p - s) / 2, root = csqrt(half * half + q * r);
  const sp_number with = half + root, without = half - root, most = cabs(with) > cabs(without) ? with : without;
  return most == 0 ? s : s - q * r / most;
}

static void qr_step(sp_number *a, int64_t n, int64_t first, int64_t last, sp_number shift, double *cosine,
                    sp_number *sine)
{
  for (int64_t k = first; k <= last; k++) a[k * n + k] -= shift;
  for (int64_t k = first; k < last; k++) {
    const sp_number x = a[k * n + k], y = a[(k + 1) * n + k];
    const double size = hypot(cabs(x), cabs(y)), c = size > 0 ? cabs(x) / size : 1;
    const sp_number turn = cabs(x) > 0 ? x / cabs(x) : 1, s = size > 0 ? turn * conj(y) / size : 0;
    cosine[k] = c, sine[k] = s;
    for (int64_t j = k; j <= last; j++) {
      const sp_number u = a[k * n + j], v = a[(k + 1) * n + j];
      a[k * n + j] = c * u + sp_times(s, v), a[(k + 1) * n + j] = c * v - sp_times(conj(s), u);
    }
  }
  for (int64_t k = first; k < last; k++)
    for (int64_t i = first; i <= k + 1; i++) {
      const sp_number u = a[i * n + k], v = a[i * n + k + 1];
      a[i * n + k] = cosine[k] * u + sp_times(conj(sine[k]), v);
      a[i * n + k + 1] = cosine[k] * v - sp_times(sine[k], u);
    }
  for (int64_t k = first; k <= last; k++) a[k * n + k] += shift;
}

/* On a's diagonal. False: steps without end. */
static bool eigenvalues(sp_number *a, int64_t n, double *cosine, sp_number *sine)
{
  enum { MOST_STEPS = 60, UNUSUAL = 10 };
  hessenberg(a, n);
  int64_t last = n - 1;
  for (int step = 0; last > 0; step++) {
    int64_t first = last;
    for (; first > 0; first--) {
      const sp_number below = a[first * n + first - 1];
      if (cabs(below) <= 0x1p-52 * (cabs(a[first * n + first]) + cabs(a[(first - 1) * n + first - 1]))) {
        a[first * n + first - 1] = 0;
        break;
      }
    }
    if (first == last) {
      last--, step = -1;
      continue;
    }
    if (step == MOST_STEPS) return false;
    const bool unusual = step % UNUSUAL == UNUSUAL - 1;
    const sp_number shift = unusual ? a[last * n + last] + cabs(a[last * n + last - 1]) : nearest(a, n, last);
    qr_step(a, n, first, last, shift, cosine, sine);
  }
  return true;
}

static solver_status count_in_box(const struct sp_handle *h, int t, const struct sp_csr *a, sp_number low,
                                  sp_number high, int *found, const char *function)
{
  struct sp_pattern p;
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!a->values || !found || !(creal(low) <= creal(high)) || !(cimag(low) <= cimag(high))) return SOLVER_INVALID_VALUE;
  solver_status status = sp_pattern_read(&p, a, function);
  if (status) return status;
  const int64_t n = p.n;
  sp_number *dense = sp_room(n * n, sizeof *dense), *sine = sp_room(n, sizeof *sine);
  double *cosine = sp_room(n, sizeof *cosine);
  status = dense && sine && cosine ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  for (int i = 0; !status && i < n; i++)
    for (int k = p.offsets[i]; k < p.offsets[i + 1]; k++) dense[i * n + p.columns[k]] += sp_get(t, a->values, k);
  if (!status && !eigenvalues(dense, n, cosine, sine)) status = SOLVER_EXECUTION_FAILED;
  for (int64_t i = 0, inside = 0; !status && i < n; i++) {
    const sp_number v = dense[i * n + i];
    inside += creal(v) >= creal(low) && creal(v) <= creal(high) && cimag(v) >= cimag(low) && cimag(v) <= cimag(high);
    *found = (int)inside;
  }
  free(dense);
  free(sine);
  free(cosine);
  sp_pattern_free(&p);
  return status;
}

#define ARGUMENTS(T, R)                                                                                                \
  struct sp_handle *h, int m, int count, const struct description *d, const T *values, const int *offsets,             \
      const int *columns, T near, const T *start, int most, R tolerance, T *value, T *x
#define MATRIX                                                                                                         \
  {                                                                                                                    \
    m, m, count, d, values, offsets, NULL, columns                                                                     \
  }

#define FUNCTIONS(l, T, R, t, number, corner)                                                                          \
  PUBLIC solver_status cusolverSp##l##csreigvsiHost(ARGUMENTS(T, R))                                                   \
  {                                                                                                                    \
    const struct search s = {t, MATRIX, number, start, most, (double)tolerance, value, x};                             \
    return on_host(h, &s, __func__);                                                                                   \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csreigvsi(ARGUMENTS(T, R))                                                       \
  {                                                                                                                    \
    const struct search s = {t, MATRIX, number, start, most, (double)tolerance, value, x};                             \
    return on_device(h, &s, __func__);                                                                                 \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csreigsHost(const struct sp_handle *h, int m, int count,                         \
                                                  const struct description *d, const T *values, const int *offsets,    \
                                                  const int *columns, corner low, corner high, int *found)             \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX;                                                                                    \
    const sp_number from = sp_complex(low.re, low.im), to = sp_complex(high.re, high.im);                              \
    return count_in_box(h, t, &a, from, to, found, __func__);                                                         \
  }

FUNCTIONS(S, float, float, SOLVER_S, (double)near, struct complex_f32)
FUNCTIONS(D, double, double, SOLVER_D, near, struct complex_f64)
FUNCTIONS(C, struct complex_f32, float, SOLVER_C, sp_complex(near.re, near.im), struct complex_f32)
FUNCTIONS(Z, struct complex_f64, double, SOLVER_Z, sp_complex(near.re, near.im), struct complex_f64)
