#include "libs/cusparse/sparse_levels.h"

#include <stdlib.h>

/* What the host works on. Lists by unknown: what is needed for each unknown, in the order of the matrix. */
struct search {
  int n, count;       /* rows; elements of the matrix, then of the triangle */
  int *row, *column;  /* of each element of the matrix */
  int *first, *place; /* of each unknown: where its elements begin; the elements */
  int *depth;         /* the level of each unknown */
  int *out;           /* the buffer, as the device gets it */
};

/* The parts of the buffer, in ints: n, n + 1, count, count, at most n + 1. */
size_t sparse_levels_bytes(const struct sparse_triangle *t)
{
  const int64_t n = t->a.rows, count = t->a.count;
  if (n >= INT32_MAX || count >= INT32_MAX) return 0;
  return sizeof(int) * ((size_t)n * 3 + 2 + (size_t)count * 2);
}

static struct ws_sparse_levels parts(int *at, size_t n, size_t count)
{
  int *first = at + n, *place = first + n + 1;
  return (struct ws_sparse_levels){.row = at, .first = first, .place = place, .unknown = place + count,
                                   .level = place + 2 * count};
}

static bool take(int **p, size_t n) { return (*p = calloc(n + 1, sizeof **p)) != NULL; }

/* Numbers of a matrix's arrays, from 0 to `limit`; below 0, as -1, only where they may be padding. */
static sparse_status read_within(const struct sparse_handle *h, const void *from, bool wide, int base, bool padded,
                                 int64_t limit, int n, int *to)
{
  int64_t *room = wide ? malloc(((size_t)n + 1) * sizeof *room) : NULL;
  sparse_status s = wide && !room ? SPARSE_ALLOC_FAILED : SPARSE_SUCCESS;
  if (!s && n && !sparse_fetch(h, wide ? (void *)room : (void *)to, from, (size_t)n * (wide ? 8 : 4)))
    s = SPARSE_EXECUTION_FAILED;
  for (int i = 0; !s && i < n; i++) {
    const int64_t v = (wide ? room[i] : to[i]) - (int64_t)base;
    if ((v < 0 && !padded) || v > limit) s = SPARSE_INVALID_VALUE;
    to[i] = v < 0 ? -1 : (int)v;
  }
  free(room);
  return s;
}

static sparse_status read_numbers(const struct sparse_handle *h, const void *from, bool wide, int base, int64_t limit,
                                  int n, int *to)
{
  return read_within(h, from, wide, base, false, limit, n, to);
}

/* Rows of all elements from where each row begins. */
static sparse_status rows_of(const struct sparse_handle *h, const struct ws_sparse *a, struct search *w)
{
  if (!a->offsets) return read_numbers(h, a->row, a->wide_indices, a->base, a->rows - 1, w->count, w->row);
  const sparse_status s = read_numbers(h, a->offsets, a->wide_offsets, a->base, a->count, w->n + 1, w->first);
  if (s) return s;
  w->count = w->first[w->n];
  if (w->first[0] != 0) return SPARSE_INVALID_VALUE;
  for (int i = 0; i < w->n; i++) {
    if (w->first[i] > w->first[i + 1]) return SPARSE_INVALID_VALUE;
    for (int k = w->first[i]; k < w->first[i + 1]; k++) w->row[k] = i;
  }
  return SPARSE_SUCCESS;
}

/* Rows and columns of all places of slices. What is padding, or a row behind the last one, is no unknown's: n. */
static sparse_status read_slices(const struct sparse_handle *h, const struct sparse_triangle *t, struct search *w)
{
  const struct ws_sparse *a = &t->a;
  const int64_t slices = (a->rows + t->slice - 1) / t->slice;
  sparse_status s = read_numbers(h, a->offsets, a->wide_offsets, a->base, a->count, (int)slices + 1, w->first);
  if (!s) s = read_within(h, a->column, a->wide_indices, a->base, true, a->cols - 1, w->count, w->column);
  if (s) return s;
  if (w->first[0] != 0 || w->first[slices] > w->count) return SPARSE_INVALID_VALUE;
  w->count = w->first[slices];
  for (int64_t i = 0; i < slices; i++) {
    if (w->first[i] > w->first[i + 1]) return SPARSE_INVALID_VALUE;
    for (int k = w->first[i]; k < w->first[i + 1]; k++) {
      const int64_t row = i * t->slice + (k - w->first[i]) % t->slice;
      const bool none = row >= a->rows || w->column[k] < 0;
      w->row[k] = none ? w->n : (int)row;
      if (none) w->column[k] = w->n;
    }
  }
  return SPARSE_SUCCESS;
}

/* begins[i]: how many there are of i; becomes where they begin. */
static void begin(int *begins, int n)
{
  for (int i = 0, sum = 0; i <= n; i++) {
    const int of_i = begins[i];
    begins[i] = sum;
    sum += of_i;
  }
}

