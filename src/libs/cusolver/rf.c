/* cusolverRf: factors of matrices whose places, and those of their factors, are known from a first one. P A Q^T =
 * L U; inside, L has the unit diagonal, whichever the program's has.
 */
#include "libs/cusolver/sp_types.h"
#include "libs/kernels/refactor_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x7761727073707266)

enum { CSR, CSC };
enum { STORED_L, STORED_U, ASSUMED_L, ASSUMED_U };

/* Levels of rows that depend on each other, in the order of the work, and launches of them. */
struct levels {
  int *rows, *at, n;
  uint64_t device; /* rows, then beginnings */
};

struct rf {
  uint64_t magic;
  struct kernel_set kernels;
  int format, unit, fast, factor_algorithm, solve_algorithm;
  double zero, boost;
  /* After the setup: M on the host, and what each element comes from. */
  int n, count_a, batch;
  struct sp_pattern m;
  int *diagonal, *source_at, *sources;
  struct levels down, up; /* of L and of U */
  bool analysed, factored, boosted;
  struct ws_refactor_args args;
  uint64_t tables, values, report, a, scaled; /* on the device */
};

static bool is(const struct rf *h)
{
  return h && h->magic == MAGIC;
}

static void free_levels(struct levels *l)
{
  if (l->device) cuMemFree_v2(l->device);
  free(l->rows);
  free(l->at);
  memset(l, 0, sizeof *l);
}

static void free_setup(struct rf *h)
{
  uint64_t *const device[] = {&h->tables, &h->values, &h->report, &h->a, &h->scaled};
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) {
    if (*device[i]) cuMemFree_v2(*device[i]);
    *device[i] = 0;
  }
  free_levels(&h->down);
  free_levels(&h->up);
  sp_pattern_free(&h->m);
  free(h->diagonal);
  free(h->source_at);
  free(h->sources);
  h->diagonal = h->source_at = h->sources = NULL;
  h->n = h->batch = 0;
  h->analysed = h->factored = h->boosted = false;
  memset(&h->args, 0, sizeof h->args);
}

PUBLIC solver_status cusolverRfCreate(struct rf **out)
{
  if (!out) return SOLVER_INVALID_VALUE;
  struct rf *h = calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return SOLVER_ALLOC_FAILED;
  const bool open = kernel_set_open(&h->kernels);
  if (!open || h->kernels.capability < 75) {
    free(h);
    return open ? SOLVER_ARCH_MISMATCH : SOLVER_NOT_INITIALIZED;
  }
  h->magic = MAGIC, h->solve_algorithm = 1;
  *out = h;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfDestroy(struct rf *h)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  cuStreamSynchronize(NULL);
  free_setup(h);
  kernel_set_close(&h->kernels);
  h->magic = 0;
  free(h);
  return SOLVER_SUCCESS;
}

PUBLIC solver_status cusolverRfGetMatrixFormat(const struct rf *h, int *format, int *unit)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!format || !unit) return SOLVER_INVALID_VALUE;
  *format = h->format, *unit = h->unit;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfSetMatrixFormat(struct rf *h, int format, int unit)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)format > CSC || (unsigned)unit > ASSUMED_U) return SOLVER_INVALID_VALUE;
  h->format = format, h->unit = unit;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfGetNumericProperties(const struct rf *h, double *zero, double *boost)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!zero || !boost) return SOLVER_INVALID_VALUE;
  *zero = h->zero, *boost = h->boost;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfSetNumericProperties(struct rf *h, double zero, double boost)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  h->zero = zero, h->boost = boost;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfGetNumericBoostReport(const struct rf *h, int *used)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!used) return SOLVER_INVALID_VALUE;
  *used = h->boosted;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfGetAlgs(const struct rf *h, int *factor, int *solve)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!factor || !solve) return SOLVER_INVALID_VALUE;
  *factor = h->factor_algorithm, *solve = h->solve_algorithm;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfSetAlgs(struct rf *h, int factor, int solve)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)factor > 2 || solve < 1 || solve > 3) return SOLVER_INVALID_VALUE;
  h->factor_algorithm = factor, h->solve_algorithm = solve;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfGetResetValuesFastMode(const struct rf *h, int *fast)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!fast) return SOLVER_INVALID_VALUE;
  *fast = h->fast;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfSetResetValuesFastMode(struct rf *h, int fast)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if ((unsigned)fast > 1) return SOLVER_INVALID_VALUE;
  h->fast = fast;
  return SOLVER_SUCCESS;
}

