/* Linear systems of cusolverSp in one call: csrlsvlu, csrlsvqr, csrlsvchol, csrlsqvqr, and batches by QR. */
#include "libs/cusolver/sp_device.h"
#include "libs/cusolver/sp_host.h"
#include "libs/cusolver/sp_info.h"
#include "libs/cusolver/sp_lu.h"

#include <math.h>
#include <stdlib.h>

struct system {
  int t;
  struct sp_csr a;
  const void *b;
  double tolerance;
  int reorder;
  void *x;
  int *singularity;
};

static solver_status check(const struct sp_handle *h, const struct system *s)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  const bool good = s->a.values && s->b && s->x && s->singularity && (unsigned)s->reorder < SP_ORDERS;
  return good ? SOLVER_SUCCESS : SOLVER_INVALID_VALUE;
}

/* b and x on the host as numbers of the widest type: x, first b. */
static sp_number *vector_read(int t, const void *b, int rows, int room)
{
  sp_number *v = sp_room(rows > room ? rows : room, sizeof *v);
  for (int i = 0; v && i < rows; i++) v[i] = sp_get(t, b, i);
  return v;
}
static void vector_write(int t, void *x, const sp_number *v, int n)
{
  for (int i = 0; i < n; i++) sp_put(t, x, i, v[i]);
}

static solver_status plan_of(struct sp_plan *plan, enum sp_kind kind, const struct sp_pattern *p, int reorder)
{
  int *order = sp_room(p->n, sizeof *order);
  solver_status status = SOLVER_ALLOC_FAILED;
  const enum sp_order how = (enum sp_order)reorder;
  if (order && (kind == SP_QR ? sp_order_columns(how, p, order) : sp_order_symmetric(how, p, order)))
    status = sp_plan_make(plan, kind, p, order, false);
  free(order);
  return status;
}

