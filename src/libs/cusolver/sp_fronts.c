#include "libs/cusolver/sp_fronts.h"

#include <stdlib.h>
#include <string.h>

/* Work of a subtree that one CTA does alone, in elements of fronts times their columns. */
#define TASK_WORK 2e5
/* ... and of fronts that are worth kernels of dense matrices: QR's launch more. */
#define WIDE_QR 3e7
#define WIDE_CHOLESKY 3e6

/* What the columns of R are made of, while a plan is made. */
struct making {
  struct sp_plan *p;
  const struct sp_pattern *a;
  bool shift;
  int *place;       /* of a column of A in the order */
  int *lead;        /* of each row of A, its first column (QR); -1: none */
  int64_t *item_at; /* elements that begin at a column: items[item_at[j]] to item_at[j + 1] */
  int *items;
  int **reach, *reaches; /* columns of row j of R, j first */
  int *parent;           /* of a column */
  int *front_of, *local, *mark;
};

static int least(int a, int b)
{
  return a < b ? a : b;
}

static int64_t add(struct sp_list *l, int64_t n)
{
  const int64_t at = l->n;
  if (l->n + n > l->room) {
    const int64_t room = 2 * (l->n + n) + 64;
    int32_t *more = realloc(l->at, (size_t)room * sizeof *more);
    if (!more) return -1;
    l->at = more, l->room = room;
  }
  l->n += n;
  return at;
}

static void free_making(struct making *k)
{
  for (int j = 0; k->reach && j < k->p->n; j++) free(k->reach[j]);
  free(k->place);
  free(k->lead);
  free(k->item_at);
  free(k->items);
  free(k->reach);
  free(k->reaches);
  free(k->parent);
  free(k->front_of);
  free(k->local);
  free(k->mark);
}

static bool start(struct making *k, const int *order)
{
  struct sp_plan *p = k->p;
  const int n = p->n;
  k->place = sp_room(n, sizeof(int)), k->lead = sp_room(p->m, sizeof(int)), k->parent = sp_room(n, sizeof(int));
  k->item_at = sp_room(n + INT64_C(1), sizeof *k->item_at), k->front_of = sp_room(n, sizeof(int));
  k->items = sp_room(k->a->offsets[k->a->m] + (k->shift ? 2 * INT64_C(1) * n : 0), sizeof(int));
  k->reach = sp_room(n, sizeof *k->reach), k->reaches = sp_room(n, sizeof(int)), k->local = sp_room(n, sizeof(int));
  k->mark = sp_room(n, sizeof(int)), p->order = sp_room(n, sizeof(int)), p->number = sp_room(n, sizeof(int));
  if (!k->place || !k->lead || !k->parent || !k->item_at || !k->front_of || !k->items || !k->reach || !k->reaches ||
      !k->local || !k->mark || !p->order || !p->number)
    return false;
  for (int j = 0; j < n; j++) p->order[j] = order[j], k->place[order[j]] = j;
  return true;
}

/* Calls `each` for the places of A that count: (row, column) of the factor's matrix and the element's number; -1:
 * the shift. Of Cholesky only what is right of the diagonal: conjugated, when the element came from the left. */
typedef void item_fn(struct making *k, int row, int column, int source, bool conjugated);

static void each_place(struct making *k, item_fn *each)
{
  const struct sp_pattern *a = k->a;
  const bool qr = k->p->kind == SP_QR;
  for (int i = 0; i < a->m; i++)
    for (int s = a->offsets[i] - k->shift; s < a->offsets[i + 1]; s++) {
      const bool shift = s < a->offsets[i];
      const int c = shift ? i : a->columns[s], source = shift ? -1 : s;
      if (qr)
        each(k, i, k->place[c], source, false);
      else if (c <= i && k->place[i] < k->place[c])
        each(k, k->place[i], k->place[c], source, false);
      else if (c <= i)
        each(k, k->place[c], k->place[i], source, true);
    }
}