/* What the program hands over, on the host. */
struct rf_part {
  int count;
  const int *offsets, *columns;
};
struct setup {
  int n, batch;
  struct rf_part a, l, u;
  const int *p, *q;
  const char *function;
};

static solver_status wrong(const struct setup *s, const char *what, int row, int column)
{
  fprintf(stderr, "warpstep: %s: %s at row %d, column %d: look at the matrices, P and Q\n", s->function, what, row,
          column);
  return SOLVER_INVALID_VALUE;
}

/* Offsets ascend from 0 to the number of elements, and indices are below n. */
static bool good_part(const struct rf_part *m, int n)
{
  if (m->count < 0 || !m->offsets || (m->count && !m->columns) || m->offsets[0] != 0 || m->offsets[n] != m->count)
    return false;
  for (int i = 0; i < n; i++)
    if (m->offsets[i + 1] < m->offsets[i]) return false;
  for (int k = 0; k < m->count; k++)
    if (m->columns[k] < 0 || m->columns[k] >= n) return false;
  return true;
}

static int ascending(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* M: L and U in one, with the whole diagonal. Of a triangle what lies on the other side is none of it. */
static solver_status make_m(struct rf *h, const struct setup *s)
{
  const int n = s->n;
  const struct rf_part *const parts[] = {&s->l, &s->u};
  const int64_t most = (int64_t)s->l.count + s->u.count + n;
  struct sp_pattern m = {n, n, sp_room(n + INT64_C(1), sizeof(int)),
                         most > INT32_MAX ? NULL : sp_room(most, sizeof(int))};
  h->diagonal = sp_room(n, sizeof(int));
  h->m = m;
  if (!m.offsets || !m.columns || !h->diagonal) return SOLVER_ALLOC_FAILED;
  for (int pass = 0; pass < 2; pass++) {
    for (int s2 = 0; s2 < 2; s2++)
      for (int i = 0; i < n; i++)
        for (int k = parts[s2]->offsets[i]; k < parts[s2]->offsets[i + 1]; k++) {
          const int row = h->format == CSR ? i : parts[s2]->columns[k],
                    column = h->format == CSR ? parts[s2]->columns[k] : i;
          if (row == column) continue;
          if ((row > column) != (s2 == 0)) return wrong(s, s2 ? "U has an element" : "L has an element", row, column);
          if (pass == 0)
            m.offsets[row + 1]++;
          else
            m.columns[m.offsets[row]++] = column;
        }
    for (int i = 0; pass == 0 && i < n; i++) m.offsets[i + 1] += m.offsets[i] + 1;
    for (int i = 0; pass == 1 && i < n; i++) m.columns[m.offsets[i]++] = i;
  }
  for (int i = n; i > 0; i--) m.offsets[i] = m.offsets[i - 1];
  m.offsets[0] = 0;
  for (int i = 0; i < n; i++) {
    int *const row = m.columns + m.offsets[i], count = m.offsets[i + 1] - m.offsets[i];
    qsort(row, (size_t)count, sizeof *row, ascending);
    for (int k = 0; k < count; k++) {
      if (row[k] == i) h->diagonal[i] = m.offsets[i] + k;
      if (k && row[k] == row[k - 1]) return wrong(s, "the factors have an element twice", i, row[k]);
    }
  }
  return SOLVER_SUCCESS;
}

static int place_of(const struct sp_pattern *m, int row, int column)
{
  int low = m->offsets[row], high = m->offsets[row + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (m->columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->offsets[row + 1] && m->columns[low] == column ? low : -1;
}

/* Which elements of A come to each place of M. */
static solver_status find_sources(struct rf *h, const struct setup *s)
{
  const int n = s->n, count = h->m.offsets[n];
  int *back_p = sp_room(n, sizeof(int)), *back_q = sp_room(n, sizeof(int)), *to = sp_room(s->a.count, sizeof(int));
  h->source_at = sp_room(count + INT64_C(1), sizeof(int)), h->sources = sp_room(s->a.count, sizeof(int));
  solver_status status = back_p && back_q && to && h->source_at && h->sources ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  if (!status && (!sp_invert(s->p, n, back_p) || !sp_invert(s->q, n, back_q))) status = SOLVER_INVALID_VALUE;
  for (int i = 0; !status && i < n; i++)
    for (int k = s->a.offsets[i]; !status && k < s->a.offsets[i + 1]; k++) {
      const int row = h->format == CSR ? i : s->a.columns[k], column = h->format == CSR ? s->a.columns[k] : i;
      to[k] = place_of(&h->m, back_p[row], back_q[column]);
      if (to[k] < 0)
        status = wrong(s, "the factors have no place for an element of A", row, column);
      else
        h->source_at[to[k] + 1]++;
    }
  for (int e = 0; !status && e < count; e++) h->source_at[e + 1] += h->source_at[e];
  for (int k = 0; !status && k < s->a.count; k++) h->sources[h->source_at[to[k]]++] = k;
  for (int e = count; !status && e > 0; e--) h->source_at[e] = h->source_at[e - 1];
  if (!status) h->source_at[0] = 0;
  free(back_p);
  free(back_q);
  free(to);
  return status;
}

static bool upload_tables(struct rf *h)
{
  const int n = h->n, count = h->m.offsets[n];
  const struct {
    const int *from;
    int64_t n;
    const int32_t **to;
  } parts[] = {{h->m.offsets, n + INT64_C(1), &h->args.offsets},
               {h->m.columns, count, &h->args.columns},
               {h->diagonal, n, &h->args.diagonal},
               {h->source_at, count + INT64_C(1), &h->args.source_at},
               {h->sources, h->count_a, &h->args.sources}};
  enum { PARTS = sizeof parts / sizeof *parts };
  int64_t all = 0;
  for (int i = 0; i < PARTS; i++) all += parts[i].n;
  int *room = sp_room(all, sizeof *room);
  if (!room) return false;
  for (int i = 0, used = 0; i < PARTS; used += (int)parts[i].n, i++)
    memcpy(room + used, parts[i].from, (size_t)parts[i].n * sizeof *room);
  h->tables = sp_upload(NULL, room, (size_t)all * sizeof *room);
  free(room);
  for (int64_t i = 0, used = 0; i < PARTS; used += parts[i].n, i++)
    *parts[i].to = sp_pointer(h->tables + (uint64_t)used * sizeof *room);
  return h->tables != 0;
}

static bool reset(struct rf *h, const double *a, const double *const *a_array)
{
  const int count = h->m.offsets[h->n];
  const struct launch_shape shape = {(unsigned)(count / 256 < 1024 ? count / 256 + 1 : 1024), (unsigned)h->batch, 1,
                                     256};
  struct ws_refactor_args args = h->args;
  args.a = a, args.a_array = a_array;
  h->factored = false;
  return kernel_set_launch(&h->kernels, KERNEL_refactor_reset, shape, NULL, &args);
}

/* The matrices' values: of each a host array. They become M's, as if reset. */
static solver_status first_values(struct rf *h, const double *const *a)
{
  const size_t bytes = (size_t)h->count_a * sizeof(double), n = (size_t)h->batch;
  if (cuMemAlloc_v2(&h->a, n * bytes + n * sizeof(double *) + sizeof(double *)) != DRIVER_OK)
    return SOLVER_ALLOC_FAILED;
  uint64_t *pointers = sp_room(h->batch, sizeof *pointers);
  bool good = pointers != NULL;
  const uint64_t list = h->a, data = h->a + n * sizeof *pointers;
  for (size_t i = 0; good && i < n; i++) {
    pointers[i] = data + i * bytes;
    good = !bytes || cuMemcpyHtoD_v2(pointers[i], a[i], bytes) == DRIVER_OK;
  }
  good = good && cuMemcpyHtoD_v2(list, pointers, n * sizeof *pointers) == DRIVER_OK;
  free(pointers);
  return good && reset(h, NULL, sp_pointer(list)) ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

static solver_status check_setup(const struct setup *s, const double *const *a)
{
  enum { MOST_BATCH = 65535 };
  if (s->n <= 0 || s->batch <= 0 || s->batch > MOST_BATCH || !s->p || !s->q || !a) return SOLVER_INVALID_VALUE;
  for (int i = 0; i < s->batch; i++)
    if (!a[i]) return SOLVER_INVALID_VALUE;
  return good_part(&s->a, s->n) && good_part(&s->l, s->n) && good_part(&s->u, s->n) ? SOLVER_SUCCESS
                                                                                    : SOLVER_INVALID_VALUE;
}

static solver_status set_up(struct rf *h, const struct setup *s, const double *const *a)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  solver_status status = check_setup(s, a);
  if (status) return status;
  free_setup(h);
  h->n = s->n, h->count_a = s->a.count, h->batch = s->batch;
  status = make_m(h, s);
  if (!status) status = find_sources(h, s);
  if (!status) {
    const int64_t count = h->m.offsets[h->n];
    const size_t batch = (size_t)h->batch;
    h->args.n = h->n, h->args.count = (int32_t)count;
    const bool good = upload_tables(h) &&
                      cuMemAlloc_v2(&h->values, (size_t)count * batch * sizeof(double)) == DRIVER_OK &&
                      cuMemAlloc_v2(&h->report, 2 * batch * sizeof(int32_t)) == DRIVER_OK;
    h->args.values = sp_pointer(h->values), h->args.zero_row = sp_pointer(h->report);
    h->args.boosted = sp_pointer(h->report + batch * sizeof(int32_t));
    status = good ? first_values(h, a) : SOLVER_ALLOC_FAILED;
  }
  if (status) free_setup(h);
  return status;
}

#define SETUP_ARGUMENTS(values)                                                                                        \
  int n, int count_a, int *offsets_a, int *columns_a, values, int count_l, int *offsets_l, int *columns_l,             \
      double *values_l, int count_u, int *offsets_u, int *columns_u, double *values_u, int *p, int *q, struct rf *h
#define SETUP(batch)                                                                                                   \
  {                                                                                                                    \
    n, batch, {count_a, offsets_a, columns_a}, {count_l, offsets_l, columns_l}, {count_u, offsets_u, columns_u}, p, q, \
        __func__                                                                                                       \
  }

PUBLIC solver_status cusolverRfSetupHost(SETUP_ARGUMENTS(double *values_a))
{
  const struct setup s = SETUP(1);
  const double *const a[] = {values_a};
  (void)values_l, (void)values_u; /* the factors of A are made again */
  return set_up(h, &s, a);
}
PUBLIC solver_status cusolverRfBatchSetupHost(int batch, SETUP_ARGUMENTS(double *values_a[]))
{
  const struct setup s = SETUP(batch);
  (void)values_l, (void)values_u;
  return set_up(h, &s, (const double *const *)values_a);
}

static void *copy_of(const void *from, int64_t n, size_t each)
{
  void *to = n >= 0 && from ? sp_room(n, each) : NULL;
  if (!to || (n && (cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, (size_t)n * each, NULL) != DRIVER_OK ||
                    cuStreamSynchronize(NULL) != DRIVER_OK))) {
    free(to);
    return NULL;
  }
  return to;
}

PUBLIC solver_status cusolverRfSetupDevice(SETUP_ARGUMENTS(double *values_a))
{
  enum { ARRAYS = 9 };
  (void)values_l, (void)values_u;
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (n <= 0) return SOLVER_INVALID_VALUE;
  void *const copies[ARRAYS] = {
      copy_of(offsets_a, n + INT64_C(1), sizeof(int)),
      copy_of(columns_a, count_a, sizeof(int)),
      copy_of(values_a, count_a, sizeof(double)),
      copy_of(offsets_l, n + INT64_C(1), sizeof(int)),
      copy_of(columns_l, count_l, sizeof(int)),
      copy_of(offsets_u, n + INT64_C(1), sizeof(int)),
      copy_of(columns_u, count_u, sizeof(int)),
      copy_of(p, n, sizeof(int)),
      copy_of(q, n, sizeof(int)),
  };
  const struct setup s = {n,
                          1,
                          {count_a, copies[0], copies[1]},
                          {count_l, copies[3], copies[4]},
                          {count_u, copies[5], copies[6]},
                          copies[7],
                          copies[8],
                          __func__};
  const double *const a[] = {copies[2]};
  const solver_status status = set_up(h, &s, a);
  for (int i = 0; i < ARRAYS; i++) free(copies[i]);
  return status;
}

static solver_status reset_values(struct rf *h, int batch, int n, int count, const double *a,
                                  const double *const *array)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->n || n != h->n || count != h->count_a || batch != h->batch || (!a && !array)) return SOLVER_INVALID_VALUE;
  return reset(h, a, array) ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}
