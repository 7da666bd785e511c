/* Products and conversions of libcusparse. */
#include <stdlib.h>

#include "libs/cusparse/sparse_product.h"

enum { KERNELS_PER_TYPE = KERNEL_dsparse_vector - KERNEL_ssparse_vector };

static enum lib_kernel of_type(enum lib_kernel of_s, int kind)
{
  return (enum lib_kernel)((int)of_s + kind * KERNELS_PER_TYPE);
}

sparse_status sparse_plan_create(struct sparse_plan **out, size_t bytes, uint64_t magic)
{
  if (!out) return SPARSE_INVALID_VALUE;
  *out = calloc(1, bytes);
  if (!*out) return SPARSE_ALLOC_FAILED;
  (*out)->magic = magic;
  return SPARSE_SUCCESS;
}

sparse_status sparse_plan_destroy(struct sparse_plan *p, uint64_t magic)
{
  if (p && p->magic != magic) return SPARSE_INVALID_VALUE;
  if (p) p->magic = 0;
  free(p);
  return SPARSE_SUCCESS;
}

struct launch_shape sparse_shape(int64_t threads)
{
  enum { MOST_CTAS = 4096 };
  const int64_t ctas = (threads + 255) / 256;
  return (struct launch_shape){(unsigned)(ctas < 1 ? 1 : ctas < MOST_CTAS ? ctas : MOST_CTAS), 1, 1, 256};
}

struct ws_scalar sparse_scalar(const struct sparse_handle *h, const void *p, int kind)
{
  if (h->pointer_mode == 1) return (struct ws_scalar){.device = p};
  switch (kind) {
  case 0: return (struct ws_scalar){.re = *(const float *)p};
  case 1: return (struct ws_scalar){.re = *(const double *)p};
  case 2: return (struct ws_scalar){.re = ((const float *)p)[0], .im = ((const float *)p)[1]};
  default: return (struct ws_scalar){.re = ((const double *)p)[0], .im = ((const double *)p)[1]};
  }
}

struct ws_sparse sparse_seen(const struct sparse_matrix *m, bool *turned)
{
  struct ws_sparse a = {.rows = m->rows, .cols = m->cols, .count = m->count, .column = m->indices,
                        .values = m->values, .base = m->base,
                        .wide_offsets = m->offset_type == SPARSE_INDEX_64,
                        .wide_indices = m->index_type == SPARSE_INDEX_64};
  *turned = m->format == FORMAT_CSC;
  if (m->format == FORMAT_COO) a.row = m->offsets;
  else a.offsets = m->offsets;
  if (*turned) a.rows = m->cols, a.cols = m->rows;
  return a;
}

static const void *moved(const void *p, int64_t bytes)
{
  return p ? (const char *)p + bytes : p;
}

/* Matrix i of a batch. */
static struct ws_sparse of_batch(const struct ws_sparse *first, const struct sparse_matrix *m, int64_t i)
{
  struct ws_sparse a = *first;
  const int64_t offset = a.wide_offsets ? 8 : 4, index = a.wide_indices ? 8 : 4;
  a.offsets = moved(a.offsets, i * m->offsets_stride * offset);
  a.row = moved(a.row, i * m->stride * index);
  a.column = moved(a.column, i * m->stride * index);
  a.values = moved(a.values, i * m->stride * sparse_value_bytes(m->value_type));
  return a;
}

void *sparse_dense_of_batch(const struct dense_matrix *m, int64_t i)
{
  return (char *)m->values + (m->batch > 1 ? i : 0) * m->stride * sparse_value_bytes(m->value_type);
}

static bool is_half(int type)
{
  return type == VALUE_R_16F || type == VALUE_R_16BF;
}

int sparse_result_type(int value_type)
{
  return value_type == VALUE_R_16F ? WS_F16 : value_type == VALUE_R_16BF ? WS_BF16 : WS_F32;
}

