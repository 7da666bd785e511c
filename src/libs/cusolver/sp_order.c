#include "libs/cusolver/sp_order.h"

#include <stdlib.h>
#include <string.h>

static void free_both(int *a, int *b)
{
  free(a);
  free(b);
}

/* The graph: neighbours of each vertex, each once, without itself. */
static bool graph_of(struct sp_pattern *out, const struct sp_pattern *a, const struct sp_pattern *turned)
{
  const int n = a->n, most = a->offsets[a->m];
  struct sp_pattern g = {n, n, sp_room(n + INT64_C(1), sizeof(int)), sp_room(2 * (int64_t)most, sizeof(int))};
  int *seen = sp_room(n, sizeof(int));
  const bool good = g.offsets && g.columns && seen && most <= INT32_MAX / 2;
  for (int i = 0, used = 0; good && i < n; i++) {
    const struct sp_pattern *const both[] = {a, turned};
    seen[i] = i + 1;
    for (int s = 0; s < 2; s++)
      for (int k = both[s]->offsets[i]; k < both[s]->offsets[i + 1]; k++) {
        const int j = both[s]->columns[k];
        if (seen[j] != i + 1) seen[j] = i + 1, g.columns[used++] = j;
      }
    g.offsets[i + 1] = used;
  }
  free(seen);
  if (!good) sp_pattern_free(&g);
  *out = g;
  return good;
}

/* Columns are neighbours that a row has both. */
static bool graph_of_columns(struct sp_pattern *out, const struct sp_pattern *a)
{
  const int n = a->n;
  struct sp_pattern turned;
  memset(out, 0, sizeof *out);
  if (!sp_pattern_turn(&turned, a, NULL)) return false;
  int64_t room = 4 * (int64_t)a->offsets[a->m] + n, used = 0;
  struct sp_pattern g = {n, n, sp_room(n + INT64_C(1), sizeof(int)), sp_room(room, sizeof(int))};
  int *seen = sp_room(n, sizeof(int));
  bool good = g.offsets && g.columns && seen;
  for (int j = 0; good && j < n; j++) {
    seen[j] = j + 1;
    if (used + n > room) {
      room = 2 * room + n;
      int *more = room < INT32_MAX ? realloc(g.columns, (size_t)room * sizeof *more) : NULL;
      good = more != NULL;
      if (good) g.columns = more;
    }
    for (int k = turned.offsets[j]; good && k < turned.offsets[j + 1]; k++)
      for (int q = a->offsets[turned.columns[k]]; q < a->offsets[turned.columns[k] + 1]; q++) {
        const int other = a->columns[q];
        if (seen[other] != j + 1) seen[other] = j + 1, g.columns[used++] = other;
      }
    g.offsets[j + 1] = (int)used;
  }
  free(seen);
  sp_pattern_free(&turned);
  if (!good) sp_pattern_free(&g);
  *out = g;
  return good;
}

static int degree(const struct sp_pattern *g, int v)
{
  return g->offsets[v + 1] - g->offsets[v];
}

/* Vertices by their distance from `root` into `list`, only those whose `part` is `which`; `level` becomes the distance
 * and starts as -1. Returns how many; *last: the first of the furthest ones. */
static int spread(const struct sp_pattern *g, int root, const int *part, int which, int *level, int *list, int *last)
{
  int n = 0;
  *last = 0;
  list[n++] = root, level[root] = 0;
  for (int at = 0; at < n; at++) {
    const int v = list[at];
    if (level[v] > level[list[*last]]) *last = at;
    for (int k = g->offsets[v]; k < g->offsets[v + 1]; k++) {
      const int w = g->columns[k];
      if (part[w] == which && level[w] < 0) level[w] = level[v] + 1, list[n++] = w;
    }
  }
  return n;
}

/* A vertex at an end of root's component (George and Liu): from the furthest of few neighbours, as long as that
 * helps. */
static int far_end(const struct sp_pattern *g, int root, const int *part, int which, int *level, int *list, int *count)
{
  int last, depth = -1;
  for (;;) {
    *count = spread(g, root, part, which, level, list, &last);
    const int furthest = level[list[last]];
    int next = list[last];
    for (int i = last; i < *count; i++)
      if (degree(g, list[i]) < degree(g, next)) next = list[i];
    if (furthest <= depth) return root;
    depth = furthest;
    for (int i = 0; i < *count; i++) level[list[i]] = -1;
    root = next;
  }
}