PUBLIC solver_status cusolverRfResetValues(int n, int count, int *offsets, int *columns, double *values, int *p, int *q,
                                           struct rf *h)
{
  (void)offsets, (void)columns, (void)p, (void)q; /* as in the setup */
  return reset_values(h, 1, n, count, values, NULL);
}
PUBLIC solver_status cusolverRfBatchResetValues(int batch, int n, int count, int *offsets, int *columns,
                                                double *values[], int *p, int *q, struct rf *h)
{
  (void)offsets, (void)columns, (void)p, (void)q;
  return reset_values(h, batch, n, count, NULL, (const double *const *)values);
}

/* Rows by how long the chain of rows is that they wait for. */
static bool find_levels(const struct rf *h, bool up, struct levels *l)
{
  const int n = h->n;
  int *level = sp_room(n, sizeof *level);
  l->rows = sp_room(n, sizeof(int)), l->at = sp_room(n + INT64_C(1), sizeof(int)), l->n = 0;
  if (!level || !l->rows || !l->at) {
    free(level);
    return false;
  }
  for (int s = 0; s < n; s++) {
    const int i = up ? n - 1 - s : s, from = up ? h->diagonal[i] + 1 : h->m.offsets[i],
              end = up ? h->m.offsets[i + 1] : h->diagonal[i];
    for (int k = from; k < end; k++)
      if (level[h->m.columns[k]] >= level[i]) level[i] = level[h->m.columns[k]] + 1;
    if (level[i] >= l->n) l->n = level[i] + 1;
    l->at[level[i] + 1]++;
  }
  for (int i = 0; i < l->n; i++) l->at[i + 1] += l->at[i];
  for (int i = 0; i < n; i++) l->rows[l->at[level[i]]++] = i;
  for (int i = l->n; i > 0; i--) l->at[i] = l->at[i - 1];
  l->at[0] = 0;
  free(level);
  int *all = sp_room(2 * (int64_t)n + 1, sizeof *all);
  if (!all) return false;
  memcpy(all, l->rows, (size_t)n * sizeof *all);
  memcpy(all + n, l->at, ((size_t)l->n + 1) * sizeof *all);
  l->device = sp_upload(NULL, all, (2 * (size_t)n + 1) * sizeof *all);
  free(all);
  return l->device != 0;
}

