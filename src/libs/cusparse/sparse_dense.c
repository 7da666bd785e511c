/* Sparse matrices of dense ones (DenseToSparse) of libcusparse: analysis counts, so that programs can allocate, and
 * convert fills. Where lines begin is kept in the buffer in between. */
#include <stdlib.h>

#include "libs/cusparse/sparse_product.h"

static sparse_status check(const struct sparse_handle *h, const struct dense_matrix *from,
                           const struct sparse_matrix *to, const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!dense_matrix_is(from) || !sparse_matrix_is(to) || from->rows != to->rows || from->cols != to->cols)
    return SPARSE_INVALID_VALUE;
  if (sparse_kind(from->value_type) < 0 || from->value_type != to->value_type)
    return sparse_refuse(function, "values of these types");
  if (!sparse_matrix_lists(to) && to->format != FORMAT_BLOCKED_ELL)
    return sparse_refuse(function, "results in blocks or slices but blocked ELL");
  return from->batch == 1 ? SPARSE_SUCCESS : sparse_refuse(function, "batches of dense matrices");
}

static struct ws_sparse_dense seen(const struct dense_matrix *from, const struct sparse_matrix *to, void *buffer)
{
  const bool by_columns = to->format == FORMAT_CSC;
  struct ws_sparse_dense d = {.lines = by_columns ? to->cols : to->rows, .length = by_columns ? to->rows : to->cols,
                              .from = from->values, .first = buffer, .minor = to->indices, .values = to->values,
                              .wide_offsets = to->offset_type == SPARSE_INDEX_64,
                              .wide_indices = to->index_type == SPARSE_INDEX_64, .base = to->base};
  sparse_strides(from, by_columns, &d.line_step, &d.step);
  if (to->format == FORMAT_COO) d.major = to->offsets;
  else d.offsets = to->offsets;
  return d;
}

static bool launch(struct sparse_handle *h, enum lib_kernel of_s, int type, const struct ws_sparse_dense *d)
{
  enum { KERNELS_PER_TYPE = KERNEL_dsparse_count - KERNEL_ssparse_count };
  const enum lib_kernel k = (enum lib_kernel)((int)of_s + sparse_kind(type) * KERNELS_PER_TYPE);
  return d->lines == 0 || kernel_set_launch(&h->kernels, k, sparse_shape(d->lines * 32), h->stream, d);
}

/* The compressed matrix's own offsets, where it has some. */
static bool put_offsets(struct sparse_handle *h, const struct ws_sparse_dense *d)
{
  return !d->offsets ||
         kernel_set_launch(&h->kernels, KERNEL_sparse_starts, sparse_shape(d->lines + 1), h->stream, d);
}

PUBLIC sparse_status cusparseDenseToSparse_bufferSize(struct sparse_handle *h, const struct dense_matrix *from,
                                                      const struct sparse_matrix *to, int algorithm, size_t *bytes)
{
  (void)algorithm;
  const sparse_status s = check(h, from, to, __func__);
  if (s) return s;
  if (!bytes) return SPARSE_INVALID_VALUE;
  *bytes = ((size_t)(to->format == FORMAT_CSC ? to->cols : to->rows) + 1) * sizeof(int64_t);
  return SPARSE_SUCCESS;
}

PUBLIC sparse_status cusparseDenseToSparse_analysis(struct sparse_handle *h, const struct dense_matrix *from,
                                                    struct sparse_matrix *to, int algorithm, void *buffer)
{
  (void)algorithm;
  const sparse_status s = check(h, from, to, __func__);
  if (s) return s;
  if (!buffer) return SPARSE_INVALID_VALUE;
  if (!sparse_matrix_lists(to)) return SPARSE_SUCCESS; /* its places are the program's */
  const struct ws_sparse_dense d = seen(from, to, buffer);
  const struct ws_sparse_scan sums = {.n = d.lines, .list = buffer, .wide = true};
  int64_t count;
  if (!launch(h, KERNEL_ssparse_count, from->value_type, &d) || !sparse_scan(h, &sums) || !put_offsets(h, &d) ||
      !sparse_fetch(h, &count, d.first + d.lines, sizeof count))
    return SPARSE_EXECUTION_FAILED;
  const bool narrow = to->index_type == SPARSE_INDEX_32 || to->offset_type == SPARSE_INDEX_32;
  if (narrow && count > INT32_MAX - to->base) return SPARSE_INVALID_VALUE;
  to->count = count;
  return SPARSE_SUCCESS;
}

/* Offsets again, for programs that give the matrix its arrays after the analysis. */
PUBLIC sparse_status cusparseDenseToSparse_convert(struct sparse_handle *h, const struct dense_matrix *from,
                                                   struct sparse_matrix *to, int algorithm, void *buffer)
{
  (void)algorithm;
  const sparse_status s = check(h, from, to, __func__);
  if (s) return s;
  if (!sparse_matrix_lists(to)) return sparse_ell_copy(h, to, from, true, __func__);
  const struct ws_sparse_dense d = seen(from, to, buffer);
  if (!buffer || (to->format != FORMAT_COO && !d.offsets)) return SPARSE_INVALID_VALUE;
  if (to->count && (!d.minor || !d.values || (to->format == FORMAT_COO && !d.major))) return SPARSE_INVALID_VALUE;
  const bool ok = put_offsets(h, &d) && launch(h, KERNEL_ssparse_place, from->value_type, &d);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

/* What is not zero in each row (direction 0) or column of a dense matrix by columns, and in all. */
static sparse_status count(struct sparse_handle *h, int type, int direction, const struct description *about,
                           const struct ws_sparse_dense *d, int *total)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!about || (unsigned)direction > 1 || d->lines < 0 || d->length < 0 || !d->counts || !total)
    return SPARSE_INVALID_VALUE;
  int *counts = calloc((size_t)d->lines + 1, sizeof *counts);
  if (!counts) return SPARSE_ALLOC_FAILED;
  bool ok = launch(h, KERNEL_ssparse_count, type, d) &&
            (!d->lines || sparse_fetch(h, counts, d->counts, (size_t)d->lines * sizeof *counts));
  int64_t sum = 0;
  for (int64_t i = 0; i < d->lines; i++) sum += counts[i];
  free(counts);
  if (ok && sum > INT32_MAX) return SPARSE_INVALID_VALUE;
  ok = ok && sparse_say_number(h, (int)sum, total);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

#define COUNT(l, type)                                                                                               \
  PUBLIC sparse_status cusparse##l##nnz(struct sparse_handle *h, int direction, int m, int n,                        \
                                        const struct description *about, const void *a, int lda, int *counts,        \
                                        int *total)                                                                  \
  {                                                                                                                  \
    const bool rows = direction == 0;                                                                                \
    const struct ws_sparse_dense d = {.lines = rows ? m : n, .length = rows ? n : m, .line_step = rows ? 1 : lda,     \
                                      .step = rows ? lda : 1, .from = a, .counts = counts};                          \
    return lda < (m > 1 ? m : 1) ? SPARSE_INVALID_VALUE : count(h, type, direction, about, &d, total);               \
  }
COUNT(S, VALUE_R_32F)
COUNT(D, VALUE_R_64F)
COUNT(C, VALUE_C_32F)
COUNT(Z, VALUE_C_64F)