static bool rcm(const struct sp_pattern *g, int *order)
{
  const int n = g->n;
  int *part = sp_room(n, sizeof(int)), *level = sp_room(n, sizeof(int)), used = 0, count;
  if (!part || !level) {
    free_both(part, level);
    return false;
  }
  for (int i = 0; i < n; i++) level[i] = -1;
  for (int v = 0; v < n; v++) {
    if (part[v]) continue;
    const int root = far_end(g, v, part, 0, level, order + used, &count);
    for (int i = 0; i < count; i++) level[order[used + i]] = -1;
    const int first = used;
    order[used++] = root, part[root] = 1;
    for (int at = first; at < used; at++) {
      const int from = used;
      for (int k = g->offsets[order[at]]; k < g->offsets[order[at] + 1]; k++) {
        const int w = g->columns[k];
        if (part[w]) continue;
        int place = used++; /* those of fewer neighbours first */
        for (; place > from && degree(g, order[place - 1]) > degree(g, w); place--) order[place] = order[place - 1];
        order[place] = w, part[w] = 1;
      }
    }
  }
  for (int i = 0; i < n / 2; i++) {
    const int t = order[i];
    order[i] = order[n - 1 - i], order[n - 1 - i] = t;
  }
  free_both(part, level);
  return true;
}

/* Minimum degree by the quotient graph (Amestoy, Davis, Duff, 1996): an eliminated vertex becomes an element, the
 * clique of its neighbours, and takes in the elements it touched. */
struct ints {
  int *v, n, room;
};
struct quotient {
  int n;
  struct ints *vertices, *elements, *members; /* of each vertex: neighbours, elements; of each element: its vertices */
  int *state;                                 /* 0 a vertex, 1 an element, 2 taken in */
  int *degree, *head, *next, *before;         /* lists of vertices of one degree */
  int *mark, *outside, stamp;                 /* outside: of an element, what it has outside the newest, when marked */
};

static bool push(struct ints *l, int v)
{
  if (l->n == l->room) {
    const int room = l->room ? 2 * l->room : 4;
    int *more = realloc(l->v, (size_t)room * sizeof *more);
    if (!more) return false;
    l->v = more, l->room = room;
  }
  l->v[l->n++] = v;
  return true;
}

static void unlink_vertex(struct quotient *q, int v)
{
  if (q->before[v] >= 0)
    q->next[q->before[v]] = q->next[v];
  else
    q->head[q->degree[v]] = q->next[v];
  if (q->next[v] >= 0) q->before[q->next[v]] = q->before[v];
}
static void link_vertex(struct quotient *q, int v, int degree)
{
  q->degree[v] = degree;
  q->before[v] = -1, q->next[v] = q->head[degree];
  if (q->next[v] >= 0) q->before[q->next[v]] = v;
  q->head[degree] = v;
}

/* The neighbours of p, which becomes an element. */
static bool eliminate(struct quotient *q, int p)
{
  struct ints *all = &q->members[p];
  const int stamp = ++q->stamp;
  q->mark[p] = stamp;
  for (int k = 0; k < q->vertices[p].n; k++) {
    const int v = q->vertices[p].v[k];
    if (q->state[v] || q->mark[v] == stamp) continue;
    q->mark[v] = stamp;
    if (!push(all, v)) return false;
  }
  for (int e = 0; e < q->elements[p].n; e++) {
    struct ints *of = &q->members[q->elements[p].v[e]];
    if (q->state[q->elements[p].v[e]] != 1) continue;
    for (int k = 0; k < of->n; k++) {
      const int v = of->v[k];
      if (q->state[v] || q->mark[v] == stamp) continue;
      q->mark[v] = stamp;
      if (!push(all, v)) return false;
    }
    q->state[q->elements[p].v[e]] = 2;
    free(of->v);
    memset(of, 0, sizeof *of);
  }
  q->state[p] = 1;
  return true;
}

/* What v keeps: neighbours that no element of its has by itself, elements that are still there, the new one. */
static bool clean(struct quotient *q, int v, int p, int stamp)
{
  struct ints *a = &q->vertices[v], *e = &q->elements[v];
  int kept = 0;
  for (int k = 0; k < a->n; k++)
    if (!q->state[a->v[k]] && q->mark[a->v[k]] != stamp) a->v[kept++] = a->v[k];
  a->n = kept, kept = 0;
  for (int k = 0; k < e->n; k++)
    if (q->state[e->v[k]] == 1) e->v[kept++] = e->v[k];
  e->n = kept;
  return push(e, p);
}