static solver_status analyse(struct rf *h)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->n) return SOLVER_INVALID_VALUE;
  free_levels(&h->down);
  free_levels(&h->up);
  h->analysed = find_levels(h, false, &h->down) && find_levels(h, true, &h->up);
  return h->analysed ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}
PUBLIC solver_status cusolverRfAnalyze(struct rf *h)
{
  return analyse(h);
}
PUBLIC solver_status cusolverRfBatchAnalyze(struct rf *h)
{
  return analyse(h);
}

/* The kernel over all levels: narrow ones after each other by one CTA, wide ones by many. */
static bool over_levels(struct rf *h, enum lib_kernel k, const struct levels *l, struct ws_refactor_args args)
{
  enum { WARPS = 8 };
  args.rows = sp_pointer(l->device), args.levels = args.rows + h->n;
  for (int first = 0, end; first < l->n; first = end) {
    const int rows = l->at[first + 1] - l->at[first];
    end = first + 1;
    while (rows <= WARPS && end < l->n && l->at[end + 1] - l->at[end] <= WARPS) end++;
    const struct launch_shape shape = {end - first > 1 ? 1 : (unsigned)((rows + WARPS - 1) / WARPS), (unsigned)h->batch,
                                       1, 32 * WARPS};
    args.first = first, args.end = end;
    if (!kernel_set_launch(&h->kernels, k, shape, NULL, &args)) return false;
  }
  return true;
}

