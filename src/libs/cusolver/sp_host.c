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

static bool qr_room(struct sp_host_front *h)
{
  h->a = sp_room((int64_t)h->m * h->n, sizeof *h->a);
  h->tau = sp_room(h->n, sizeof *h->tau);
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

static void take_child(const struct sp_host_factor *k, const struct ws_front_child *c, struct sp_host_front *h)
{
  const struct ws_front *g = &k->plan->fronts[c->front];
  const struct sp_host_front *s = &k->fronts[c->front];
  for (int r = 0; r < h->m; r++) {
    if (h->from[r] != c->front) continue;
    for (int j = h->from_row[r] - s->live + g->pivots; j < g->n; j++)
      h->a[(int64_t)k->plan->lists.at[c->columns + j - g->pivots] * h->m + r] =
          s->a[(int64_t)j * s->m + h->from_row[r]];
  }
}

/* Reflector of column j on rows g to end. False: too little is left, nothing was done. */
static bool reflect(struct sp_host_front *h, int j, int g, int end, double least, double *diagonal)
{
  const int64_t m = h->m;
  sp_number *v = h->a + j * m, tau = 0;
  double tail = 0, beta = creal(v[g]);
  for (int i = g + 1; i < end; i++) tail += sp_square(v[i]);
  const double size = sqrt(sp_square(v[g]) + tail);
  if (size <= least) return false;
  if (tail != 0 || cimag(v[g]) != 0) {
    beta = creal(v[g]) > 0 ? -size : size;
    tau = (beta - v[g]) / beta;
    const sp_number by = 1 / (v[g] - beta);
    for (int i = g + 1; i < end; i++) v[i] = sp_times(v[i], by);
  }
  v[g] = beta;
  *diagonal = fabs(beta);
  for (int c = j + 1; c < h->n; c++) {
    sp_number *w = h->a + c * m, sum = w[g];
    for (int i = g + 1; i < end; i++) sum += sp_times(conj(v[i]), w[i]);
    sum = sp_times(conj(tau), sum);
    w[g] -= sum;
    for (int i = g + 1; i < end; i++) w[i] -= sp_times(sum, v[i]);
  }
  h->tau[g] = tau, h->stair[g] = end, h->reflector[j] = g;
  return true;
}

static bool qr_front(struct sp_host_factor *k, int i, const sp_number *values, sp_number shift, double least)
{
  const struct sp_plan *p = k->plan;
  const struct ws_front *f = &p->fronts[i];
  struct sp_host_front *h = &k->fronts[i];
  int *place = sp_room(f->m, sizeof(int));
  struct row *rows = place ? qr_rows(k, i, place) : NULL;
  const bool good = rows && qr_room(h);
  for (int r = 0; good && r < h->m; r++)
    h->from[r] = rows[r].from,
    h->from_row[r] = rows[r].from < 0 ? p->lists.at[f->rows + rows[r].number] : rows[r].number;
  for (int64_t e = 0; good && e < f->entry_count; e++) {
    const struct ws_front_entry *at = &p->entries[f->entries + e];
    h->a[(int64_t)at->column * h->m + place[at->row]] += at->source < 0 ? -shift : values[at->source];
  }
  for (int c = 0; good && c < f->child_count; c++) take_child(k, &p->children[f->children + c], h);
  for (int j = 0, g = 0, r = 0; good && j < h->n; j++) {
    double size = 0;
    while (r < h->m && rows[r].lead <= j) r++;
    h->reflector[j] = -1;
    if (g < h->m && reflect(h, j, g, r > g ? r : g + 1, j < f->pivots ? least : -1, &size)) g++;
    if (j < f->pivots) h->live = g, k->diagonal[columns_of(p, f)[j]] = size;
  }
  if (good) k->rank += h->live;
  free(place);
  free(rows);
  return good;
}

static bool cholesky_front(struct sp_host_factor *k, int i, const sp_number *values)
{
  const struct sp_plan *p = k->plan;
  const struct ws_front *f = &p->fronts[i];
  struct sp_host_front *h = &k->fronts[i];
  const int64_t n = f->n;
  h->m = h->n = f->n, h->live = f->pivots;
  h->a = sp_room(n * n, sizeof *h->a);
  if (!h->a) return false;
  for (int64_t e = 0; e < f->entry_count; e++) {
    const struct ws_front_entry *at = &p->entries[f->entries + e];
    h->a[at->row * n + at->column] += at->conjugated ? conj(values[at->source]) : values[at->source];
  }
  for (int c = 0; c < f->child_count; c++) {
    const struct ws_front_child *child = &p->children[f->children + c];
    const struct ws_front *g = &p->fronts[child->front];
    const int *to = p->lists.at + child->columns;
    for (int r = g->pivots; r < g->n; r++)
      for (int s = r; s < g->n; s++)
        h->a[to[r - g->pivots] * n + to[s - g->pivots]] += k->fronts[child->front].a[(int64_t)r * g->n + s];
  }
  for (int64_t r = 0; r < f->pivots; r++) {
    sp_number *row = h->a + r * n;
    const double pivot = creal(row[r]), root = sqrt(pivot);
    k->diagonal[columns_of(p, f)[r]] = pivot > 0 ? root : pivot;
    row[r] = root;
    for (int64_t c = r + 1; c < n; c++) row[c] /= root;
    for (int64_t t = r + 1; t < n; t++)
      for (int64_t c = t; c < n; c++) h->a[t * n + c] -= sp_times(conj(row[t]), row[c]);
  }
  return true;
}

solver_status sp_host_factorise(struct sp_host_factor *out, const struct sp_plan *plan, const sp_number *values,
                                sp_number shift, double least)
{
  struct sp_host_factor k = {plan, sp_room(plan->n_fronts, sizeof *k.fronts), sp_room(plan->n, sizeof(double)), 0};
  bool good = k.fronts && k.diagonal;
  for (int i = 0; good && i < plan->n_fronts; i++)
    good = plan->kind == SP_QR ? qr_front(&k, i, values, shift, least) : cholesky_front(&k, i, values);
  if (!good) sp_host_free(&k);
  *out = k;
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

/* y[i]: the right side of front i. */
static void turn(const struct sp_host_factor *k, int i, const sp_number *b, sp_number **y)
{
  const struct sp_host_front *h = &k->fronts[i];
  for (int r = 0; r < h->m; r++) y[i][r] = h->from[r] < 0 ? b[h->from_row[r]] : y[h->from[r]][h->from_row[r]];
  for (int j = 0; j < h->n; j++) {
    const int g = h->reflector[j];
    if (g < 0) continue;
    const sp_number *v = h->a + (int64_t)j * h->m;
    sp_number sum = y[i][g];
    for (int r = g + 1; r < h->stair[g]; r++) sum += sp_times(conj(v[r]), y[i][r]);
    sum = sp_times(conj(h->tau[g]), sum);
    y[i][g] -= sum;
    for (int r = g + 1; r < h->stair[g]; r++) y[i][r] -= sp_times(sum, v[r]);
  }
}
static void forward(const struct sp_host_factor *k, int i, const sp_number *b, sp_number **y)
{
  const struct sp_plan *p = k->plan;
  const struct ws_front *f = &p->fronts[i];
  const sp_number *a = k->fronts[i].a;
  for (int r = 0; r < f->pivots; r++) y[i][r] = b[p->order[columns_of(p, f)[r]]];
  for (int c = 0; c < f->child_count; c++) {
    const struct ws_front_child *child = &p->children[f->children + c];
    const struct ws_front *g = &p->fronts[child->front];
    for (int r = g->pivots; r < g->n; r++) y[i][p->lists.at[child->columns + r - g->pivots]] += y[child->front][r];
  }
  for (int r = 0; r < f->pivots; r++) {
    y[i][r] /= creal(a[(int64_t)r * f->n + r]);
    for (int c = r + 1; c < f->n; c++) y[i][c] -= sp_times(conj(a[(int64_t)r * f->n + c]), y[i][r]);
  }
}
static void backward(const struct sp_host_factor *k, int i, const sp_number *y, sp_number *x)
{
  const struct sp_plan *p = k->plan;
  const struct ws_front *f = &p->fronts[i];
  const struct sp_host_front *h = &k->fronts[i];
  const int *columns = columns_of(p, f);
  const int64_t row_step = p->kind == SP_QR ? 1 : f->n, column_step = p->kind == SP_QR ? h->m : 1;
  for (int j = f->pivots - 1; j >= 0; j--) {
    const int g = p->kind == SP_QR ? h->reflector[j] : j;
    sp_number v = 0;
    if (g >= 0) {
      v = y[g];
      for (int c = j + 1; c < f->n; c++) v -= sp_times(h->a[g * row_step + c * column_step], x[p->order[columns[c]]]);
      v /= creal(h->a[g * row_step + j * column_step]);
    }
    x[p->order[columns[j]]] = v;
  }
}

bool sp_host_solve(const struct sp_host_factor *k, const sp_number *b, sp_number *x)
{
  const int n = k->plan->n_fronts;
  sp_number **y = sp_room(n, sizeof *y);
  bool good = y != NULL;
  for (int i = 0; good && i < n; i++) {
    y[i] = sp_room(k->fronts[i].m, sizeof **y);
    good = y[i] != NULL;
    if (!good) break;
    if (k->plan->kind == SP_QR)
      turn(k, i, b, y);
    else
      forward(k, i, b, y);
  }
  for (int i = n - 1; good && i >= 0; i--) backward(k, i, y[i], x);
  for (int i = 0; y && i < n; i++) free(y[i]);
  free(y);
  return good;
}