/* How many of each element's vertices are not neighbours of p: for the bound of the approximate degree. */
static void count_outside(struct quotient *q, int p, int *of)
{
  for (int k = 0; k < q->members[p].n; k++) {
    const struct ints *e = &q->elements[q->members[p].v[k]];
    for (int i = 0; i < e->n; i++) {
      if (of[e->v[i]] != p + 1) {
        int there = 0;
        for (int t = 0; t < q->members[e->v[i]].n; t++) there += !q->state[q->members[e->v[i]].v[t]];
        of[e->v[i]] = p + 1, q->outside[e->v[i]] = there;
      }
      q->outside[e->v[i]]--;
    }
  }
}

static int exact_degree(struct quotient *q, int v)
{
  const int stamp = ++q->stamp;
  int n = q->vertices[v].n;
  q->mark[v] = stamp;
  for (int k = 0; k < q->vertices[v].n; k++) q->mark[q->vertices[v].v[k]] = stamp;
  for (int e = 0; e < q->elements[v].n; e++) {
    const struct ints *of = &q->members[q->elements[v].v[e]];
    for (int k = 0; k < of->n; k++)
      if (!q->state[of->v[k]] && q->mark[of->v[k]] != stamp) q->mark[of->v[k]] = stamp, n++;
  }
  return n;
}
static int bound_of_degree(const struct quotient *q, int v, int p)
{
  int64_t n = q->vertices[v].n + q->members[p].n - 1;
  for (int e = 0; e < q->elements[v].n; e++)
    if (q->elements[v].v[e] != p) n += q->outside[q->elements[v].v[e]];
  return n < q->n ? (int)n : q->n - 1;
}

static bool step(struct quotient *q, int p, bool approximate, int *counted)
{
  unlink_vertex(q, p);
  if (!eliminate(q, p)) return false;
  const int stamp = q->stamp;
  for (int k = 0; k < q->members[p].n; k++)
    if (!clean(q, q->members[p].v[k], p, stamp)) return false;
  if (approximate) count_outside(q, p, counted);
  for (int k = 0; k < q->members[p].n; k++) {
    const int v = q->members[p].v[k];
    unlink_vertex(q, v);
    link_vertex(q, v, approximate ? bound_of_degree(q, v, p) : exact_degree(q, v));
  }
  return true;
}

static bool minimum_degree(const struct sp_pattern *g, bool approximate, int *order)
{
  const int n = g->n;
  struct quotient q = {.n = n};
  int *numbers = sp_room(8 * (int64_t)n, sizeof *numbers), least = 0;
  struct ints *lists = sp_room(3 * (int64_t)n, sizeof *lists);
  bool good = numbers && lists;
  if (good) {
    q.state = numbers, q.degree = numbers + n, q.head = numbers + 2 * (size_t)n, q.next = numbers + 3 * (size_t)n;
    q.before = numbers + 4 * (size_t)n, q.mark = numbers + 5 * (size_t)n, q.outside = numbers + 6 * (size_t)n;
    q.vertices = lists, q.elements = lists + n, q.members = lists + 2 * (size_t)n;
    for (int v = 0; v < n; v++) q.head[v] = -1;
  }
  for (int v = n - 1; good && v >= 0; v--) {
    for (int k = g->offsets[v]; good && k < g->offsets[v + 1]; k++) good = push(&q.vertices[v], g->columns[k]);
    if (good) link_vertex(&q, v, degree(g, v));
  }
  for (int done = 0; good && done < n; done++) {
    for (least = 0; q.head[least] < 0;) least++;
    order[done] = q.head[least];
    good = step(&q, order[done], approximate, numbers + 7 * (size_t)n);
  }
  for (int64_t i = 0; lists && i < 3 * (int64_t)n; i++) free(lists[i].v);
  free(lists);
  free(numbers);
  return good;
}

/* Nested dissection (George, 1973): a level of the distances from one end parts the vertices, and comes last. */
struct dissection {
  const struct sp_pattern *g;
  int *part, *level, *list, *order, parts, end; /* `order` is filled from its end */
};
enum { DISSECTION_LEAF = 32, DISSECTION_PLACED = -1 };