/* Zero pivots and whether there were boosted ones, of each matrix, in this order. */
static int32_t *report(const struct rf *h)
{
  return copy_of(sp_pointer(h->report), 2 * (int64_t)h->batch, sizeof(int32_t));
}

static solver_status refactor(struct rf *h, bool batch)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->analysed) return SOLVER_INVALID_VALUE;
  h->args.zero = h->zero, h->args.boost = h->boost;
  const size_t n = (size_t)h->batch;
  const bool good = cuMemsetD32Async(h->report, INT32_MAX, n, NULL) == DRIVER_OK &&
                    cuMemsetD32Async(h->report + n * sizeof(int32_t), 0, n, NULL) == DRIVER_OK &&
                    over_levels(h, KERNEL_refactor_lu, &h->down, h->args);
  int32_t *said = good ? report(h) : NULL;
  if (!said) return SOLVER_EXECUTION_FAILED;
  h->factored = true, h->boosted = false;
  for (size_t i = 0; i < n; i++) h->boosted = h->boosted || said[n + i];
  const bool zero = said[0] != INT32_MAX;
  free(said);
  return zero && !batch ? (solver_status)SOLVER_ZERO_PIVOT : SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfRefactor(struct rf *h)
{
  return refactor(h, false);
}
PUBLIC solver_status cusolverRfBatchRefactor(struct rf *h)
{
  return refactor(h, true);
}