/* Of halves sums are FP32, and the result may be. */
static bool types_fit(const struct sparse_asked *p)
{
  const int type = p->a->value_type;
  if (p->b->value_type != type) return false;
  if (!is_half(type)) return sparse_kind(type) >= 0 && p->c->value_type == type && p->compute == type;
  return (p->c->value_type == type || p->c->value_type == VALUE_R_32F) && p->compute == VALUE_R_32F;
}

/* Each operand is one, or as many as there are results. */
static bool batches_fit(const struct sparse_asked *p)
{
  const int batch = p->c->batch;
  return (p->a->batch == batch || p->a->batch == 1) && (p->b->batch == batch || p->b->batch == 1);
}

static sparse_status check(const struct sparse_handle *h, const struct sparse_asked *p, const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!p->alpha || !p->beta || !sparse_matrix_is(p->a) || !dense_matrix_is(p->b) || !dense_matrix_is(p->c))
    return SPARSE_INVALID_VALUE;
  if ((unsigned)p->op_a >= SPARSE_OPS || (unsigned)p->op_b >= SPARSE_OPS) return SPARSE_INVALID_VALUE;
  if (!types_fit(p)) return sparse_refuse(function, "values of these types");
  const int64_t m = p->op_a ? p->a->cols : p->a->rows, k = p->op_a ? p->a->rows : p->a->cols;
  const int64_t rows = p->op_b ? p->b->cols : p->b->rows, n = p->op_b ? p->b->rows : p->b->cols;
  if (m != p->c->rows || n != p->c->cols || k != rows || !batches_fit(p)) return SPARSE_INVALID_VALUE;
  return SPARSE_SUCCESS;
}

void sparse_strides(const struct dense_matrix *m, bool transposed, int64_t *row, int64_t *column)
{
  const bool by_rows = (m->order == SPARSE_ORDER_ROW) != transposed;
  *row = by_rows ? m->ld : 1;
  *column = by_rows ? 1 : m->ld;
}

bool sparse_fetch(const struct sparse_handle *h, void *to, const void *from, size_t bytes)
{
  return cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, bytes, h->stream) == DRIVER_OK &&
         cuStreamSynchronize(h->stream) == DRIVER_OK;
}

bool sparse_say_number(const struct sparse_handle *h, int number, int *to)
{
  if (h->pointer_mode == 1) return cuMemcpyHtoD_v2((uint64_t)(uintptr_t)to, &number, sizeof number) == DRIVER_OK;
  *to = number;
  return true;
}

int sparse_value_bytes(int type)
{
  enum { R_16F = 2, R_8I = 3, C_16F = 6, R_16BF = 14, C_16BF = 15 };
  switch (type) {
  case R_8I: return 1;
  case R_16F:
  case R_16BF: return 2;
  case VALUE_R_32F:
  case C_16F:
  case C_16BF: return 4;
  case VALUE_R_64F:
  case VALUE_C_32F: return 8;
  case VALUE_C_64F: return 16;
  default: return 0;
  }
}

bool sparse_scan(struct sparse_handle *h, const struct ws_sparse_scan *s)
{
  const struct launch_shape one = {1, 1, 1, 256};
  return kernel_set_launch(&h->kernels, KERNEL_sparse_scan, one, h->stream, s);
}

bool sparse_scale(struct sparse_handle *h, const struct dense_matrix *y, const void *beta)
{
  const int kind = sparse_kind(y->value_type);
  const struct ws_sparse_product g = {.m = y->rows, .n = 1, .c_row = 1, .c = y->values,
                                      .beta = sparse_scalar(h, beta, kind)};
  const enum lib_kernel k = of_type(KERNEL_ssparse_scale, kind);
  return y->rows == 0 || kernel_set_launch(&h->kernels, k, sparse_shape(g.m), h->stream, &g);
}

