/* Sums of two sparse matrices (csrgeam2) of libcusparse. */
#include "libs/cusparse/sparse_product.h"

struct rows {
  const struct description *d;
  int count;
  const void *values;
  const int *offsets, *columns;
};

static struct ws_sparse seen(const struct rows *r, int m, int n)
{
  return (struct ws_sparse){.rows = m, .cols = n, .count = r->count, .offsets = r->offsets, .column = r->columns,
                            .values = r->values, .base = cusparseGetMatIndexBase(r->d)};
}

static bool is_matrix(const struct rows *r, int m)
{
  return r->d && r->count >= 0 && (m == 0 || r->offsets) && (r->count == 0 || r->columns);
}

static sparse_status check(const struct sparse_handle *h, int m, int n, const struct rows *a, const struct rows *b)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  return m < 0 || n < 0 || !is_matrix(a, m) || !is_matrix(b, m) ? SPARSE_INVALID_VALUE : SPARSE_SUCCESS;
}

/* What the rows of C have, then where they begin. */
static sparse_status count(struct sparse_handle *h, int m, int n, const struct rows *a, const struct rows *b,
                           const struct description *d, int *offsets, int *total)
{
  const struct ws_sparse_sum s = {.a = seen(a, m, n), .b = seen(b, m, n), .c_offsets = offsets};
  const struct ws_sparse_scan sums = {.n = m, .list = offsets, .base = cusparseGetMatIndexBase(d)};
  int last;
  const sparse_status status = check(h, m, n, a, b);
  if (status) return status;
  if (!d || !offsets) return SPARSE_INVALID_VALUE;
  const bool ok = (m == 0 || kernel_set_launch(&h->kernels, KERNEL_sparse_sum_count, sparse_shape(m), h->stream, &s)) &&
                  sparse_scan(h, &sums) && sparse_fetch(h, &last, offsets + m, sizeof last);
  return ok && (!total || sparse_say_number(h, last - sums.base, total)) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

PUBLIC sparse_status cusparseXcsrgeam2Nnz(struct sparse_handle *h, int m, int n, const struct description *da, int na,
                                          const int *a_offsets, const int *a_columns, const struct description *db,
                                          int nb, const int *b_offsets, const int *b_columns,
                                          const struct description *dc, int *c_offsets, int *total, void *room)
{
  const struct rows a = {da, na, NULL, a_offsets, a_columns}, b = {db, nb, NULL, b_offsets, b_columns};
  (void)room;
  return count(h, m, n, &a, &b, dc, c_offsets, total);
}

static sparse_status add(struct sparse_handle *h, int kind, struct ws_sparse_sum *s, const void *alpha,
                         const void *beta)
{
  if (!alpha || !beta || !s->c_offsets) return SPARSE_INVALID_VALUE;
  if ((s->a.count && !s->a.values) || (s->b.count && !s->b.values)) return SPARSE_INVALID_VALUE;
  if ((s->a.count || s->b.count) && (!s->c_columns || !s->c_values)) return SPARSE_INVALID_VALUE;
  s->alpha = sparse_scalar(h, alpha, kind);
  s->beta = sparse_scalar(h, beta, kind);
  const enum lib_kernel k = (enum lib_kernel)((int)KERNEL_ssparse_sum + kind);
  const bool ok = s->a.rows == 0 || kernel_set_launch(&h->kernels, k, sparse_shape(s->a.rows), h->stream, s);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

#define SUM_ARGUMENTS                                                                                             \
  struct sparse_handle *h, int m, int n, const void *alpha, const struct description *da, int na,                \
    const void *a_values, const int *a_offsets, const int *a_columns, const void *beta,                          \
    const struct description *db, int nb, const void *b_values, const int *b_offsets, const int *b_columns,      \
    const struct description *dc, void *c_values, int *c_offsets, int *c_columns

#define SUM(letter, kind)                                                                                         \
  PUBLIC sparse_status cusparse##letter##csrgeam2_bufferSizeExt(SUM_ARGUMENTS, size_t *bytes)                     \
  {                                                                                                               \
    const struct rows a = {da, na, a_values, a_offsets, a_columns}, b = {db, nb, b_values, b_offsets, b_columns}; \
    (void)alpha, (void)beta, (void)dc, (void)c_values, (void)c_offsets, (void)c_columns;                          \
    const sparse_status status = check(h, m, n, &a, &b);                                                          \
    return status ? status : sparse_no_buffer(h, bytes);                                                          \
  }                                                                                                               \
  PUBLIC sparse_status cusparse##letter##csrgeam2(SUM_ARGUMENTS, void *room)                                      \
  {                                                                                                               \
    const struct rows a = {da, na, a_values, a_offsets, a_columns}, b = {db, nb, b_values, b_offsets, b_columns}; \
    struct ws_sparse_sum s = {.a = seen(&a, m, n), .b = seen(&b, m, n), .c_offsets = c_offsets,                   \
                              .c_columns = c_columns, .c_values = c_values,                                       \
                              .c_base = cusparseGetMatIndexBase(dc)};                                             \
    (void)room;                                                                                                   \
    const sparse_status status = check(h, m, n, &a, &b);                                                          \
    return status ? status : !dc ? SPARSE_INVALID_VALUE : add(h, kind, &s, alpha, beta);                          \
  }
SUM(S, 0)
SUM(D, 1)
SUM(C, 2)
SUM(Z, 3)
