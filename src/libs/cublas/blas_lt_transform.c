/* Transformations of libcublasLt: C = alpha * op(A) + beta * op(B), each matrix by columns or by rows, by the kernels
 * of geam. A matrix by rows is the transposed one by columns. */
#include <stdlib.h>

#include "libs/cublas/blas_lt.h"
#include "libs/cublas/blas_product.h"
#include "libs/kernels/geam_args.h"

enum { TRANSFORM_SCALE, TRANSFORM_POINTER_MODE, TRANSFORM_OP_A, TRANSFORM_OP_B };

struct lt_transform {
  int32_t scale, pointer_mode, op_a, op_b;
};

_Static_assert(sizeof(struct lt_transform) <= 64, "a program's own descriptor holds ours");

PUBLIC blas_status cublasLtMatrixTransformDescInit_internal(struct lt_transform *d, size_t bytes, int scale)
{
  if (!d || bytes < sizeof *d) return BLAS_INVALID_VALUE;
  *d = (struct lt_transform){.scale = scale};
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasLtMatrixTransformDescCreate(struct lt_transform **out, int scale)
{
  if (!out) return BLAS_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  return *out ? cublasLtMatrixTransformDescInit_internal(*out, sizeof **out, scale) : BLAS_ALLOC_FAILED;
}
PUBLIC blas_status cublasLtMatrixTransformDescDestroy(struct lt_transform *d)
{
  free(d);
  return BLAS_SUCCESS;
}

static struct lt_place of_transform(struct lt_transform *d, int what)
{
  switch (what) {
  case TRANSFORM_SCALE: return PLACE(d->scale);
  case TRANSFORM_POINTER_MODE: return PLACE(d->pointer_mode);
  case TRANSFORM_OP_A: return PLACE(d->op_a);
  case TRANSFORM_OP_B: return PLACE(d->op_b);
  default: return (struct lt_place){NULL, 0};
  }
}
PUBLIC blas_status cublasLtMatrixTransformDescSetAttribute(struct lt_transform *d, int what, const void *value,
                                                           size_t bytes)
{
  return d && value ? lt_set(of_transform(d, what), value, bytes) : BLAS_INVALID_VALUE;
}
PUBLIC blas_status cublasLtMatrixTransformDescGetAttribute(struct lt_transform *d, int what, void *value, size_t bytes,
                                                           size_t *written)
{
  return d ? lt_get(of_transform(d, what), value, bytes, written) : BLAS_INVALID_VALUE;
}

/* Of the scale's type, or, in FP32, of others that convert to it; integers of 32 bits are no result. */
static bool converts(int data, int scale, bool result)
{
  if (data == scale) return data == DATA_R_32F || data == DATA_R_64F || data == DATA_C_32F || data == DATA_C_64F;
  if (scale != DATA_R_32F) return false;
  return data == DATA_R_16F || data == DATA_R_16BF || data == DATA_R_8I || (data == DATA_R_32I && !result);
}

static bool served(const struct lt_layout *l, const struct lt_transform *d, bool result)
{
  return l->order >= ORDER_COL && l->order <= ORDER_ROW && l->mode == BATCH_STRIDED &&
         converts(l->type, d->scale, result) && l->rows <= INT32_MAX && l->cols <= INT32_MAX;
}

static enum lib_kernel kernel_for(int scale, bool mixed)
{
  if (mixed) return KERNEL_geam_mixed;
  return scale == DATA_R_32F ? KERNEL_sgeam : scale == DATA_R_64F ? KERNEL_dgeam
         : scale == DATA_C_32F ? KERNEL_cgeam : KERNEL_zgeam;
}

static int64_t bytes_of(const struct lt_layout *l)
{
  static const unsigned char bytes[WS_TYPES] = {4, 8, 2, 2, 1, 4, 8, 16};
  return bytes[blas_element(l->type)];
}

static bool fits(const struct lt_layout *l, int op, const struct lt_layout *c)
{
  const bool turned = op != BLAS_OP_N;
  const int64_t line = (int64_t)(l->order == ORDER_ROW ? l->cols : l->rows);
  return (turned ? l->cols : l->rows) == c->rows && (turned ? l->rows : l->cols) == c->cols && l->batch == c->batch &&
         l->ld >= (line > 1 ? line : 1);
}

/* As geam takes it: C, or C transposed where that lies by rows. */
static struct ws_geam_operand operand(const struct lt_transform *d, const void *factor, const void *at, int op,
                                      const struct lt_layout *l, const struct lt_layout *c)
{
  return (struct ws_geam_operand){.at = at, .ld = l->ld, .conj = op == BLAS_OP_C, .type = blas_element(l->type),
                                  .transposed = (op != BLAS_OP_N) != (l->order != c->order),
                                  .factor = blas_scalar(factor, d->scale, d->pointer_mode == BLAS_DEVICE)};
}

static blas_status transform(struct blas *h, const struct ws_geam_args *one, enum lib_kernel k,
                             const struct lt_layout *la, const struct lt_layout *lb, const struct lt_layout *lc,
                             driver_stream stream)
{
  enum { MOST_CTAS = 4096 };
  const int64_t squares = (one->m + 31) / 32 * ((one->n + 31) / 32);
  const struct launch_shape shape = {(unsigned)(squares < MOST_CTAS ? squares : MOST_CTAS), 1, 1, 256};
  for (int64_t z = 0; squares && z < lc->batch; z++) {
    struct ws_geam_args g = *one;
    g.a.at = (const char *)g.a.at + z * la->stride * bytes_of(la);
    if (lb) g.b.at = (const char *)g.b.at + z * lb->stride * bytes_of(lb);
    g.c = (char *)g.c + z * lc->stride * bytes_of(lc);
    if (!kernel_set_launch(&h->kernels, k, shape, stream, &g)) return BLAS_EXECUTION_FAILED;
  }
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtMatrixTransform(struct blas *h, const struct lt_transform *d, const void *alpha,
                                           const void *a, const struct lt_layout *la, const void *beta, const void *b,
                                           const struct lt_layout *lb, void *c, const struct lt_layout *lc,
                                           driver_stream stream)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!d || !alpha || !la || !lc || (lb && !beta)) return BLAS_INVALID_VALUE;
  if (!served(la, d, false) || !served(lc, d, true) || (lb && !served(lb, d, false)) || d->pointer_mode < 0 ||
      d->pointer_mode > BLAS_DEVICE)
    return blas_refuse("cublasLtMatrixTransform", "these types, layouts or attributes");
  if ((unsigned)d->op_a >= BLAS_OPS || (unsigned)d->op_b >= BLAS_OPS || lc->batch < 1 || !fits(la, d->op_a, lc) ||
      !fits(lc, BLAS_OP_N, lc) || (lb && !fits(lb, d->op_b, lc)))
    return BLAS_INVALID_VALUE;
  const bool rows = lc->order == ORDER_ROW;
  struct ws_geam_args g = {.m = (int64_t)(rows ? lc->cols : lc->rows), .n = (int64_t)(rows ? lc->rows : lc->cols),
                           .ldc = lc->ld, .c = c, .c_type = blas_element(lc->type),
                           .a = operand(d, alpha, a, d->op_a, la, lc)};
  if (lb) g.b = operand(d, beta, b, d->op_b, lb, lc);
  const bool mixed = la->type != d->scale || lc->type != d->scale || (lb && lb->type != d->scale);
  return transform(h, &g, kernel_for(d->scale, mixed), la, lb, lc, stream);
}