/* C is scaled, and all products are added to it. */
static bool add_all(struct sparse_handle *h, const struct ws_sparse_product *g, enum lib_kernel scale,
                    enum lib_kernel scatter)
{
  return kernel_set_launch(&h->kernels, scale, sparse_shape(g->m * g->n), h->stream, g) &&
         kernel_set_launch(&h->kernels, scatter, sparse_shape(g->a.rows * 32), h->stream, g);
}

/* Values of 16 bits. Of a transposed matrix sums are added up in C where that is FP32, else in `buffer`. */
static bool launch_half(struct sparse_handle *h, const struct ws_sparse_product *g, int type, void *buffer)
{
  const int bf16 = type == VALUE_R_16BF ? KERNEL_bsparse_vector - KERNEL_hsparse_vector : 0;
  const enum lib_kernel rows = g->n == 1 ? KERNEL_hsparse_vector : KERNEL_hsparse_matrix;
  const enum lib_kernel scatter = (enum lib_kernel)((int)KERNEL_hsparse_scatter + bf16);
  if (!g->transposed)
    return kernel_set_launch(&h->kernels, (enum lib_kernel)((int)rows + bf16),
                             sparse_shape(g->m * ((g->n + 31) / 32) * 32), h->stream, g);
  if (g->c_type == WS_F32) return add_all(h, g, KERNEL_ssparse_scale, scatter);
  struct ws_sparse_product sums = *g, end = *g;
  sums.c = buffer, sums.c_row = g->n, sums.c_column = 1;
  sums.alpha = (struct ws_scalar){.re = 1}, sums.beta = (struct ws_scalar){.re = 0};
  end.b = buffer;
  return add_all(h, &sums, KERNEL_ssparse_scale, scatter) &&
         kernel_set_launch(&h->kernels, KERNEL_sparse_settle, sparse_shape(g->m * g->n), h->stream, &end);
}

/* Without a transposition each row of C is a sum. */
static bool launch(struct sparse_handle *h, const struct ws_sparse_product *g, int type, void *buffer)
{
  const int kind = sparse_kind(type);
  if (is_half(type)) return launch_half(h, g, type, buffer);
  if (g->transposed)
    return add_all(h, g, of_type(KERNEL_ssparse_scale, kind), of_type(KERNEL_ssparse_scatter, kind));
  const enum lib_kernel k = g->n == 1 ? KERNEL_ssparse_vector : KERNEL_ssparse_matrix;
  return kernel_set_launch(&h->kernels, of_type(k, kind), sparse_shape(g->m * ((g->n + 31) / 32) * 32), h->stream, g);
}

/* Bytes for sums of a transposed matrix of 16 bits, where C has no room for them. */
static size_t buffer_of(const struct sparse_asked *p)
{
  const bool transposed = (p->op_a != SPARSE_OP_N) != (p->a->format == FORMAT_CSC);
  if (!transposed || !is_half(p->c->value_type)) return 0;
  return (size_t)p->c->rows * (size_t)p->c->cols * sizeof(float);
}

static sparse_status buffer_size(const struct sparse_handle *h, const struct sparse_asked *p, size_t *bytes,
                                 const char *function)
{
  sparse_status s = check(h, p, function);
  if (!s) s = sparse_no_buffer(h, bytes);
  if (!s && buffer_of(p) > *bytes) *bytes = buffer_of(p);
  return s;
}