PUBLIC solver_status cusolverRfBatchZeroPivot(const struct rf *h, int *position)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->factored || !position) return SOLVER_INVALID_VALUE;
  int32_t *said = report(h);
  if (!said) return SOLVER_EXECUTION_FAILED;
  bool any = false;
  for (int i = 0; i < h->batch; i++) {
    position[i] = said[i] == INT32_MAX ? -1 : said[i];
    any = any || position[i] >= 0;
  }
  free(said);
  return any ? (solver_status)SOLVER_ZERO_PIVOT : SOLVER_SUCCESS;
}

/* A right side of each matrix after the other. */
static solver_status solve(struct rf *h, const int *p, const int *q, int sides, double *t, int ldt, double *x,
                           double *const *array, int ldx)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->factored || !p || !q || sides <= 0 || !t || ldt < h->n || ldx < h->n || (!x && !array))
    return SOLVER_INVALID_VALUE;
  const struct launch_shape shape = {(unsigned)(h->n / 256 < 1024 ? h->n / 256 + 1 : 1024), (unsigned)h->batch, 1, 256};
  struct ws_refactor_args args = h->args;
  args.p = p, args.q = q, args.t = t, args.x_array = array;
  for (int s = 0; s < sides; s++) {
    args.x = array ? NULL : x + (int64_t)s * ldx, args.x_offset = (int64_t)s * ldx;
    args.step = WS_REFACTOR_GATHER;
    if (!kernel_set_launch(&h->kernels, KERNEL_refactor_solve, shape, NULL, &args)) return SOLVER_EXECUTION_FAILED;
    args.step = WS_REFACTOR_FORWARD;
    if (!over_levels(h, KERNEL_refactor_solve, &h->down, args)) return SOLVER_EXECUTION_FAILED;
    args.step = WS_REFACTOR_BACKWARD;
    if (!over_levels(h, KERNEL_refactor_solve, &h->up, args)) return SOLVER_EXECUTION_FAILED;
    args.step = WS_REFACTOR_SCATTER;
    if (!kernel_set_launch(&h->kernels, KERNEL_refactor_solve, shape, NULL, &args)) return SOLVER_EXECUTION_FAILED;
  }
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverRfSolve(struct rf *h, int *p, int *q, int sides, double *t, int ldt, double *x, int ldx)
{
  return is(h) && h->batch > 1 ? SOLVER_INVALID_VALUE : solve(h, p, q, sides, t, ldt, x, NULL, ldx);
}
PUBLIC solver_status cusolverRfBatchSolve(struct rf *h, int *p, int *q, int sides, double *t, int ldt, double *x[],
                                          int ldx)
{
  return solve(h, p, q, sides, t, ldt, NULL, x, ldx);
}

/* M's values on the host; of a unit U, scaled to that. */
static double *values_of(const struct rf *h)
{
  const int n = h->n;
  double *m = copy_of(sp_pointer(h->values), h->m.offsets[n], sizeof *m);
  if (!m || h->unit == STORED_L || h->unit == ASSUMED_L) return m;
  for (int i = 0; i < n; i++) {
    const double d = m[h->diagonal[i]];
    for (int k = h->diagonal[i] + 1; k < h->m.offsets[i + 1]; k++) m[k] /= d;
  }
  for (int i = 0; i < n; i++)
    for (int k = h->m.offsets[i]; k < h->diagonal[i]; k++) m[k] *= m[h->diagonal[h->m.columns[k]]];
  return m;
}

