/* Orders and permutations of cusolverSp, all on the host. */
#include "libs/cusolver/sp_order.h"

#include <stdlib.h>
#include <string.h>

PUBLIC solver_status cusolverSpXcsrissymHost(const struct sp_handle *h, int m, int count, const struct description *d,
                                             const int *offsets, const int *ends, const int *columns, int *symmetric)
{
  const struct sp_csr a = {m, m, count, d, NULL, offsets, ends, columns};
  struct sp_pattern p, turned;
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!symmetric) return SOLVER_INVALID_VALUE;
  const solver_status status = sp_pattern_read(&p, &a, __func__);
  if (status) return status;
  int *seen = sp_room(m, sizeof *seen);
  bool same = true;
  const bool good = seen && sp_pattern_turn(&turned, &p, NULL);
  for (int i = 0; good && same && i < m;
       i++) { /* each row is among the turned one's, and each turned one among the rows */
    for (int k = p.offsets[i]; k < p.offsets[i + 1]; k++) seen[p.columns[k]] = i + 1;
    for (int k = turned.offsets[i]; k < turned.offsets[i + 1]; k++) same = same && seen[turned.columns[k]] == i + 1;
  }
  if (good) sp_pattern_free(&turned);
  sp_pattern_free(&p);
  free(seen);
  if (good) *symmetric = same;
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

static solver_status order_of(const struct sp_handle *h, enum sp_order how, const struct sp_csr *a, int *p,
                              const char *function)
{
  struct sp_pattern pattern;
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!p) return SOLVER_INVALID_VALUE;
  const solver_status status = sp_pattern_read(&pattern, a, function);
  if (status) return status;
  const bool good = sp_order_symmetric(how, &pattern, p);
  sp_pattern_free(&pattern);
  return good ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

#define ORDER(name, how)                                                                                               \
  PUBLIC solver_status cusolverSpXcsr##name##Host(const struct sp_handle *h, int n, int count,                         \
                                                  const struct description *d, const int *offsets, const int *columns, \
                                                  int *p)                                                              \
  {                                                                                                                    \
    const struct sp_csr a = {n, n, count, d, NULL, offsets, NULL, columns};                                            \
    return order_of(h, how, &a, p, __func__);                                                                          \
  }
ORDER(symrcm, SP_ORDER_RCM)
ORDER(symmdq, SP_ORDER_MD)
ORDER(symamd, SP_ORDER_AMD)

/* METIS's options are accepted and change nothing. */
PUBLIC solver_status cusolverSpXcsrmetisndHost(const struct sp_handle *h, int n, int count, const struct description *d,
                                               const int *offsets, const int *columns, const int64_t *options, int *p)
{
  const struct sp_csr a = {n, n, count, d, NULL, offsets, NULL, columns};
  (void)options;
  return order_of(h, SP_ORDER_ND, &a, p, __func__);
}

/* p: the columns' order with which as many elements as possible are on the diagonal: column p[i] has row i. What
 * is 0 is not an element. */
static solver_status zero_free(const struct sp_handle *h, int t, const struct sp_csr *a, int *p, int *number,
                               const char *function)
{
  struct sp_pattern pattern;
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!a->values || !p || !number) return SOLVER_INVALID_VALUE;
  const solver_status status = sp_pattern_read(&pattern, a, function);
  if (status) return status;
  for (int i = 0, k = 0, kept = 0; i < pattern.m; i++) {
    const int end = pattern.offsets[i + 1];
    for (; k < end; k++)
      if (sp_get(t, a->values, k) != 0) pattern.columns[kept++] = pattern.columns[k];
    pattern.offsets[i + 1] = kept;
  }
  int *row_of = sp_room(pattern.n, sizeof *row_of);
  const int found = row_of ? sp_match(&pattern, row_of) : -1;
  for (int i = 0; found >= 0 && i < pattern.n; i++) p[i] = -1;
  for (int j = 0; found >= 0 && j < pattern.n; j++)
    if (row_of[j] >= 0) p[row_of[j]] = j;
  for (int i = 0, j = 0; found >= 0 && i < pattern.n; i++) {
    if (p[i] >= 0) continue;
    while (row_of[j] >= 0) j++;
    p[i] = j++;
  }
  free(row_of);
  sp_pattern_free(&pattern);
  if (found >= 0) *number = found;
  return found >= 0 ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