static sparse_status multiply(struct sparse_handle *h, const struct sparse_asked *p, void *buffer, const char *function)
{
  const sparse_status s = check(h, p, function);
  if (s) return s;
  if (!sparse_matrix_lists(p->a)) return sparse_ell_multiply(h, p, function);
  if (buffer_of(p) && !buffer) return SPARSE_INVALID_VALUE;
  const int type = p->a->value_type, scalars = sparse_kind(p->compute);
  bool turned;
  const struct ws_sparse a = sparse_seen(p->a, &turned);
  struct ws_sparse_product g = {.m = p->c->rows, .n = p->c->cols};
  g.transposed = (p->op_a != SPARSE_OP_N) != turned;
  g.conj = p->op_a == SPARSE_OP_C;
  g.conj_b = p->op_b == SPARSE_OP_C;
  g.c_type = sparse_result_type(p->c->value_type);
  if (g.conj && !g.transposed && sparse_kind(type) > 1)
    return sparse_refuse(function, "the conjugate of compressed columns");
  sparse_strides(p->b, p->op_b != SPARSE_OP_N, &g.b_row, &g.b_column);
  sparse_strides(p->c, false, &g.c_row, &g.c_column);
  g.alpha = sparse_scalar(h, p->alpha, scalars);
  g.beta = sparse_scalar(h, p->beta, scalars);
  for (int i = 0; i < p->c->batch && g.m && g.n; i++) {
    g.a = of_batch(&a, p->a, p->a->batch > 1 ? i : 0);
    g.b = sparse_dense_of_batch(p->b, i);
    g.c = sparse_dense_of_batch(p->c, i);
    if (!launch(h, &g, type, buffer)) return SPARSE_EXECUTION_FAILED;
  }
  return SPARSE_SUCCESS;
}

/* Of op(A) op(B) what C has a place for. Of compressed columns the transposed product, whose operands change places. */
static sparse_status sample(struct sparse_handle *h, const struct sparse_asked *p, const struct dense_matrix *left,
                            const struct dense_matrix *right, const struct sparse_matrix *c)
{
  const int kind = sparse_kind(c->value_type);
  bool turned;
  const struct ws_sparse first = sparse_seen(c, &turned);
  struct ws_sparse_product g = {.n = p->op_a ? left->rows : left->cols};
  int64_t row[2], column[2];
  sparse_strides(left, p->op_a != SPARSE_OP_N, &row[0], &column[0]);
  sparse_strides(right, p->op_b != SPARSE_OP_N, &row[1], &column[1]);
  g.b_row = turned ? column[1] : row[0];
  g.b_column = turned ? row[1] : column[0];
  g.c_row = turned ? column[0] : row[1];
  g.c_column = turned ? row[0] : column[1];
  g.conj_b = (turned ? p->op_b : p->op_a) == SPARSE_OP_C;
  g.conj = (turned ? p->op_a : p->op_b) == SPARSE_OP_C;
  g.alpha = sparse_scalar(h, p->alpha, kind);
  g.beta = sparse_scalar(h, p->beta, kind);
  const enum lib_kernel k = of_type(KERNEL_ssparse_sampled, kind);
  const struct launch_shape shape = sparse_shape(first.rows * 32);
  for (int i = 0; i < c->batch && first.rows && c->count; i++) {
    g.a = of_batch(&first, c, i);
    g.b = sparse_dense_of_batch(turned ? right : left, i);
    g.c = sparse_dense_of_batch(turned ? left : right, i);
    if (!kernel_set_launch(&h->kernels, k, shape, h->stream, &g)) return SPARSE_EXECUTION_FAILED;
  }
  return SPARSE_SUCCESS;
}

static sparse_status check_sample(const struct sparse_handle *h, const struct sparse_asked *p,
                                  const struct dense_matrix *a, const struct dense_matrix *b,
                                  const struct sparse_matrix *c, const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!p->alpha || !p->beta || !dense_matrix_is(a) || !dense_matrix_is(b) || !sparse_matrix_is(c))
    return SPARSE_INVALID_VALUE;
  if ((unsigned)p->op_a >= SPARSE_OPS || (unsigned)p->op_b >= SPARSE_OPS) return SPARSE_INVALID_VALUE;
  const int type = c->value_type;
  if (!sparse_matrix_lists(c) && c->format != FORMAT_BSR) return sparse_refuse(function, "results in ELL");
  if (sparse_kind(type) < 0 || a->value_type != type || b->value_type != type || p->compute != type)
    return sparse_refuse(function, "values of these types");
  if ((a->batch != c->batch && a->batch != 1) || (b->batch != c->batch && b->batch != 1)) return SPARSE_INVALID_VALUE;
  const int64_t m = p->op_a ? a->cols : a->rows, k = p->op_a ? a->rows : a->cols;
  const int64_t rows = p->op_b ? b->cols : b->rows, n = p->op_b ? b->rows : b->cols;
  return m == c->rows && n == c->cols && k == rows ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

