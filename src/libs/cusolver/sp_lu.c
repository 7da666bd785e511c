#include "libs/cusolver/sp_lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_columns(struct sp_columns *c)
{
  free(c->at);
  free(c->rows);
  free(c->values);
}
void sp_lu_free(struct sp_lu *f)
{
  free_columns(&f->l);
  free_columns(&f->u);
  free(f->p);
  free(f->q);
  free(f->place);
  free(f->diagonal);
  memset(f, 0, sizeof *f);
}

static bool put(struct sp_columns *c, int row, sp_number v)
{
  if (c->n == c->room) {
    const int64_t room = 2 * c->room + 64;
    int *rows = realloc(c->rows, (size_t)room * sizeof *rows);
    if (rows) c->rows = rows;
    sp_number *values = realloc(c->values, (size_t)room * sizeof *values);
    if (values) c->values = values;
    if (!rows || !values) return false;
    c->room = room;
  }
  c->rows[c->n] = row, c->values[c->n++] = v;
  return true;
}

/* Depth first from `row` through columns of L that have their pivots: places are put before `top` of `stack`, in
 * the order in which they depend on each other. Rows of L are still A's here. */
struct search {
  const struct sp_lu *f;
  int *seen, *stack, *path;
  int64_t *next;
};
static int reach(struct search *s, int row, int stamp, int top)
{
  int depth = 0;
  s->path[0] = row, s->seen[row] = stamp;
  s->next[0] = s->f->place[row] < 0 ? 0 : s->f->l.at[s->f->place[row]];
  while (depth >= 0) {
    const int column = s->f->place[s->path[depth]];
    const int64_t end = column < 0 ? 0 : s->f->l.at[column + 1];
    if (s->next[depth] >= end) {
      s->stack[--top] = s->path[depth--];
      continue;
    }
    const int below = s->f->l.rows[s->next[depth]++];
    if (s->seen[below] == stamp) continue;
    s->seen[below] = stamp, s->path[++depth] = below;
    s->next[depth] = s->f->place[below] < 0 ? 0 : s->f->l.at[s->f->place[below]];
  }
  return top;
}

/* Which of the column's rows is next; the one on the diagonal, when it is large enough. -1: none is left, or all
 * are 0. */
static int choose(const struct search *s, int top, const sp_number *x, int diagonal, double threshold)
{
  double most = 0;
  int row = -1;
  for (int i = top; i < s->f->n; i++) {
    const int r = s->stack[i];
    const double size = cabs(x[r]);
    if (s->f->place[r] < 0 && size > most) most = size, row = r;
  }
  const bool there = s->f->place[diagonal] < 0 && x[diagonal] != 0;
  return row >= 0 && there && cabs(x[diagonal]) >= threshold * most ? diagonal : row;
}

struct columns_of_a {
  const struct sp_pattern *turned;
  const int *source;
  const sp_number *values;
};

static bool factor_column(struct sp_lu *f, struct search *s, const struct columns_of_a *a, int j, double threshold,
                          sp_number *x)
{
  const int c = f->q[j];
  int top = f->n;
  for (int k = a->turned->offsets[c]; k < a->turned->offsets[c + 1]; k++)
    if (s->seen[a->turned->columns[k]] != j + 1) top = reach(s, a->turned->columns[k], j + 1, top);
  for (int i = top; i < f->n; i++) x[s->stack[i]] = 0;
  for (int k = a->turned->offsets[c]; k < a->turned->offsets[c + 1]; k++)
    x[a->turned->columns[k]] += a->values[a->source[k]];
  for (int i = top; i < f->n; i++) {
    const int column = f->place[s->stack[i]];
    if (column < 0) continue;
    const sp_number v = x[s->stack[i]];
    if (!put(&f->u, column, v)) return false;
    for (int64_t k = f->l.at[column]; k < f->l.at[column + 1]; k++) x[f->l.rows[k]] -= sp_times(f->l.values[k], v);
  }
  const bool own = s->seen[c] == j + 1;
  if (!own) x[c] = 0;
  const int row = choose(s, top, x, c, threshold);
  f->diagonal[j] = row < 0 ? 0 : x[row];
  if (row >= 0) f->place[row] = j, f->p[j] = row;
  for (int i = top; row >= 0 && i < f->n; i++)
    if (f->place[s->stack[i]] < 0 && !put(&f->l, s->stack[i], x[s->stack[i]] / f->diagonal[j])) return false;
  f->u.at[j + 1] = f->u.n, f->l.at[j + 1] = f->l.n;
  return true;
}

