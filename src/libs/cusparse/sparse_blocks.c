/* Products of libcusparse with matrices of square blocks (bsrmv, bsrmm). */
#include "libs/cusparse/sparse_product.h"

enum { DIRECTION_ROW, DIRECTION_COLUMN };

struct blocks_product {
  int direction, op_a, op_b, rows, n, cols, count, side; /* rows and cols: of blocks */
  const void *alpha, *beta, *values, *b;
  const struct description *about;
  const int *offsets, *columns;
  void *c;
  int64_t ldb, ldc; /* of vectors 0 */
};

static bool good(const struct blocks_product *p)
{
  return (unsigned)p->direction <= DIRECTION_COLUMN && (unsigned)p->op_a < SPARSE_OPS &&
         (unsigned)p->op_b < SPARSE_OPS && p->rows >= 0 && p->n >= 0 && p->cols >= 0 && p->count >= 0 &&
         p->side > 0 && p->alpha && p->beta && p->about;
}

static sparse_status multiply(struct sparse_handle *h, int kind, const struct blocks_product *p, const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!good(p)) return SPARSE_INVALID_VALUE;
  if (p->op_a != SPARSE_OP_N) return sparse_refuse(function, "transposed matrices of blocks (nor has cuSPARSE)");
  const struct ws_sparse a = {.rows = p->rows, .cols = p->cols, .count = p->count, .offsets = p->offsets,
                              .column = p->columns, .values = p->values, .base = cusparseGetMatIndexBase(p->about)};
  const bool turned = p->op_b != SPARSE_OP_N;
  struct ws_sparse_blocks g = {.side = p->side, .by_columns = p->direction == DIRECTION_COLUMN};
  g.product = (struct ws_sparse_product){.a = a, .m = (int64_t)p->rows * p->side, .n = p->n, .b = p->b, .c = p->c,
                                         .conj_b = p->op_b == SPARSE_OP_C, .b_row = turned ? p->ldb : 1,
                                         .b_column = turned ? 1 : p->ldb, .c_row = 1, .c_column = p->ldc,
                                         .alpha = sparse_scalar(h, p->alpha, kind),
                                         .beta = sparse_scalar(h, p->beta, kind)};
  if (!g.product.m || !g.product.n) return SPARSE_SUCCESS;
  const enum lib_kernel k = (enum lib_kernel)((int)KERNEL_ssparse_blocks + kind * (KERNEL_dsparse_vector -
                                                                                   KERNEL_ssparse_vector));
  const bool ok = kernel_set_launch(&h->kernels, k, sparse_shape(g.product.m * g.product.n), h->stream, &g);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

/* Sizes are of 32 bits, and so are leading dimensions. */
#define BLOCKS(l, kind)                                                                                              \
  PUBLIC sparse_status cusparse##l##bsrmv(struct sparse_handle *h, int direction, int op, int rows, int cols,        \
                                          int count, const void *alpha, const struct description *about,             \
                                          const void *values, const int *offsets, const int *columns, int side,      \
                                          const void *x, const void *beta, void *y)                                  \
  {                                                                                                                  \
    const struct blocks_product p = {direction, op, SPARSE_OP_N, rows, 1, cols, count, side, alpha, beta, values, x, \
                                     about, offsets, columns, y, 0, 0};                                              \
    return multiply(h, kind, &p, __func__);                                                                          \
  }                                                                                                                  \
  PUBLIC sparse_status cusparse##l##bsrmm(struct sparse_handle *h, int direction, int op_a, int op_b, int rows,      \
                                          int n, int cols, int count, const void *alpha,                             \
                                          const struct description *about, const void *values, const int *offsets,   \
                                          const int *columns, int side, const void *b, int ldb, const void *beta,    \
                                          void *c, int ldc)                                                          \
  {                                                                                                                  \
    const struct blocks_product p = {direction, op_a, op_b, rows, n, cols, count, side, alpha, beta, values, b,      \
                                     about, offsets, columns, c, ldb, ldc};                                          \
    return multiply(h, kind, &p, __func__);                                                                          \
  }
BLOCKS(S, 0)
BLOCKS(D, 1)
BLOCKS(C, 2)
BLOCKS(Z, 3)
