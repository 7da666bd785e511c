/* Handles of cusolverSp, and matrices that programs hand over. */
#include "libs/cusolver/sp_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x7761727073706c73)

bool sp_handle_is(const struct sp_handle *h)
{
  return h && h->magic == MAGIC;
}

PUBLIC solver_status cusolverSpCreate(struct sp_handle **out)
{
  if (!out) return SOLVER_INVALID_VALUE;
  struct sp_handle *h = calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return SOLVER_ALLOC_FAILED;
  const bool open = kernel_set_open(&h->kernels);
  if (!open || h->kernels.capability < 75) {
    free(h);
    return open ? SOLVER_ARCH_MISMATCH : SOLVER_NOT_INITIALIZED;
  }
  h->magic = MAGIC;
  *out = h;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverSpDestroy(struct sp_handle *h)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  cuStreamSynchronize(h->stream);
  if (h->dense) cusolverDnDestroy(h->dense);
  kernel_set_close(&h->kernels);
  h->magic = 0;
  free(h);
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverSpSetStream(struct sp_handle *h, driver_stream stream)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  h->stream = stream;
  return SOLVER_SUCCESS;
}
PUBLIC solver_status cusolverSpGetStream(const struct sp_handle *h, driver_stream *stream)
{
  if (!sp_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!stream) return SOLVER_INVALID_VALUE;
  *stream = h->stream;
  return SOLVER_SUCCESS;
}

size_t sp_bytes(int t)
{
  static const size_t bytes[] = {4, 8, 8, 16};
  return bytes[t];
}
sp_number sp_get(int t, const void *p, int64_t i)
{
  switch (t) {
  case SOLVER_S: return (double)((const float *)p)[i];
  case SOLVER_D: return ((const double *)p)[i];
  case SOLVER_C: return sp_complex(((const float *)p)[2 * i], ((const float *)p)[2 * i + 1]);
  default: return sp_complex(((const double *)p)[2 * i], ((const double *)p)[2 * i + 1]);
  }
}
void sp_put(int t, void *p, int64_t i, sp_number v)
{
  switch (t) {
  case SOLVER_S: ((float *)p)[i] = (float)creal(v); break;
  case SOLVER_D: ((double *)p)[i] = creal(v); break;
  case SOLVER_C: ((float *)p)[2 * i] = (float)creal(v), ((float *)p)[2 * i + 1] = (float)cimag(v); break;
  default: ((double *)p)[2 * i] = creal(v), ((double *)p)[2 * i + 1] = cimag(v);
  }
}

void *sp_room(int64_t n, size_t each)
{
  return (uint64_t)n >= SIZE_MAX / 2 / each ? NULL : calloc((size_t)n + 1, each);
}

bool sp_fetch(const struct sp_handle *h, void *to, const void *from, size_t bytes)
{
  return cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes, h->stream) == DRIVER_OK &&
         cuStreamSynchronize(h->stream) == DRIVER_OK;
}
uint64_t sp_upload(const struct sp_handle *h, const void *from, size_t bytes)
{
  uint64_t at = 0;
  (void)h;
  if (cuMemAlloc_v2(&at, bytes ? bytes : 1) != DRIVER_OK) return 0;
  if (bytes && cuMemcpyHtoD_v2(at, from, bytes) != DRIVER_OK) {
    cuMemFree_v2(at);
    return 0;
  }
  return at;
}

void sp_pattern_free(struct sp_pattern *p)
{
  free(p->offsets);
  free(p->columns);
  memset(p, 0, sizeof *p);
}

static solver_status said(const char *function, const char *what, int64_t row, int64_t number)
{
  fprintf(stderr,
          "warpstep: %s: row %lld %s %lld, which the matrix does not have: look at its offsets, columns and base\n",
          function, (long long)row, what, (long long)number);
  return SOLVER_INVALID_VALUE;
}