/* Rows that no column took go to the columns that took none; then rows of L are numbered by the factors, too. */
static void finish(struct sp_lu *f)
{
  for (int j = 0, r = 0; j < f->n; j++) {
    if (f->p[j] >= 0) continue;
    while (f->place[r] >= 0) r++;
    f->p[j] = r, f->place[r] = j;
  }
  for (int64_t k = 0; k < f->l.n; k++) f->l.rows[k] = f->place[f->l.rows[k]];
}

bool sp_lu_factorise(struct sp_lu *out, const struct sp_pattern *a, const sp_number *values, const int *q,
                     double threshold)
{
  const int n = a->n;
  struct sp_lu f = {n,
                    sp_room(n, sizeof(int)),
                    sp_room(n, sizeof(int)),
                    sp_room(n, sizeof(int)),
                    {.at = sp_room(n + INT64_C(1), sizeof(int64_t))},
                    {.at = sp_room(n + INT64_C(1), sizeof(int64_t))},
                    sp_room(n, sizeof(sp_number))};
  struct search s = {&f, sp_room(n, sizeof(int)), sp_room(n, sizeof(int)), sp_room(n, sizeof(int)),
                     sp_room(n, sizeof(int64_t))};
  sp_number *x = sp_room(n, sizeof *x);
  int *source = NULL;
  struct sp_pattern turned = {0};
  bool good = f.p && f.q && f.place && f.l.at && f.u.at && f.diagonal && s.seen && s.stack && s.path && s.next && x &&
              sp_pattern_turn(&turned, a, &source);
  for (int j = 0; good && j < n; j++) f.p[j] = f.place[j] = -1, f.q[j] = q[j];
  const struct columns_of_a columns = {&turned, source, values};
  for (int j = 0; good && j < n; j++) good = factor_column(&f, &s, &columns, j, threshold, x);
  if (good) finish(&f);
  sp_pattern_free(&turned);
  free(source);
  free(s.seen);
  free(s.stack);
  free(s.path);
  free(s.next);
  free(x);
  if (!good) sp_lu_free(&f);
  *out = f;
  return good;
}

bool sp_lu_solve(const struct sp_lu *f, const sp_number *b, sp_number *x)
{
  sp_number *y = sp_room(f->n, sizeof *y);
  if (!y) return false;
  for (int i = 0; i < f->n; i++) y[i] = b[f->p[i]];
  for (int j = 0; j < f->n; j++)
    for (int64_t k = f->l.at[j]; k < f->l.at[j + 1]; k++) y[f->l.rows[k]] -= sp_times(f->l.values[k], y[j]);
  for (int j = f->n - 1; j >= 0; j--) {
    y[j] /= f->diagonal[j];
    for (int64_t k = f->u.at[j]; k < f->u.at[j + 1]; k++) y[f->u.rows[k]] -= sp_times(f->u.values[k], y[j]);
  }
  for (int j = 0; j < f->n; j++) x[f->q[j]] = y[j];
  free(y);
  return true;
}

int sp_lu_first_small(const struct sp_lu *f, double tolerance)
{
  for (int j = 0; j < f->n; j++) {
    const double size = cabs(f->diagonal[j]);
    if (size < tolerance || !(size > 0)) return j;
  }
  return -1;
}
