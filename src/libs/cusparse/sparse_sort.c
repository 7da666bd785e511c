/* Sorting of libcusparse: coordinates by rows or columns, columns of compressed rows, rows of compressed columns. */
#include "libs/cusparse/sparse_product.h"

/* What is sorted: `major` and `minor` number of each element; with compressed lines their offsets in the place of
 * `major`. */
struct list {
  int n, lines, base;
  int *major, *minor, *numbers;
  const int *offsets;
};

static size_t room_for(int n) { return (size_t)n * 2 * (sizeof(uint64_t) + sizeof(int)); }

static sparse_status buffer(const struct sparse_handle *h, int m, int n, int nnz, size_t *bytes)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (m < 0 || n < 0 || nnz < 0 || !bytes) return SPARSE_INVALID_VALUE;
  *bytes = room_for(nnz ? nnz : 1);
  return SPARSE_SUCCESS;
}

static bool run(struct sparse_handle *h, enum lib_kernel k, const struct ws_sparse_sort *s)
{
  return kernel_set_launch(&h->kernels, k, sparse_shape(s->n), h->stream, s);
}

static sparse_status sort(struct sparse_handle *h, int m, int n, const struct list *l, void *room)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (m < 0 || n < 0 || l->n < 0) return SPARSE_INVALID_VALUE;
  if (l->n == 0) return SPARSE_SUCCESS;
  if (!l->minor || !room || (!l->major && (!l->offsets || l->lines == 0))) return SPARSE_INVALID_VALUE;
  struct ws_sparse_sort s = {.n = l->n, .lines = l->lines, .major = l->major, .minor = l->minor, .offsets = l->offsets,
                             .numbers = l->numbers, .base = l->base};
  s.key[0] = room;
  s.key[1] = s.key[0] + l->n;
  s.place[0] = (int *)(s.key[1] + l->n);
  s.place[1] = s.place[0] + l->n;
  bool ok = run(h, KERNEL_sparse_sort_keys, &s);
  for (s.run = 1; ok && s.run < s.n; s.run *= 2, s.from ^= 1) ok = run(h, KERNEL_sparse_sort_merge, &s);
  ok = ok && run(h, KERNEL_sparse_sort_end, &s) && (!s.numbers || run(h, KERNEL_sparse_sort_numbers, &s));
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

PUBLIC sparse_status cusparseCreateIdentityPermutation(struct sparse_handle *h, int n, int *p)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (n < 0 || (n && !p)) return SPARSE_INVALID_VALUE;
  const struct ws_sparse_sort s = {.n = n, .numbers = p};
  return n == 0 || run(h, KERNEL_sparse_sort_numbers, &s) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

PUBLIC sparse_status cusparseXcoosort_bufferSizeExt(const struct sparse_handle *h, int m, int n, int nnz,
                                                    const int *rows, const int *columns, size_t *bytes)
{
  (void)rows, (void)columns;
  return buffer(h, m, n, nnz, bytes);
}
PUBLIC sparse_status cusparseXcoosortByRow(struct sparse_handle *h, int m, int n, int nnz, int *rows, int *columns,
                                           int *p, void *room)
{
  if (nnz && !rows) return SPARSE_INVALID_VALUE;
  return sort(h, m, n, &(struct list){.n = nnz, .major = rows, .minor = columns, .numbers = p}, room);
}
PUBLIC sparse_status cusparseXcoosortByColumn(struct sparse_handle *h, int m, int n, int nnz, int *rows, int *columns,
                                              int *p, void *room)
{
  if (nnz && !columns) return SPARSE_INVALID_VALUE;
  return sort(h, m, n, &(struct list){.n = nnz, .major = columns, .minor = rows, .numbers = p}, room);
}

PUBLIC sparse_status cusparseXcsrsort_bufferSizeExt(const struct sparse_handle *h, int m, int n, int nnz,
                                                    const int *offsets, const int *columns, size_t *bytes)
{
  (void)offsets, (void)columns;
  return buffer(h, m, n, nnz, bytes);
}
PUBLIC sparse_status cusparseXcsrsort(struct sparse_handle *h, int m, int n, int nnz, const struct description *d,
                                      const int *offsets, int *columns, int *p, void *room)
{
  const struct list l = {.n = nnz, .lines = m, .base = cusparseGetMatIndexBase(d), .minor = columns, .numbers = p,
                         .offsets = offsets};
  return sort(h, m, n, &l, room);
}

PUBLIC sparse_status cusparseXcscsort_bufferSizeExt(const struct sparse_handle *h, int m, int n, int nnz,
                                                    const int *offsets, const int *rows, size_t *bytes)
{
  (void)offsets, (void)rows;
  return buffer(h, m, n, nnz, bytes);
}
PUBLIC sparse_status cusparseXcscsort(struct sparse_handle *h, int m, int n, int nnz, const struct description *d,
                                      const int *offsets, int *rows, int *p, void *room)
{
  const struct list l = {.n = nnz, .lines = n, .base = cusparseGetMatIndexBase(d), .minor = rows, .numbers = p,
                         .offsets = offsets};
  return sort(h, m, n, &l, room);
}