static solver_status with_factor(const struct system *s, const struct sp_plan *plan, const sp_number *values)
{
  struct sp_host_factor f;
  const solver_status status = sp_host_factorise(&f, plan, values, 0, -1);
  if (status) return status;
  sp_number *x = vector_read(s->t, s->b, plan->m, plan->n);
  const bool good = x && sp_host_solve(&f, x, x);
  if (good) {
    vector_write(s->t, s->x, x, plan->n);
    *s->singularity = sp_first_small(plan, f.diagonal, s->tolerance);
  }
  free(x);
  sp_host_free(&f);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

static solver_status on_host(const struct sp_handle *h, enum sp_kind kind, const struct system *s, const char *function)
{
  struct sp_pattern p;
  struct sp_plan plan = {0};
  solver_status status = check(h, s);
  if (!status) status = sp_pattern_read(&p, &s->a, function);
  if (status) return status;
  sp_number *values = sp_values_read(s->t, &s->a);
  status = values ? plan_of(&plan, kind, &p, s->reorder) : SOLVER_ALLOC_FAILED;
  if (!status) status = with_factor(s, &plan, values);
  free(values);
  sp_plan_free(&plan);
  sp_pattern_free(&p);
  return status;
}

static solver_status run(const struct system *s, struct sp_handle *h, struct sp_device *d)
{
  const int n = d->plan->n;
  double *diagonal = sp_room(n, sizeof *diagonal);
  solver_status status = diagonal ? sp_device_factorise(d, h, s->a.values, 0, 0) : SOLVER_ALLOC_FAILED;
  if (!status) status = sp_device_solve(d, h, s->b, s->x);
  if (!status && !sp_device_diagonal(d, h, diagonal)) status = SOLVER_EXECUTION_FAILED;
  if (!status) *s->singularity = sp_first_small(d->plan, diagonal, s->tolerance);
  free(diagonal);
  return status;
}

static solver_status on_device(struct sp_handle *h, enum sp_kind kind, const struct system *s, const char *function)
{
  struct sp_pattern p;
  struct sp_plan plan = {0};
  struct sp_device d = {0};
  solver_status status = check(h, s);
  if (!status) status = sp_pattern_fetch(&p, h, &s->a, function);
  if (status) return status;
  status = plan_of(&plan, kind, &p, s->reorder);
  if (!status) status = sp_device_open(&d, h, &plan, s->t, 1);
  if (!status) status = run(s, h, &d);
  sp_device_close(&d);
  sp_plan_free(&plan);
  sp_pattern_free(&p);
  return status;
}

static solver_status lu(const struct sp_handle *h, const struct system *s, const char *function)
{
  struct sp_pattern p;
  struct sp_lu f = {0};
  solver_status status = check(h, s);
  if (!status) status = sp_pattern_read(&p, &s->a, function);
  if (status) return status;
  int *order = sp_room(p.n, sizeof *order);
  sp_number *values = sp_values_read(s->t, &s->a), *x = vector_read(s->t, s->b, p.n, p.n);
  const bool good = order && values && x && sp_order_symmetric((enum sp_order)s->reorder, &p, order) &&
                    sp_lu_factorise(&f, &p, values, order, 1) && sp_lu_solve(&f, x, x);
  if (good) {
    vector_write(s->t, s->x, x, p.n);
    *s->singularity = sp_lu_first_small(&f, s->tolerance);
  }
  sp_lu_free(&f);
  free(order);
  free(values);
  free(x);
  sp_pattern_free(&p);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

/* |A x - b| */
static double left(const struct sp_pattern *a, const sp_number *values, const sp_number *b, const sp_number *x)
{
  double sum = 0;
  for (int i = 0; i < a->m; i++) {
    sp_number r = b[i];
    for (int k = a->offsets[i]; k < a->offsets[i + 1]; k++) r -= sp_times(values[k], x[a->columns[k]]);
    sum += sp_square(r);
  }
  return sqrt(sum);
}

struct squares {
  int *rank, *p;
  double *norm;
};

/* The order of the columns: those that count, then those that depend on them. */
static void say_order(const struct sp_host_factor *f, double least, int *p)
{
  const int n = f->plan->n;
  int used = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < n; j++)
      if ((f->diagonal[j] <= least) == (pass == 1)) p[used++] = f->plan->order[j];
}

static solver_status squares(const struct sp_handle *h, const struct system *s, const struct squares *to,
                             const char *function)
{
  struct sp_pattern a;
  struct sp_plan plan = {0};
  struct sp_host_factor f = {0};
  const double least = s->tolerance > 0 ? s->tolerance : 0;
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!s->a.values || !s->b || !s->x || !to->rank || !to->p || s->a.m < s->a.n) return SOLVER_INVALID_VALUE;
  solver_status status = sp_pattern_read(&a, &s->a, function);
  if (status) return status;
  int *order = sp_room(a.n, sizeof *order);
  sp_number *values = sp_values_read(s->t, &s->a), *b = vector_read(s->t, s->b, a.m, a.m), *x = sp_room(a.n, sizeof *x);
  status =
      order && values && b && x && sp_order_columns(SP_ORDER_AMD, &a, order) ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  if (!status) status = sp_plan_make(&plan, SP_QR, &a, order, false);
  if (!status) status = sp_host_factorise(&f, &plan, values, 0, least);
  if (!status && !sp_host_solve(&f, b, x)) status = SOLVER_ALLOC_FAILED;
  if (!status) {
    vector_write(s->t, s->x, x, a.n);
    *to->rank = f.rank, *to->norm = left(&a, values, b, x);
    say_order(&f, least, to->p);
  }
  if (f.plan) sp_host_free(&f);
  sp_plan_free(&plan);
  free(order);
  free(values);
  free(b);
  free(x);
  sp_pattern_free(&a);
  return status;
}

/* Batches: values of all matrices lie one after the other, and right sides, and solutions. */
static solver_status batch(struct sp_handle *h, struct sp_info *info, const struct system *s, int batches)
{
  const solver_status status = sp_info_open(info, h, s->t, batches);
  if (status) return status;
  if (!s->a.values || !s->b || !s->x) return SOLVER_INVALID_VALUE;
  const solver_status factored = sp_device_factorise(&info->device, h, s->a.values, s->a.count, 0);
  return factored ? factored : sp_device_solve(&info->device, h, s->b, s->x);
}