PUBLIC solver_status cusolverRfAccessBundledFactorsDevice(struct rf *h, int *count, int **offsets, int **columns,
                                                          double **values)
{
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->factored || !count || !offsets || !columns || !values) return SOLVER_INVALID_VALUE;
  uint64_t at = h->values;
  if (h->unit == STORED_U || h->unit == ASSUMED_U) {
    double *m = values_of(h);
    if (h->scaled) cuMemFree_v2(h->scaled);
    at = h->scaled = m ? sp_upload(NULL, m, (size_t)h->m.offsets[h->n] * sizeof *m) : 0;
    free(m);
    if (!at) return SOLVER_ALLOC_FAILED;
  }
  *count = h->m.offsets[h->n];
  *offsets = (int *)(uintptr_t)h->args.offsets, *columns = (int *)(uintptr_t)h->args.columns, *values = sp_pointer(at);
  return SOLVER_SUCCESS;
}

/* Compressed rows that the program frees. */
struct rows {
  int *count, **offsets, **columns;
  double **values;
};
static bool allocate(const struct rows *to, int n, int64_t count)
{
  *to->offsets = malloc(((size_t)n + 1) * sizeof(int)), *to->columns = malloc((size_t)count * sizeof(int) + 1);
  *to->values = malloc((size_t)count * sizeof(double) + 1);
  *to->count = 0;
  if (*to->offsets && *to->columns && *to->values) return true;
  free(*to->offsets);
  free(*to->columns);
  free(*to->values);
  return false;
}
static void put(const struct rows *to, int column, double v)
{
  (*to->columns)[*to->count] = column, (*to->values)[(*to->count)++] = v;
}

PUBLIC solver_status cusolverRfExtractBundledFactorsHost(const struct rf *h, int *count, int **offsets, int **columns,
                                                         double **values)
{
  const struct rows to = {count, offsets, columns, values};
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->factored || !count || !offsets || !columns || !values) return SOLVER_INVALID_VALUE;
  const int n = h->n;
  double *m = values_of(h);
  if (!m) return SOLVER_EXECUTION_FAILED;
  const bool good = allocate(&to, n, h->m.offsets[n]);
  for (int k = 0; good && k < h->m.offsets[n]; k++) put(&to, h->m.columns[k], m[k]);
  if (good) memcpy(*offsets, h->m.offsets, ((size_t)n + 1) * sizeof(int));
  free(m);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

PUBLIC solver_status cusolverRfExtractSplitFactorsHost(const struct rf *h, int *count_l, int **offsets_l,
                                                       int **columns_l, double **values_l, int *count_u,
                                                       int **offsets_u, int **columns_u, double **values_u)
{
  const struct rows l = {count_l, offsets_l, columns_l, values_l}, u = {count_u, offsets_u, columns_u, values_u};
  if (!is(h)) return SOLVER_NOT_INITIALIZED;
  if (!h->factored || !count_l || !offsets_l || !columns_l || !values_l) return SOLVER_INVALID_VALUE;
  if (!count_u || !offsets_u || !columns_u || !values_u) return SOLVER_INVALID_VALUE;
  const int n = h->n;
  const bool unit_l = h->unit == STORED_L || h->unit == ASSUMED_L, stored = h->unit == STORED_L || h->unit == STORED_U;
  double *m = values_of(h);
  if (!m) return SOLVER_EXECUTION_FAILED;
  bool good = allocate(&l, n, h->m.offsets[n]);
  if (good && !allocate(&u, n, h->m.offsets[n])) {
    free(*offsets_l);
    free(*columns_l);
    free(*values_l);
    good = false;
  }
  for (int i = 0; good && i < n; i++) {
    (*offsets_l)[i] = *count_l, (*offsets_u)[i] = *count_u;
    for (int k = h->m.offsets[i]; k < h->diagonal[i]; k++) put(&l, h->m.columns[k], m[k]);
    if (stored || !unit_l) put(&l, i, unit_l ? 1 : m[h->diagonal[i]]);
    if (stored || unit_l) put(&u, i, unit_l ? m[h->diagonal[i]] : 1);
    for (int k = h->diagonal[i] + 1; k < h->m.offsets[i + 1]; k++) put(&u, h->m.columns[k], m[k]);
    (*offsets_l)[i + 1] = *count_l, (*offsets_u)[i + 1] = *count_u;
  }
  free(m);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}