/* Parts the component of `root`; the two sides stay in `which` and a new part. */
static void dissect(struct dissection *d, int root, int which)
{
  int count, half = 0, cut = 0;
  far_end(d->g, root, d->part, which, d->level, d->list, &count);
  const int depth = d->level[d->list[count - 1]];
  if (count > DISSECTION_LEAF && depth >= 2) {
    while (cut < depth - 1 && half < count / 2) {
      cut++;
      while (half < count && d->level[d->list[half]] < cut) half++;
    }
    if (cut < 1) cut = 1;
  }
  for (int i = count - 1; i >= 0; i--) {
    const int v = d->list[i];
    if (cut == 0 || d->level[v] == cut)
      d->order[--d->end] = v, d->part[v] = DISSECTION_PLACED;
    else if (d->level[v] > cut)
      d->part[v] = d->parts;
    d->level[v] = -1;
  }
  d->parts++;
}

static bool nested(const struct sp_pattern *g, int *order)
{
  const int n = g->n;
  struct dissection d = {g, sp_room(n, sizeof(int)), sp_room(n, sizeof(int)), sp_room(n, sizeof(int)), order, 1, n};
  const bool good = d.part && d.level && d.list;
  for (int v = 0; good && v < n; v++) d.level[v] = -1;
  /* Vertices of one part need not be connected: each call takes one component of it. */
  for (int v = 0; good && v < n;) {
    if (d.part[v] == DISSECTION_PLACED)
      v++;
    else
      dissect(&d, v, d.part[v]);
  }
  free(d.part);
  free(d.level);
  free(d.list);
  return good;
}

static bool by(enum sp_order how, const struct sp_pattern *g, int *order)
{
  switch (how) {
  case SP_ORDER_RCM: return rcm(g, order);
  case SP_ORDER_ND: return nested(g, order);
  case SP_ORDER_AMD: return minimum_degree(g, true, order);
  case SP_ORDER_MD: return minimum_degree(g, false, order);
  default:
    for (int i = 0; i < g->n; i++) order[i] = i;
    return true;
  }
}

bool sp_order_symmetric(enum sp_order how, const struct sp_pattern *a, int *order)
{
  struct sp_pattern turned, g;
  if (how == SP_ORDER_NONE) return by(how, a, order);
  if (!sp_pattern_turn(&turned, a, NULL)) return false;
  bool good = graph_of(&g, a, &turned);
  sp_pattern_free(&turned);
  good = good && by(how, &g, order);
  sp_pattern_free(&g);
  return good;
}
bool sp_order_columns(enum sp_order how, const struct sp_pattern *a, int *order)
{
  struct sp_pattern g;
  if (how == SP_ORDER_NONE) return by(how, a, order);
  const bool fits = graph_of_columns(&g, a), good = fits && by(how, &g, order);
  sp_pattern_free(&g);
  return good || (!fits && a->m == a->n && sp_order_symmetric(how, a, order));
}

/* A path from row `start` to a column without a row, by rows that may change theirs (Duff's MC21); depth first. */
static bool augment(const struct sp_pattern *a, int start, int *row_of, int *seen, int *rows, int *at)
{
  int depth = 0;
  rows[0] = start, at[0] = a->offsets[start];
  while (depth >= 0) {
    const int i = rows[depth];
    if (at[depth] == a->offsets[i + 1]) {
      depth--;
      continue;
    }
    const int j = a->columns[at[depth]++];
    if (seen[j] == start + 1) continue;
    seen[j] = start + 1;
    if (row_of[j] >= 0) {
      depth++;
      rows[depth] = row_of[j], at[depth] = a->offsets[rows[depth]];
      continue;
    }
    for (; depth >= 0; depth--) row_of[a->columns[at[depth] - 1]] = rows[depth];
    return true;
  }
  return false;
}

int sp_match(const struct sp_pattern *a, int *row_of)
{
  int *seen = sp_room(a->n, sizeof(int)), *rows = sp_room(3 * ((int64_t)a->m + 1), sizeof(int)), found = 0;
  const bool good = seen && rows;
  int *const has = good ? rows + 2 * ((int64_t)a->m + 1) : NULL; /* rows that have a column */
  for (int j = 0; j < a->n; j++) row_of[j] = -1;
  for (int i = 0; good && i < a->m; i++) /* what is there first: most diagonals are */
    for (int k = a->offsets[i]; k < a->offsets[i + 1]; k++)
      if (a->columns[k] == i && !has[i]) row_of[i] = i, has[i] = 1, found++;
  for (int i = 0; good && i < a->m; i++)
    if (!has[i]) found += augment(a, i, row_of, seen, rows, rows + a->m + 1);
  free_both(seen, rows);
  return good ? found : -1;
}
