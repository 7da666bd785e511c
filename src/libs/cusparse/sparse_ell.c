/* Products and conversions of libcusparse with matrices whose elements have their places by a rule: blocked and sliced
 * ELL, rows of blocks (BSR). What products may ask for has been checked (sparse_product.c). */
#include "libs/cusparse/sparse_product.h"

enum { KERNELS_PER_TYPE = KERNEL_dsparse_ell_rows - KERNEL_ssparse_ell_rows };

static enum lib_kernel of_type(enum lib_kernel of_s, int kind)
{
  return (enum lib_kernel)((int)of_s + kind * KERNELS_PER_TYPE);
}

static bool launch(struct sparse_handle *h, enum lib_kernel k, int64_t threads, const struct ws_sparse_ell *g)
{
  return kernel_set_launch(&h->kernels, k, sparse_shape(threads), h->stream, g);
}

static const void *moved(const void *p, int64_t numbers, bool wide)
{
  return (const char *)p + numbers * (wide ? 8 : 4);
}

/* Matrix i of a batch. */
static struct ws_sparse_ell seen(const struct sparse_matrix *m, int64_t i)
{
  struct ws_sparse_ell g = {.block_rows = (uint32_t)m->block_rows, .block_cols = (uint32_t)m->block_cols,
                            .width = (uint32_t)m->width, .by_columns = m->order == SPARSE_ORDER_COL};
  struct ws_sparse a = {.rows = m->rows, .cols = m->cols, .count = m->count, .base = m->base,
                        .wide_offsets = m->offset_type == SPARSE_INDEX_64,
                        .wide_indices = m->index_type == SPARSE_INDEX_64};
  if (m->format != FORMAT_BLOCKED_ELL) a.offsets = moved(m->offsets, i * m->offsets_stride, a.wide_offsets);
  a.column = moved(m->indices, i * m->indices_stride, a.wide_indices);
  a.values = (const char *)m->values + i * m->stride * sparse_value_bytes(m->value_type);
  g.format = m->format == FORMAT_BSR          ? WS_BSR
             : m->format == FORMAT_SLICED_ELL ? WS_SLICED_ELL
                                              : WS_BLOCKED_ELL;
  g.product.a = a;
  return g;
}

/* Of values of 16 bits only rows are summed, in FP32. */
static bool multiply(struct sparse_handle *h, const struct ws_sparse_ell *g, int type)
{
  const struct ws_sparse_product *p = &g->product;
  const int kind = sparse_kind(type);
  if (kind < 0)
    return launch(h, type == VALUE_R_16F ? KERNEL_hsparse_ell_rows : KERNEL_bsparse_ell_rows, p->m * p->n, g);
  if (!p->transposed) return launch(h, of_type(KERNEL_ssparse_ell_rows, kind), p->m * p->n, g);
  const int per_type = KERNEL_dsparse_scale - KERNEL_ssparse_scale;
  const enum lib_kernel scale = (enum lib_kernel)((int)KERNEL_ssparse_scale + kind * per_type);
  return kernel_set_launch(&h->kernels, scale, sparse_shape(p->m * p->n), h->stream, p) &&
         (p->a.rows == 0 || launch(h, of_type(KERNEL_ssparse_ell_scatter, kind), p->a.rows * p->n, g));
}

sparse_status sparse_ell_multiply(struct sparse_handle *h, const struct sparse_asked *p, const char *function)
{
  const int type = p->a->value_type, scalars = sparse_kind(p->compute);
  const bool transposed = p->op_a != SPARSE_OP_N;
  if (transposed && sparse_kind(type) < 0) return sparse_refuse(function, "transposed blocks of 16 bits");
  for (int i = 0; i < p->c->batch && p->c->rows && p->c->cols; i++) {
    struct ws_sparse_ell g = seen(p->a, p->a->batch > 1 ? i : 0);
    struct ws_sparse_product *r = &g.product;
    r->m = p->c->rows, r->n = p->c->cols;
    r->transposed = transposed, r->conj = p->op_a == SPARSE_OP_C, r->conj_b = p->op_b == SPARSE_OP_C;
    r->c_type = sparse_result_type(p->c->value_type);
    sparse_strides(p->b, p->op_b != SPARSE_OP_N, &r->b_row, &r->b_column);
    sparse_strides(p->c, false, &r->c_row, &r->c_column);
    r->alpha = sparse_scalar(h, p->alpha, scalars), r->beta = sparse_scalar(h, p->beta, scalars);
    r->b = sparse_dense_of_batch(p->b, i), r->c = sparse_dense_of_batch(p->c, i);
    if (!multiply(h, &g, type)) return SPARSE_EXECUTION_FAILED;
  }
  return SPARSE_SUCCESS;
}

sparse_status sparse_ell_sample(struct sparse_handle *h, const struct sparse_asked *p, const struct dense_matrix *left,
                                const struct dense_matrix *right, const struct sparse_matrix *c)
{
  const int kind = sparse_kind(c->value_type);
  for (int i = 0; i < c->batch && c->count; i++) {
    struct ws_sparse_ell g = seen(c, i);
    struct ws_sparse_product *r = &g.product;
    r->n = p->op_a ? left->rows : left->cols;
    sparse_strides(left, p->op_a != SPARSE_OP_N, &r->b_row, &r->b_column);
    sparse_strides(right, p->op_b != SPARSE_OP_N, &r->c_row, &r->c_column);
    r->conj_b = p->op_a == SPARSE_OP_C, r->conj = p->op_b == SPARSE_OP_C;
    r->alpha = sparse_scalar(h, p->alpha, kind), r->beta = sparse_scalar(h, p->beta, kind);
    r->b = sparse_dense_of_batch(left, i), r->c = sparse_dense_of_batch(right, i);
    if (!launch(h, of_type(KERNEL_ssparse_ell_sampled, kind), c->rows * 32, &g)) return SPARSE_EXECUTION_FAILED;
  }
  return SPARSE_SUCCESS;
}

sparse_status sparse_ell_copy(struct sparse_handle *h, const struct sparse_matrix *a, const struct dense_matrix *dense,
                              bool to_sparse, const char *function)
{
  const int kind = sparse_kind(a->value_type);
  if (kind < 0 || a->value_type != dense->value_type) return sparse_refuse(function, "values of these types");
  struct ws_sparse_ell g = seen(a, 0);
  g.product.m = a->rows, g.product.n = a->cols, g.product.c = dense->values, g.product.conj = to_sparse;
  sparse_strides(dense, false, &g.product.c_row, &g.product.c_column);
  if (!a->rows || !a->cols) return SPARSE_SUCCESS;
  const int per_type = KERNEL_dsparse_scale - KERNEL_ssparse_scale;
  const enum lib_kernel scale = (enum lib_kernel)((int)KERNEL_ssparse_scale + kind * per_type);
  const bool ok = (to_sparse || kernel_set_launch(&h->kernels, scale, sparse_shape(a->rows * a->cols), h->stream,
                                                  &g.product)) &&
                  launch(h, of_type(KERNEL_ssparse_ell_copy, kind), a->rows, &g);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}