static void find_lead(struct making *k, int row, int column, int source, bool conjugated)
{
  (void)source, (void)conjugated;
  if (k->lead[row] < 0 || column < k->lead[row]) k->lead[row] = column;
}
static int leads(const struct making *k, int row)
{
  return k->p->kind == SP_QR ? k->lead[row] : row;
}
static void count_item(struct making *k, int row, int column, int source, bool conjugated)
{
  (void)column, (void)source, (void)conjugated;
  k->item_at[leads(k, row) + 1]++;
}
static void put_item(struct making *k, int row, int column, int source, bool conjugated)
{
  (void)source, (void)conjugated;
  k->items[k->item_at[leads(k, row)]++] = column;
}

static void find_items(struct making *k)
{
  const int n = k->p->n;
  for (int i = 0; i < k->p->m; i++) k->lead[i] = -1;
  if (k->p->kind == SP_QR) each_place(k, find_lead);
  memset(k->item_at, 0, ((size_t)n + 1) * sizeof *k->item_at);
  each_place(k, count_item);
  for (int j = 0; j < n; j++) k->item_at[j + 1] += k->item_at[j];
  each_place(k, put_item);
  for (int j = n; j > 0; j--) k->item_at[j] = k->item_at[j - 1];
  k->item_at[0] = 0;
}