/* Rows lie in `count` places one after the other, or, with ends of their own, anywhere. */
static solver_status check_rows(const struct sp_csr *a, int base, const char *function)
{
  int64_t total = 0;
  for (int64_t i = 0; i < a->m; i++) {
    const int64_t from = (int64_t)a->offsets[i] - base, to = (int64_t)(a->ends ? a->ends[i] : a->offsets[i + 1]) - base;
    if (from < 0 || (!a->ends && from != total)) return said(function, "begins at place", i, from);
    if (to < from || to - from > a->count - total) return said(function, "ends at place", i, to);
    total += to - from;
  }
  return total == a->count ? SOLVER_SUCCESS : said(function, "ends at place", (int64_t)a->m - 1, total);
}

static solver_status check(const struct sp_csr *a)
{
  if (a->m <= 0 || a->n <= 0 || a->count <= 0 || !a->d || !a->offsets || !a->columns) return SOLVER_INVALID_VALUE;
  return cusparseGetMatType(a->d) ? SOLVER_MATRIX_TYPE_NOT_SUPPORTED : SOLVER_SUCCESS;
}

solver_status sp_pattern_read(struct sp_pattern *out, const struct sp_csr *a, const char *function)
{
  memset(out, 0, sizeof *out);
  solver_status status = check(a);
  if (status) return status;
  const int base = cusparseGetMatIndexBase(a->d);
  status = check_rows(a, base, function);
  if (status) return status;
  struct sp_pattern p = {a->m, a->n, sp_room(a->m + INT64_C(1), sizeof(int)), sp_room(a->count, sizeof(int))};
  if (!p.offsets || !p.columns) {
    sp_pattern_free(&p);
    return SOLVER_ALLOC_FAILED;
  }
  for (int i = 0; i < a->m; i++) {
    const int from = a->offsets[i] - base, to = (a->ends ? a->ends[i] : a->offsets[i + 1]) - base;
    p.offsets[i + 1] = p.offsets[i] + to - from;
    for (int k = from; k < to; k++) {
      const int64_t column = (int64_t)a->columns[k] - base;
      if (column < 0 || column >= a->n) {
        sp_pattern_free(&p);
        return said(function, "has column", i, column);
      }
      p.columns[p.offsets[i] + k - from] = (int)column;
    }
  }
  *out = p;
  return SOLVER_SUCCESS;
}

solver_status sp_pattern_fetch(struct sp_pattern *out, const struct sp_handle *h, const struct sp_csr *a,
                               const char *function)
{
  memset(out, 0, sizeof *out);
  solver_status status = check(a);
  if (status) return status;
  const size_t rows = ((size_t)a->m + 1) * sizeof(int), places = (size_t)a->count * sizeof(int);
  int *offsets = malloc(rows), *columns = malloc(places);
  struct sp_csr here = *a;
  here.offsets = offsets, here.columns = columns;
  status = offsets && columns ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
  if (!status && !(sp_fetch(h, offsets, a->offsets, rows) && sp_fetch(h, columns, a->columns, places)))
    status = SOLVER_EXECUTION_FAILED;
  if (!status) status = sp_pattern_read(out, &here, function);
  free(offsets);
  free(columns);
  return status;
}

bool sp_pattern_turn(struct sp_pattern *out, const struct sp_pattern *a, int **source)
{
  const int count = a->offsets[a->m];
  struct sp_pattern p = {a->n, a->m, sp_room(a->n + INT64_C(1), sizeof(int)), sp_room(count, sizeof(int))};
  int *from = sp_room(count, sizeof(int));
  const bool good = p.offsets && p.columns && from;
  for (int k = 0; good && k < count; k++) p.offsets[a->columns[k] + 1]++;
  for (int j = 0; good && j < p.m; j++) p.offsets[j + 1] += p.offsets[j];
  for (int i = 0; good && i < a->m; i++)
    for (int k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
      const int at = p.offsets[a->columns[k]]++;
      p.columns[at] = i, from[at] = k;
    }
  for (int j = p.m; good && j > 0; j--) p.offsets[j] = p.offsets[j - 1];
  if (good) p.offsets[0] = 0;
  if (good && source)
    *source = from;
  else
    free(from);
  if (!good) sp_pattern_free(&p);
  *out = p;
  return good;
}

sp_number *sp_values_read(int t, const struct sp_csr *a)
{
  sp_number *v = sp_room(a->count, sizeof *v);
  for (int64_t k = 0; v && k < a->count; k++) v[k] = sp_get(t, a->values, k);
  return v;
}