sparse_status sparse_no_buffer(const struct sparse_handle *h, size_t *bytes)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!bytes) return SPARSE_INVALID_VALUE;
  *bytes = 8;
  return SPARSE_SUCCESS;
}

#define VECTOR_ARGUMENTS                                                                                    \
  struct sparse_handle *h, int op, const void *alpha, const struct sparse_matrix *a, const struct dense_matrix *x, \
    const void *beta, const struct dense_matrix *y, int compute, int algorithm
#define MATRIX_ARGUMENTS                                                                                      \
  struct sparse_handle *h, int op_a, int op_b, const void *alpha, const struct sparse_matrix *a,              \
    const struct dense_matrix *b, const void *beta, const struct dense_matrix *c, int compute, int algorithm

PUBLIC sparse_status cusparseSpMV(VECTOR_ARGUMENTS, void *buffer)
{
  (void)algorithm;
  const struct sparse_asked p = {op, SPARSE_OP_N, compute, alpha, beta, a, x, y};
  return multiply(h, &p, buffer, __func__);
}
PUBLIC sparse_status cusparseSpMV_preprocess(VECTOR_ARGUMENTS, void *buffer)
{
  (void)algorithm, (void)buffer;
  const struct sparse_asked p = {op, SPARSE_OP_N, compute, alpha, beta, a, x, y};
  return check(h, &p, __func__);
}
PUBLIC sparse_status cusparseSpMV_bufferSize(VECTOR_ARGUMENTS, size_t *bytes)
{
  (void)algorithm;
  const struct sparse_asked p = {op, SPARSE_OP_N, compute, alpha, beta, a, x, y};
  return buffer_size(h, &p, bytes, __func__);
}
PUBLIC sparse_status cusparseSpMM(MATRIX_ARGUMENTS, void *buffer)
{
  (void)algorithm;
  const struct sparse_asked p = {op_a, op_b, compute, alpha, beta, a, b, c};
  return multiply(h, &p, buffer, __func__);
}
PUBLIC sparse_status cusparseSpMM_preprocess(MATRIX_ARGUMENTS, void *buffer)
{
  (void)algorithm, (void)buffer;
  const struct sparse_asked p = {op_a, op_b, compute, alpha, beta, a, b, c};
  return check(h, &p, __func__);
}
PUBLIC sparse_status cusparseSpMM_bufferSize(MATRIX_ARGUMENTS, size_t *bytes)
{
  (void)algorithm;
  const struct sparse_asked p = {op_a, op_b, compute, alpha, beta, a, b, c};
  return buffer_size(h, &p, bytes, __func__);
}

#define SAMPLE_ARGUMENTS                                                                                      \
  struct sparse_handle *h, int op_a, int op_b, const void *alpha, const struct dense_matrix *a,               \
    const struct dense_matrix *b, const void *beta, const struct sparse_matrix *c, int compute, int algorithm

PUBLIC sparse_status cusparseSDDMM(SAMPLE_ARGUMENTS, void *buffer)
{
  (void)algorithm, (void)buffer;
  const struct sparse_asked p = {.op_a = op_a, .op_b = op_b, .compute = compute, .alpha = alpha, .beta = beta};
  const sparse_status s = check_sample(h, &p, a, b, c, __func__);
  if (s) return s;
  return sparse_matrix_lists(c) ? sample(h, &p, a, b, c) : sparse_ell_sample(h, &p, a, b, c);
}
PUBLIC sparse_status cusparseSDDMM_preprocess(SAMPLE_ARGUMENTS, void *buffer)
{
  (void)algorithm, (void)buffer;
  const struct sparse_asked p = {.op_a = op_a, .op_b = op_b, .compute = compute, .alpha = alpha, .beta = beta};
  return check_sample(h, &p, a, b, c, __func__);
}
PUBLIC sparse_status cusparseSDDMM_bufferSize(SAMPLE_ARGUMENTS, size_t *bytes)
{
  (void)algorithm;
  const struct sparse_asked p = {.op_a = op_a, .op_b = op_b, .compute = compute, .alpha = alpha, .beta = beta};
  const sparse_status s = check_sample(h, &p, a, b, c, __func__);
  return s ? s : sparse_no_buffer(h, bytes);
}