static int ascending(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Row j of R has what begins at column j, and what its children have behind them; its parent is the first of that. */
static bool find_reach(struct making *k)
{
  const int n = k->p->n;
  int *row = sp_room(n, sizeof(int)), *first_child = sp_room(n, sizeof(int)), *sibling = sp_room(n, sizeof(int));
  bool good = row && first_child && sibling;
  for (int j = 0; good && j < n; j++) k->mark[j] = first_child[j] = -1;
  for (int j = 0; good && j < n; j++) {
    int used = 0;
    row[used++] = j, k->mark[j] = j;
    for (int64_t e = k->item_at[j]; e < k->item_at[j + 1]; e++)
      if (k->mark[k->items[e]] != j) k->mark[k->items[e]] = j, row[used++] = k->items[e];
    for (int c = first_child[j]; c >= 0; c = sibling[c])
      for (int e = 1; e < k->reaches[c]; e++)
        if (k->mark[k->reach[c][e]] != j) k->mark[k->reach[c][e]] = j, row[used++] = k->reach[c][e];
    int parent = n;
    for (int e = 1; e < used; e++) parent = least(parent, row[e]);
    k->reach[j] = malloc((size_t)used * sizeof(int));
    good = k->reach[j] != NULL;
    if (!good) break;
    memcpy(k->reach[j], row, (size_t)used * sizeof(int));
    k->reaches[j] = used, k->parent[j] = parent == n ? -1 : parent;
    if (parent < n) sibling[j] = first_child[parent], first_child[parent] = j;
  }
  free(row);
  free(first_child);
  free(sibling);
  return good;
}

/* Numbers columns so that children come right before their parents. Factors stay the same but for that. */
static bool postorder(struct making *k)
{
  struct sp_plan *p = k->p;
  const int n = p->n;
  int *numbers = sp_room(6 * (int64_t)n, sizeof(int)), **reach = sp_room(n, sizeof *reach);
  if (!numbers || !reach) {
    free(numbers);
    free(reach);
    return false;
  }
  int *first = numbers, *sibling = first + n, *stack = sibling + n, *to = stack + n, *saved = to + n,
      *sizes = saved + n;
  int used = 0, depth = 0;
  for (int j = 0; j < n; j++) first[j] = -1;
  for (int j = n - 1; j >= 0; j--)
    if (k->parent[j] >= 0) sibling[j] = first[k->parent[j]], first[k->parent[j]] = j;
  for (int root = 0; root < n; root++) {
    if (k->parent[root] >= 0) continue;
    stack[depth++] = root;
    while (depth) {
      const int v = stack[depth - 1], c = first[v];
      if (c >= 0)
        first[v] = sibling[c], stack[depth++] = c;
      else
        to[v] = used++, depth--;
    }
  }
  for (int j = 0; j < n; j++) saved[j] = k->parent[j] < 0 ? -1 : to[k->parent[j]], stack[j] = p->order[j];
  for (int j = 0; j < n; j++) {
    k->parent[to[j]] = saved[j], p->order[to[j]] = stack[j], p->number[to[j]] = j;
    reach[to[j]] = k->reach[j], sizes[to[j]] = k->reaches[j];
    for (int e = 0; e < k->reaches[j]; e++) k->reach[j][e] = to[k->reach[j][e]];
    qsort(k->reach[j], (size_t)k->reaches[j], sizeof(int), ascending);
  }
  for (int j = 0; j < n; j++) k->reach[j] = reach[j], k->reaches[j] = sizes[j], k->place[p->order[j]] = j;
  free(numbers);
  free(reach);
  return true;
}

/* Whether the columns from `first` on are one front up to the parent of the last one, too: when few zeros come
 * with that. */
static bool join(const struct making *k, int first, int last, double filled)
{
  if (last + 1 >= k->p->n || k->parent[last] != last + 1) return false;
  const double pivots = last + 2 - first, width = pivots - 1 + k->reaches[last + 1];
  const double all = pivots * width - pivots * (pivots - 1) / 2;
  return width <= 16 || all - filled - k->reaches[last + 1] <= 0.25 * all;
}

static bool find_fronts(struct making *k)
{
  struct sp_plan *p = k->p;
  p->fronts = sp_room(p->n, sizeof *p->fronts), p->parent = sp_room(p->n, sizeof(int));
  if (!p->fronts || !p->parent) return false;
  for (int first = 0, last; first < p->n; first = last + 1) {
    double filled = k->reaches[first];
    for (last = first; join(k, first, last, filled); last++) filled += k->reaches[last + 1];
    struct ws_front *f = &p->fronts[p->n_fronts];
    f->pivots = last + 1 - first, f->n = last - first + k->reaches[last];
    f->columns = add(&p->lists, f->n);
    if (f->columns < 0) return false;
    for (int j = first; j <= last; j++) p->lists.at[f->columns + j - first] = j, k->front_of[j] = p->n_fronts;
    for (int e = 1; e < k->reaches[last]; e++) p->lists.at[f->columns + last - first + e] = k->reach[last][e];
    p->parent[p->n_fronts++] = k->parent[last]; /* a column, until all fronts are known */
    p->factor += f->pivots * (int64_t)f->n - f->pivots * (int64_t)(f->pivots - 1) / 2;
  }
  for (int i = 0; i < p->n_fronts; i++)
    if (p->parent[i] >= 0) p->parent[i] = k->front_of[p->parent[i]];
  return true;
}

static int *columns_of(const struct sp_plan *p, const struct ws_front *f)
{
  return p->lists.at + f->columns;
}

/* Where each child's columns behind its pivots lie in its parent. */
static bool find_children(struct making *k)
{
  struct sp_plan *p = k->p;
  p->children = sp_room(p->n_fronts, sizeof *p->children);
  if (!p->children) return false;
  for (int i = 0; i < p->n_fronts; i++)
    if (p->parent[i] >= 0) p->fronts[p->parent[i]].child_count++;
  for (int i = 0, used = 0; i < p->n_fronts; i++) {
    p->fronts[i].children = used;
    used += p->fronts[i].child_count;
    p->fronts[i].child_count = 0;
  }
  for (int i = 0; i < p->n_fronts; i++) {
    if (p->parent[i] < 0) continue;
    struct ws_front *f = &p->fronts[p->parent[i]];
    const struct ws_front *g = &p->fronts[i];
    struct ws_front_child *c = &p->children[f->children + f->child_count++];
    c->front = i, c->columns = add(&p->lists, g->n - g->pivots);
    if (c->columns < 0) return false;
    for (int e = g->pivots, at = 0; e < g->n; e++) {
      while (columns_of(p, f)[at] != columns_of(p, g)[e]) at++;
      p->lists.at[c->columns + e - g->pivots] = at;
    }
  }
  return true;
}

/* Rows of QR's fronts: those of A that begin at a pivot and those that children leave, by the column they begin at. */
struct row {
  int lead, front, number; /* front -1: a row of A */
};
static int by_lead(const void *a, const void *b)
{
  const struct row *x = a, *y = b;
  if (x->lead != y->lead) return x->lead < y->lead ? -1 : 1;
  if (x->front != y->front) return x->front < y->front ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static bool lay_rows(struct sp_plan *p, struct ws_front *f, const struct row *rows)
{
  f->rows = add(&p->lists, f->m), f->stair = f->rows < 0 ? -1 : add(&p->lists, f->n);
  if (f->stair < 0) return false;
  for (int r = 0; r < f->m; r++) {
    const struct ws_front *g = rows[r].front < 0 ? NULL : &p->fronts[rows[r].front];
    p->lists.at[f->rows + r] = g ? ~(int32_t)(g->y + rows[r].number) : rows[r].number;
    if (!g) p->row_place[rows[r].number] = r;
  }
  for (int j = 0, r = 0; j < f->n; j++) {
    while (r < f->m && rows[r].lead <= j) r++;
    p->lists.at[f->stair + j] = least(f->m, r > j ? r : j + 1);
  }
  for (int i = 0; i < f->child_count; i++) {
    struct ws_front_child *c = &p->children[f->children + i];
    c->rows = add(&p->lists, c->row_count);
    if (c->rows < 0) return false;
    for (int r = 0; r < f->m; r++)
      if (rows[r].front == c->front) p->lists.at[c->rows + rows[r].number - p->fronts[c->front].pivots] = r;
  }
  return true;
}

static bool find_rows(struct making *k, const int64_t *own_at, const int *own)
{
  struct sp_plan *p = k->p;
  for (int i = 0; i < p->n_fronts; i++) {
    struct ws_front *f = &p->fronts[i];
    int64_t most = own_at[i + 1] - own_at[i];
    for (int c = 0; c < f->child_count; c++) {
      struct ws_front_child *child = &p->children[f->children + c];
      const struct ws_front *g = &p->fronts[child->front];
      child->row_count = least(g->m, g->n) > g->pivots ? least(g->m, g->n) - g->pivots : 0;
      most += child->row_count;
    }
    if (most > INT32_MAX || p->rows + most > INT32_MAX) return false;
    struct row *rows = sp_room(most, sizeof *rows);
    if (!rows) return false;
    f->m = (int)most, f->y = p->rows;
    int used = 0;
    for (int64_t r = own_at[i]; r < own_at[i + 1]; r++)
      rows[used++] = (struct row){k->lead[own[r]] - columns_of(p, f)[0], -1, own[r]};
    for (int c = 0; c < f->child_count; c++) {
      const struct ws_front_child *child = &p->children[f->children + c];
      for (int r = 0; r < child->row_count; r++)
        rows[used++] = (struct row){p->lists.at[child->columns + r], child->front, p->fronts[child->front].pivots + r};
    }
    qsort(rows, (size_t)used, sizeof *rows, by_lead);
    const bool good = lay_rows(p, f, rows);
    free(rows);
    if (!good) return false;
    p->rows += f->m;
  }
  return true;
}

/* Which rows of A are whose. */
static bool find_own_rows(struct making *k)
{
  struct sp_plan *p = k->p;
  int64_t *at = sp_room(p->n_fronts + INT64_C(1), sizeof *at);
  int *own = sp_room(p->m, sizeof(int));
  p->row_front = sp_room(p->m, sizeof(int)), p->row_place = sp_room(p->m, sizeof(int));
  bool good = at && own && p->row_front && p->row_place;
  for (int i = 0; good && i < p->m; i++) k->lead[i] = -1;
  if (good) each_place(k, find_lead); /* in the new order */
  for (int i = 0; good && i < p->m; i++) {
    p->row_front[i] = k->lead[i] < 0 ? -1 : k->front_of[k->lead[i]];
    if (k->lead[i] >= 0) at[p->row_front[i] + 1]++;
  }
  for (int i = 0; good && i < p->n_fronts; i++) at[i + 1] += at[i];
  for (int i = 0; good && i < p->m; i++)
    if (k->lead[i] >= 0) own[at[p->row_front[i]]++] = i;
  for (int i = p->n_fronts; good && i > 0; i--) at[i] = at[i - 1];
  if (good) at[0] = 0;
  good = good && find_rows(k, at, own);
  free(at);
  free(own);
  return good;
}

static int front_of_place(const struct making *k, int row)
{
  return k->p->kind == SP_QR ? k->p->row_front[row] : k->front_of[row];
}
static void count_entry(struct making *k, int row, int column, int source, bool conjugated)
{
  (void)column, (void)source, (void)conjugated;
  k->p->fronts[front_of_place(k, row)].entry_count++;
}
static void put_entry(struct making *k, int row, int column, int source, bool conjugated)
{
  struct ws_front *f = &k->p->fronts[front_of_place(k, row)];
  k->p->entries[f->entries + f->entry_count++] = (struct ws_front_entry){source, row, column, conjugated};
}
static int by_place(const void *a, const void *b)
{
  const struct ws_front_entry *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return (x->source > y->source) - (x->source < y->source);
}

/* First with rows and columns of the whole matrix, then with those of fronts. */
static bool find_entries(struct making *k)
{
  struct sp_plan *p = k->p;
  int64_t used = 0;
  each_place(k, count_entry);
  for (int i = 0; i < p->n_fronts; i++) {
    p->fronts[i].entries = used;
    used += p->fronts[i].entry_count;
    p->fronts[i].entry_count = 0;
  }
  p->entries = sp_room(used, sizeof *p->entries);
  if (!p->entries) return false;
  each_place(k, put_entry);
  for (int i = 0; i < p->n_fronts; i++) {
    const struct ws_front *f = &p->fronts[i];
    struct ws_front_entry *e = p->entries + f->entries;
    for (int j = 0; j < f->n; j++) k->local[columns_of(p, f)[j]] = j;
    for (int64_t s = 0; s < f->entry_count; s++) {
      e[s].row = p->kind == SP_QR ? p->row_place[e[s].row] : k->local[e[s].row];
      e[s].column = k->local[e[s].column];
    }
    qsort(e, (size_t)f->entry_count, sizeof *e, by_place);
  }
  return true;
}

static bool find_values(struct sp_plan *p)
{
  for (int i = 0; i < p->n_fronts; i++) {
    struct ws_front *f = &p->fronts[i];
    if (p->kind == SP_CHOLESKY) f->m = f->n, f->y = p->rows, p->rows += f->n;
    f->values = p->values;
    if (p->values > INT64_MAX / 64 - (int64_t)f->m * f->n) return false;
    p->values += (int64_t)f->m * f->n;
    if (f->m > p->widest) p->widest = f->m;
    if (f->n > p->widest) p->widest = f->n;
  }
  return p->rows <= INT32_MAX;
}

/* heads[l]: the first front of a level, in ascending order by what is returned; NULL: no memory. */
static int *level_lists(const int *level, int n, int deepest, int *heads)
{
  int *next = level ? sp_room(n, sizeof(int)) : NULL;
  for (int l = 0; next && l <= deepest; l++) heads[l] = -1;
  for (int i = n - 1; next && i >= 0; i--) next[i] = heads[level[i]], heads[level[i]] = i;
  return next;
}

static double work_of(const struct sp_plan *p, const struct ws_front *f)
{
  return (double)f->m * f->n * (p->kind == SP_QR ? least(f->m, f->n) : f->n);
}

static void find_wide(struct sp_plan *p)
{
  for (int i = 0; i < p->n_fronts; i++) {
    struct ws_front *f = &p->fronts[i];
    f->wide = work_of(p, f) >= (p->kind == SP_QR ? WIDE_QR : WIDE_CHOLESKY);
    if (f->wide) p->n_wide++;
  }
}

/* Small subtrees are a task; above them each front is one, launched when its children are done; chains of single
 * ones follow each other in one CTA, but for wide ones. */
static bool find_tasks(struct sp_plan *p)
{
  const int n = p->n_fronts;
  double *work = sp_room(n, sizeof *work);
  int *level = sp_room(n, sizeof(int)), *first = sp_room(n, sizeof(int)), *order = sp_room(n, sizeof(int)), deepest = 0;
  p->tasks = sp_room(n, sizeof *p->tasks), p->launches = sp_room(n + INT64_C(1), sizeof(int));
  bool good = work && level && first && order && p->tasks && p->launches;
  for (int i = 0; good && i < n; i++) first[i] = i;
  for (int i = 0; good && i < n; i++) {
    const struct ws_front *f = &p->fronts[i];
    work[i] += work_of(p, f);
    const bool small = work[i] <= TASK_WORK;
    if (small) level[i] = 0;
    const int up = p->parent[i];
    if (up < 0) continue;
    work[up] += work[i];
    first[up] = least(first[up], first[i]);
    if (level[up] <= level[i]) level[up] = level[i] + 1;
  }
  for (int i = 0; good && i < n; i++) deepest = level[i] > deepest ? level[i] : deepest;
  int *next = level_lists(good ? level : NULL, n, deepest, order);
  for (int l = 0; next && l <= deepest; l++) {
    const int begin = p->n_tasks;
    for (int i = order[l]; i >= 0; i = next[i]) {
      const bool small = work[i] <= TASK_WORK, up_small = p->parent[i] >= 0 && work[p->parent[i]] <= TASK_WORK;
      if (!up_small) p->tasks[p->n_tasks++] = (struct ws_front_task){small ? first[i] : i, i + 1};
    }
    const int count = p->n_tasks - begin;
    const bool alone = count == 1 && p->n_launches && begin - p->launches[p->n_launches - 1] == 1;
    if (alone && p->tasks[begin - 1].end == p->tasks[begin].first && !p->fronts[p->tasks[begin].first].wide &&
        !p->fronts[p->tasks[begin - 1].end - 1].wide)
      p->tasks[begin - 1].end = p->tasks[begin].end, p->n_tasks--;
    else if (count)
      p->launches[p->n_launches++] = begin;
  }
  good = good && next;
  free(next);
  if (good) p->launches[p->n_launches] = p->n_tasks, p->tasks[p->n_tasks] = (struct ws_front_task){0, n};
  free(work);
  free(level);
  free(first);
  free(order);
  return good;
}

solver_status sp_plan_make(struct sp_plan *out, enum sp_kind kind, const struct sp_pattern *a, const int *order,
                           bool shift)
{
  struct sp_plan p = {.kind = kind, .m = a->m, .n = a->n};
  struct making k = {.p = &p, .a = a, .shift = shift};
  bool good = start(&k, order);
  if (good) find_items(&k);
  good = good && find_reach(&k) && postorder(&k) && find_fronts(&k) && find_children(&k);
  if (good && kind == SP_QR) good = find_own_rows(&k);
  good = good && find_entries(&k) && find_values(&p);
  if (good) find_wide(&p);
  good = good && find_tasks(&p);
  free_making(&k);
  if (!good) sp_plan_free(&p);
  *out = p;
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

void sp_plan_free(struct sp_plan *p)
{
  free(p->order);
  free(p->number);
  free(p->parent);
  free(p->row_front);
  free(p->row_place);
  free(p->fronts);
  free(p->children);
  free(p->entries);
  free(p->lists.at);
  free(p->tasks);
  free(p->launches);
  memset(p, 0, sizeof *p);
}
