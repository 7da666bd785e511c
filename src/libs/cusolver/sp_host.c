#include "libs/cusolver/sp_host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int *columns_of(const struct sp_plan *p, const struct ws_front *f)
{
  return p->lists.at + f->columns;
}
static int least_of(int a, int b)
{
  return a < b ? a : b;
}

void sp_host_free(struct sp_host_factor *f)
{
  for (int i = 0; f->fronts && i < f->plan->n_fronts; i++) {
    free(f->fronts[i].a);
    free(f->fronts[i].tau);
    free(f->fronts[i].stair);
  }
  free(f->fronts);
  free(f->diagonal);
  memset(f, 0, sizeof *f);
}

int sp_first_small(const struct sp_plan *plan, const double *diagonal, double tolerance)
{
  int first = -1;
  for (int j = 0; j < plan->n; j++) {
    const double d = diagonal[j];
    if ((d < tolerance || !(d > 0)) && (first < 0 || plan->number[j] < first)) first = plan->number[j];
  }
  return first;
}

/* Rows that a front of QR leaves to its parent. */
static int left_over(const struct ws_front *f, const struct sp_host_front *h)
{
  return least_of(h->m - h->live, f->n - f->pivots);
}

struct row {
  int lead, from, number;
};
static int by_lead(const void *a, const void *b)
{
  const struct row *x = a, *y = b;
  if (x->lead != y->lead) return x->lead < y->lead ? -1 : 1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static bool qr_room(struct sp_host_front *h, size_t each)
{
  h->a = sp_room((int64_t)h->m * h->n, each);
  h->tau = sp_room(h->n, each);
  h->stair = sp_room(2 * (int64_t)h->n + 2 * (int64_t)h->m, sizeof(int));
  if (!h->a || !h->tau || !h->stair) return false;
  h->reflector = h->stair + h->n, h->from = h->reflector + h->n, h->from_row = h->from + h->m;
  return true;
}

/* The rows of a front in the order they begin; rows of A by where the plan has them. *place: of those, where each
 * is now. */
static struct row *qr_rows(const struct sp_host_factor *k, int i, int *place)
{
  const struct sp_plan *p = k->plan;
  const struct ws_front *f = &p->fronts[i];
  struct sp_host_front *h = &k->fronts[i];
  int64_t most = f->m;
  for (int c = 0; c < f->child_count; c++) {
    const int g = p->children[f->children + c].front;
    most += left_over(&p->fronts[g], &k->fronts[g]);
  }
  struct row *rows = most <= INT32_MAX ? sp_room(most, sizeof *rows) : NULL;
  int used = 0;
  for (int r = 0, lead = 0; rows && r < f->m; r++) {
    if (p->lists.at[f->rows + r] < 0) continue;
    while (lead + 1 < f->n && p->lists.at[f->stair + lead] <= r) lead++;
    rows[used++] = (struct row){lead, -1, r};
  }
  for (int c = 0; rows && c < f->child_count; c++) {
    const struct ws_front_child *child = &p->children[f->children + c];
    const struct sp_host_front *g = &k->fronts[child->front];
    const int n = left_over(&p->fronts[child->front], g);
    for (int r = 0; r < n; r++) rows[used++] = (struct row){p->lists.at[child->columns + r], child->front, g->live + r};
  }
  h->m = used, h->n = f->n;
  if (rows) qsort(rows, (size_t)used, sizeof *rows, by_lead);
  for (int r = 0; r < used; r++)
    if (rows[r].from < 0) place[rows[r].number] = r;
  return rows;
}

enum { PANEL = 16 };

#define NUMBER double
#define NAME(function) function##_real
#define TIMES(a, b) ((a) * (b))
#define SQUARE(a) ((a) * (a))
#define CONJ(a) (a)
#define REAL(a) (a)
#define IMAGINARY(a) 0
#include "libs/cusolver/sp_host_fronts.inc"

#define NUMBER sp_number
#define NAME(function) function##_complex
#define TIMES(a, b) sp_times(a, b)
#define SQUARE(a) sp_square(a)
#define CONJ(a) conj(a)
#define REAL(a) creal(a)
#define IMAGINARY(a) cimag(a)
#include "libs/cusolver/sp_host_fronts.inc"

/* How many values the plan asks for. */
static int64_t values_of(const struct sp_plan *p)
{
  int64_t n = 0;
  for (int i = 0; i < p->n_fronts; i++)
    for (int64_t e = 0; e < p->fronts[i].entry_count; e++) {
      const int source = p->entries[p->fronts[i].entries + e].source;
      if (source >= n) n = source + INT64_C(1);
    }
  return n;
}

/* Real or imaginary parts, of which the others are 0 or not; NULL: no memory. */
static double *parts_of(const sp_number *from, int64_t n, bool imaginary, bool *others)
{
  double *to = sp_room(n, sizeof *to);
  *others = false;
  for (int64_t i = 0; to && i < n; i++) {
    to[i] = imaginary ? cimag(from[i]) : creal(from[i]);
    if ((imaginary ? creal(from[i]) : cimag(from[i])) != 0) *others = true;
  }
  return to;
}

solver_status sp_host_factorise(struct sp_host_factor *out, const struct sp_plan *plan, const sp_number *values,
                                sp_number shift, double least)
{
  struct sp_host_factor k = {.plan = plan, .fronts = sp_room(plan->n_fronts, sizeof *k.fronts),
                             .diagonal = sp_room(plan->n, sizeof(double))};
  bool complex_ones;
  double *parts = parts_of(values, values_of(plan), false, &complex_ones);
  bool good = k.fronts && k.diagonal && parts;
  k.real = !complex_ones && cimag(shift) == 0;
  if (good && k.real) good = factorise_real(&k, parts, creal(shift), least);
  if (good && !k.real) good = factorise_complex(&k, values, shift, least);
  free(parts);
  if (!good) sp_host_free(&k);
  *out = k;
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

/* Of a real factor, the parts of a right side one after the other. */
static bool solve_parts(const struct sp_host_factor *k, const sp_number *b, sp_number *x)
{
  const int m = k->plan->m, n = k->plan->n;
  bool imaginary, real;
  double *re = parts_of(b, m, false, &imaginary), *im = parts_of(b, m, true, &real);
  double *x_re = sp_room(n, sizeof *x_re), *x_im = sp_room(n, sizeof *x_im);
  bool good = re && im && x_re && x_im && solve_real(k, re, x_re);
  if (good && imaginary) good = solve_real(k, im, x_im);
  for (int j = 0; good && j < n; j++) x[j] = sp_complex(x_re[j], x_im[j]);
  free(re);
  free(im);
  free(x_re);
  free(x_im);
  return good;
}

bool sp_host_solve(const struct sp_host_factor *k, const sp_number *b, sp_number *x)
{
  return k->real ? solve_parts(k, b, x) : solve_complex(k, b, x);
}