static sparse_status convert(struct sparse_handle *h, enum lib_kernel k, int64_t threads,
                             const struct ws_sparse_convert *c)
{
  const struct launch_shape shape = sparse_shape(threads);
  return kernel_set_launch(&h->kernels, k, shape, h->stream, c) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

PUBLIC sparse_status cusparseXcoo2csr(struct sparse_handle *h, const int *row, int nnz, int m, int *offsets, int base)
{
  const struct ws_sparse_convert c = {.a = {.rows = m, .count = nnz, .row = row, .base = base}, .to = offsets};
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (m < 0 || nnz < 0 || (base != 0 && base != 1) || !offsets) return SPARSE_INVALID_VALUE;
  return convert(h, KERNEL_sparse_offsets, c.a.rows + 1, &c);
}
PUBLIC sparse_status cusparseXcsr2coo(struct sparse_handle *h, const int *offsets, int nnz, int m, int *row, int base)
{
  const struct ws_sparse_convert c = {.a = {.rows = m, .count = nnz, .offsets = offsets, .base = base}, .to = row};
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (m < 0 || nnz < 0 || (base != 0 && base != 1) || !offsets) return SPARSE_INVALID_VALUE;
  return m ? convert(h, KERNEL_sparse_row_numbers, c.a.rows + 1, &c) : SPARSE_SUCCESS;
}

PUBLIC sparse_status cusparseSparseToDense_bufferSize(struct sparse_handle *h, const struct sparse_matrix *a,
                                                      const struct dense_matrix *b, int algorithm, size_t *bytes)
{
  (void)algorithm;
  return sparse_matrix_is(a) && dense_matrix_is(b) ? sparse_no_buffer(h, bytes) : SPARSE_INVALID_VALUE;
}
PUBLIC sparse_status cusparseSparseToDense(struct sparse_handle *h, const struct sparse_matrix *a,
                                           const struct dense_matrix *b, int algorithm, void *buffer)
{
  (void)algorithm, (void)buffer;
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!sparse_matrix_is(a) || !dense_matrix_is(b) || a->rows != b->rows || a->cols != b->cols)
    return SPARSE_INVALID_VALUE;
  if (a->batch > 1 || b->batch > 1) return sparse_refuse(__func__, "batches");
  if (!sparse_matrix_lists(a)) return sparse_ell_copy(h, a, b, false, __func__);
  const int kind = sparse_kind(a->value_type);
  if (kind < 0 || a->value_type != b->value_type) return sparse_refuse(__func__, "values of these types");
  if (!b->rows || !b->cols) return SPARSE_SUCCESS;
  bool turned;
  struct ws_sparse_convert c = {.a = sparse_seen(a, &turned), .to = b->values};
  struct ws_sparse_product clear = {.m = b->rows, .n = b->cols, .c = b->values};
  sparse_strides(b, false, &clear.c_row, &clear.c_column);
  sparse_strides(b, turned, &c.to_row, &c.to_column);
  if (!kernel_set_launch(&h->kernels, of_type(KERNEL_ssparse_scale, kind), sparse_shape(b->rows * b->cols), h->stream,
                         &clear))
    return SPARSE_EXECUTION_FAILED;
  return convert(h, of_type(KERNEL_ssparse_to_dense, kind), c.a.row ? a->count : c.a.rows + 1, &c);
}