#define ZERO_FREE(l, T, t)                                                                                             \
  PUBLIC solver_status cusolverSp##l##csrzfdHost(const struct sp_handle *h, int n, int count,                          \
                                                 const struct description *d, const T *values, const int *offsets,     \
                                                 const int *columns, int *p, int *number)                              \
  {                                                                                                                    \
    const struct sp_csr a = {n, n, count, d, values, offsets, NULL, columns};                                          \
    return zero_free(h, t, &a, p, number, __func__);                                                                   \
  }
ZERO_FREE(S, float, SOLVER_S)
ZERO_FREE(D, double, SOLVER_D)
ZERO_FREE(C, struct complex_f32, SOLVER_C)
ZERO_FREE(Z, struct complex_f64, SOLVER_Z)

bool sp_invert(const int *p, int n, int *back)
{
  for (int i = 0; i < n; i++) back[i] = -1;
  for (int i = 0; i < n; i++) {
    if (p[i] < 0 || p[i] >= n || back[p[i]] >= 0) return false;
    back[p[i]] = i;
  }
  return true;
}

struct moved {
  int column, from;
};
static int by_column(const void *a, const void *b)
{
  const struct moved *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return (x->from > y->from) - (x->from < y->from);
}

/* Rows p and columns q of A become A, columns ascending; `map` is permuted like the elements. */
static void permute(const struct sp_pattern *a, const int *p, const int *back, int base, int *offsets, int *columns,
                    int *map, struct moved *places, int *old_map)
{
  memcpy(old_map, map, (size_t)a->offsets[a->m] * sizeof *map);
  int used = 0;
  offsets[0] = base;
  for (int i = 0; i < a->m; i++) {
    const int first = used;
    for (int k = a->offsets[p[i]]; k < a->offsets[p[i] + 1]; k++)
      places[used++] = (struct moved){back[a->columns[k]], k};
    qsort(places + first, (size_t)(used - first), sizeof *places, by_column);
    offsets[i + 1] = used + base;
  }
  for (int k = 0; k < used; k++) columns[k] = places[k].column + base, map[k] = old_map[places[k].from];
}

PUBLIC solver_status cusolverSpXcsrperm_bufferSizeHost(const struct sp_handle *h, int m, int n, int count,
                                                       const struct description *d, const int *offsets,
                                                       const int *columns, const int *p, const int *q, size_t *bytes)
{
  enum { ROOM = 256 }; /* none is needed, but programs allocate what they are told */
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (m <= 0 || n <= 0 || count <= 0 || !d || !offsets || !columns || !p || !q || !bytes) return SOLVER_INVALID_VALUE;
  *bytes = ROOM;
  return SOLVER_SUCCESS;
}

PUBLIC solver_status cusolverSpXcsrpermHost(const struct sp_handle *h, int m, int n, int count,
                                            const struct description *d, int *offsets, int *columns, const int *p,
                                            const int *q, int *map, void *room)
{
  const struct sp_csr a = {m, n, count, d, NULL, offsets, NULL, columns};
  struct sp_pattern pattern;
  (void)room;
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!p || !q || !map) return SOLVER_INVALID_VALUE;
  solver_status status = sp_pattern_read(&pattern, &a, __func__);
  if (status) return status;
  int *rows = sp_room(m, sizeof *rows), *back = sp_room(n, sizeof *back), *old = sp_room(count, sizeof *old);
  struct moved *places = sp_room(count, sizeof *places);
  status = rows && back && old && places ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  if (!status && (!sp_invert(p, m, rows) || !sp_invert(q, n, back))) status = SOLVER_INVALID_VALUE;
  if (!status) permute(&pattern, p, back, cusparseGetMatIndexBase(d), offsets, columns, map, places, old);
  free(rows);
  free(back);
  free(old);
  free(places);
  sp_pattern_free(&pattern);
  return status;
}