/* The triangle's elements by unknown; afterwards w->row is the unknown each is for, w->column the one it multiplies. */
static void sort_elements(const struct sparse_triangle *t, struct search *w)
{
  for (int i = 0; i <= w->n; i++) w->first[i] = 0;
  for (int k = 0; k < w->count; k++) {
    const int row = w->row[k], column = w->column[k];
    if (t->transposed) w->row[k] = column, w->column[k] = row;
    if (t->upper ? column < row : column > row) w->row[k] = w->n; /* of the other triangle */
    w->first[w->row[k]]++;
  }
  begin(w->first, w->n);
  for (int k = 0; k < w->count; k++) w->place[w->first[w->row[k]]++] = k;
  for (int i = w->n; i > 0; i--) w->first[i] = w->first[i - 1];
  w->first[0] = 0;
  w->count = w->first[w->n];
}

static int find_depths(const struct sparse_triangle *t, struct search *w)
{
  const bool ascends = t->upper == t->transposed;
  int levels = 0;
  for (int step = 0; step < w->n; step++) {
    const int i = ascends ? step : w->n - 1 - step;
    int depth = 0;
    for (int k = w->first[i]; k < w->first[i + 1]; k++) {
      const int j = w->column[w->place[k]];
      if (j != i && w->depth[j] >= depth) depth = w->depth[j] + 1;
    }
    w->depth[i] = depth;
    if (depth >= levels) levels = depth + 1;
  }
  return levels;
}

/* The rows level by level, with their elements behind each other. */
static void write_out(const struct search *w, size_t stored, int levels, int *level)
{
  int *row = w->out, *first = row + w->n, *place = first + w->n + 1, *unknown = place + stored;
  for (int i = 0; i <= levels; i++) level[i] = 0;
  for (int i = 0; i < w->n; i++) level[w->depth[i]]++;
  begin(level, levels);
  for (int i = 0; i < w->n; i++) row[level[w->depth[i]]++] = i;
  for (int i = levels; i > 0; i--) level[i] = level[i - 1];
  level[0] = 0;
  int at = 0;
  for (int r = 0; r < w->n; r++) {
    first[r] = at;
    for (int k = w->first[row[r]]; k < w->first[row[r] + 1]; k++, at++) {
      place[at] = w->place[k];
      unknown[at] = w->column[w->place[k]];
    }
  }
  first[w->n] = at;
  for (int i = 0; i <= levels; i++) place[2 * stored + (size_t)i] = level[i];
}

static sparse_status find(struct sparse_levels *out, const struct sparse_handle *h, const struct sparse_triangle *t,
                          struct search *w, void *buffer)
{
  const size_t n = (size_t)w->n, stored = (size_t)w->count;
  if (!take(&w->row, stored) || !take(&w->column, stored) || !take(&w->first, n + 1) || !take(&w->place, stored) ||
      !take(&w->depth, n) || !take(&w->out, 3 * n + 2 + 2 * stored))
    return SPARSE_ALLOC_FAILED;
  sparse_status s = t->slice ? read_slices(h, t, w) : rows_of(h, &t->a, w);
  if (!s && !t->slice)
    s = read_numbers(h, t->a.column, t->a.wide_indices, t->a.base, t->a.cols - 1, w->count, w->column);
  if (s) return s;
  sort_elements(t, w);
  out->levels = find_depths(t, w);
  if (!take(&out->level, (size_t)out->levels)) return SPARSE_ALLOC_FAILED;
  write_out(w, stored, out->levels, out->level);
  out->rows = w->n, out->elements = w->count;
  out->device = parts(buffer, n, stored);
  const size_t bytes = (2 * (n + 1) + 2 * stored + (size_t)out->levels) * sizeof(int);
  const bool ok = cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)buffer, w->out, bytes, h->stream) == DRIVER_OK &&
                  cuStreamSynchronize(h->stream) == DRIVER_OK;
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

sparse_status sparse_levels_find(struct sparse_levels *out, const struct sparse_handle *h,
                                 const struct sparse_triangle *t, void *buffer)
{
  struct search w = {.n = (int)t->a.rows, .count = (int)t->a.count};
  sparse_levels_free(out);
  const sparse_status s = find(out, h, t, &w, buffer);
  if (s) sparse_levels_free(out);
  free(w.row), free(w.column), free(w.first), free(w.place), free(w.depth), free(w.out);
  return s;
}

/* A CTA has at most so many threads, and levels that need no more follow each other in one launch. */
enum { MOST_THREADS = 1024, MOST_CTAS = 1024 };

static int64_t threads_of(const struct sparse_levels *l, int level, int lanes)
{
  return (int64_t)(l->level[level + 1] - l->level[level]) * lanes;
}

struct launch_shape sparse_levels_launch(const struct sparse_levels *l, int lanes, int from, int *to)
{
  int64_t widest = threads_of(l, from, lanes);
  for (*to = from + 1; widest <= MOST_THREADS && *to < l->levels; ++*to) {
    const int64_t threads = threads_of(l, *to, lanes);
    if (threads > MOST_THREADS) break;
    if (threads > widest) widest = threads;
  }
  const int64_t ctas = (widest + MOST_THREADS - 1) / MOST_THREADS, threads = (widest + 31) / 32 * 32;
  return (struct launch_shape){.x = 1, .y = (unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), .z = 1,
                               .threads = (unsigned)(threads < MOST_THREADS ? threads : MOST_THREADS)};
}

void sparse_levels_free(struct sparse_levels *l)
{
  free(l->level);
  *l = (struct sparse_levels){0};
}