#define MATRIX(m, n)                                                                                                   \
  {                                                                                                                    \
    m, n, count, d, values, offsets, NULL, columns                                                                     \
  }
#define ARGUMENTS(T, R)                                                                                                \
  struct sp_handle *h, int m, int count, const struct description *d, const T *values, const int *offsets,             \
      const int *columns, const T *b, R tolerance, int reorder, T *x, int *singularity
#define SYSTEM(t)                                                                                                      \
  {                                                                                                                    \
    t, MATRIX(m, m), b, (double)tolerance, reorder, x, singularity                                                     \
  }

#define FUNCTIONS(l, T, R, t)                                                                                          \
  PUBLIC solver_status cusolverSp##l##csrlsvluHost(ARGUMENTS(T, R))                                                    \
  {                                                                                                                    \
    const struct system s = SYSTEM(t);                                                                                 \
    return lu(h, &s, __func__);                                                                                        \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrlsvqrHost(ARGUMENTS(T, R))                                                    \
  {                                                                                                                    \
    const struct system s = SYSTEM(t);                                                                                 \
    return on_host(h, SP_QR, &s, __func__);                                                                            \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrlsvqr(ARGUMENTS(T, R))                                                        \
  {                                                                                                                    \
    const struct system s = SYSTEM(t);                                                                                 \
    return on_device(h, SP_QR, &s, __func__);                                                                          \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrlsvcholHost(ARGUMENTS(T, R))                                                  \
  {                                                                                                                    \
    const struct system s = SYSTEM(t);                                                                                 \
    return on_host(h, SP_CHOLESKY, &s, __func__);                                                                      \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrlsvchol(ARGUMENTS(T, R))                                                      \
  {                                                                                                                    \
    const struct system s = SYSTEM(t);                                                                                 \
    return on_device(h, SP_CHOLESKY, &s, __func__);                                                                    \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrlsqvqrHost(                                                                   \
      struct sp_handle *h, int m, int n, int count, const struct description *d, const T *values, const int *offsets,  \
      const int *columns, const T *b, R tolerance, int *rank, T *x, int *p, R *norm)                                   \
  {                                                                                                                    \
    const struct system s = {t, MATRIX(m, n), b, (double)tolerance, 0, x, NULL};                                       \
    double size = 0;                                                                                                   \
    const struct squares to = {rank, p, &size};                                                                        \
    if (!norm) return SOLVER_INVALID_VALUE;                                                                            \
    const solver_status status = squares(h, &s, &to, __func__);                                                        \
    if (!status) *norm = (R)size;                                                                                      \
    return status;                                                                                                     \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrqrBufferInfoBatched(                                                          \
      struct sp_handle *h, int m, int n, int count, const struct description *d, const T *values, const int *offsets,  \
      const int *columns, int batches, struct sp_info *info, size_t *internal, size_t *room)                           \
  {                                                                                                                    \
    const struct sp_csr a = MATRIX(m, n);                                                                              \
    return sp_info_bytes(info, h, SP_QR_PLAN, &a, t, batches, internal, room);                                         \
  }                                                                                                                    \
  PUBLIC solver_status cusolverSp##l##csrqrsvBatched(                                                                  \
      struct sp_handle *h, int m, int n, int count, const struct description *d, const T *values, const int *offsets,  \
      const int *columns, const T *b, T *x, int batches, struct sp_info *info, void *room)                             \
  {                                                                                                                    \
    const struct system s = {t, MATRIX(m, n), b, 0, 0, x, NULL};                                                       \
    (void)room;                                                                                                        \
    const solver_status status = sp_info_check(info, h, SP_QR_PLAN, &s.a);                                             \
    return status ? status : batch(h, info, &s, batches);                                                              \
  }

FUNCTIONS(S, float, float, SOLVER_S)
FUNCTIONS(D, double, double, SOLVER_D)
FUNCTIONS(C, struct complex_f32, float, SOLVER_C)
FUNCTIONS(Z, struct complex_f64, double, SOLVER_Z)
