/* Triangular systems of libcusparse: SpSV, SpSM. There is nothing to analyse and no buffer. */
#include "libs/cusparse/sparse_product.h"

#define PLAN UINT64_C(0x776172707370736f)
enum { ATTRIBUTE_FILL, ATTRIBUTE_DIAGONAL };

struct solve_plan {
  struct sparse_plan head;
  bool analysed;
};

struct system {
  int op_a, op_b, compute;
  const void *alpha;
  const struct sparse_matrix *a;
  const struct dense_matrix *b, *c;
};

static sparse_status check(const struct sparse_handle *h, const struct system *s, const struct solve_plan *plan,
                           const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->head.magic != PLAN || !s->alpha || !sparse_matrix_is(s->a) || !dense_matrix_is(s->b) ||
      !dense_matrix_is(s->c))
    return SPARSE_INVALID_VALUE;
  if ((unsigned)s->op_a >= SPARSE_OPS || (unsigned)s->op_b >= SPARSE_OPS) return SPARSE_INVALID_VALUE;
  const int type = s->a->value_type;
  if (sparse_kind(type) < 0 || s->b->value_type != type || s->c->value_type != type || s->compute != type)
    return sparse_refuse(function, "values of these types");
  if (s->b->batch > 1 || s->c->batch > 1) return sparse_refuse(function, "batches");
  const int64_t rows = s->op_b ? s->b->cols : s->b->rows, n = s->op_b ? s->b->rows : s->b->cols;
  const bool agree = s->a->rows == s->a->cols && rows == s->a->rows && s->c->rows == rows && s->c->cols == n;
  return agree ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

static sparse_status solve(struct sparse_handle *h, const struct system *s)
{
  const int kind = sparse_kind(s->a->value_type);
  bool turned;
  struct ws_sparse_solve g = {.a = sparse_seen(s->a, &turned), .n = s->c->cols};
  g.transposed = (s->op_a != SPARSE_OP_N) != turned;
  g.conj = s->op_a == SPARSE_OP_C;
  g.conj_b = s->op_b == SPARSE_OP_C;
  g.upper = (s->a->attribute[ATTRIBUTE_FILL] != 0) != turned;
  g.unit = s->a->attribute[ATTRIBUTE_DIAGONAL] != 0;
  g.b = s->b->values, g.c = s->c->values;
  sparse_strides(s->b, s->op_b != SPARSE_OP_N, &g.b_row, &g.b_column);
  sparse_strides(s->c, false, &g.c_row, &g.c_column);
  g.alpha = sparse_scalar(h, s->alpha, kind);
  if (!g.a.rows || !g.n) return SPARSE_SUCCESS;
  if (g.n > INT32_MAX) return sparse_refuse("cusparseSpSM_solve", "2^31 right sides");
  const struct launch_shape shape = {(unsigned)((g.n + 7) / 8), 1, 1, 256};
  const enum lib_kernel k = (enum lib_kernel)(KERNEL_ssparse_solve + kind);
  return kernel_set_launch(&h->kernels, k, shape, h->stream, &g) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

static sparse_status analyse(const struct sparse_handle *h, const struct system *s, struct solve_plan *plan,
                             const char *function)
{
  const sparse_status status = check(h, s, plan, function);
  if (!status) plan->analysed = true;
  return status;
}
static sparse_status solve_analysed(struct sparse_handle *h, const struct system *s, const struct solve_plan *plan,
                                    const char *function)
{
  const sparse_status status = check(h, s, plan, function);
  if (status) return status;
  return plan->analysed ? solve(h, s) : SPARSE_INVALID_VALUE;
}
static sparse_status buffer(const struct sparse_handle *h, const struct system *s, const struct solve_plan *plan,
                            size_t *bytes, const char *function)
{
  const sparse_status status = check(h, s, plan, function);
  return status ? status : sparse_no_buffer(h, bytes);
}

#define VECTOR_ARGUMENTS                                                                                     \
  struct sparse_handle *h, int op, const void *alpha, const struct sparse_matrix *a,                        \
    const struct dense_matrix *x, const struct dense_matrix *y, int compute, int algorithm, struct solve_plan *plan
#define VECTOR_SYSTEM {op, SPARSE_OP_N, compute, alpha, a, x, y}
#define MATRIX_ARGUMENTS                                                                                     \
  struct sparse_handle *h, int op_a, int op_b, const void *alpha, const struct sparse_matrix *a,            \
    const struct dense_matrix *b, const struct dense_matrix *c, int compute, int algorithm, struct solve_plan *plan
#define MATRIX_SYSTEM {op_a, op_b, compute, alpha, a, b, c}

PUBLIC sparse_status cusparseSpSV_createDescr(struct sparse_plan **out)
{
  return sparse_plan_create(out, sizeof(struct solve_plan), PLAN);
}
PUBLIC sparse_status cusparseSpSM_createDescr(struct sparse_plan **out)
{
  return sparse_plan_create(out, sizeof(struct solve_plan), PLAN);
}
PUBLIC sparse_status cusparseSpSV_destroyDescr(struct sparse_plan *p)
{
  return sparse_plan_destroy(p, PLAN);
}
PUBLIC sparse_status cusparseSpSM_destroyDescr(struct sparse_plan *p)
{
  return sparse_plan_destroy(p, PLAN);
}

PUBLIC sparse_status cusparseSpSV_bufferSize(VECTOR_ARGUMENTS, size_t *bytes)
{
  (void)algorithm;
  const struct system s = VECTOR_SYSTEM;
  return buffer(h, &s, plan, bytes, __func__);
}
PUBLIC sparse_status cusparseSpSV_analysis(VECTOR_ARGUMENTS, void *room)
{
  (void)algorithm, (void)room;
  const struct system s = VECTOR_SYSTEM;
  return analyse(h, &s, plan, __func__);
}
PUBLIC sparse_status cusparseSpSV_solve(VECTOR_ARGUMENTS)
{
  (void)algorithm;
  const struct system s = VECTOR_SYSTEM;
  return solve_analysed(h, &s, plan, __func__);
}
PUBLIC sparse_status cusparseSpSM_bufferSize(MATRIX_ARGUMENTS, size_t *bytes)
{
  (void)algorithm;
  const struct system s = MATRIX_SYSTEM;
  return buffer(h, &s, plan, bytes, __func__);
}
PUBLIC sparse_status cusparseSpSM_analysis(MATRIX_ARGUMENTS, void *room)
{
  (void)algorithm, (void)room;
  const struct system s = MATRIX_SYSTEM;
  return analyse(h, &s, plan, __func__);
}
/* The header of the toolkit has no buffer here, its reference from 12.0 on has none either. */
PUBLIC sparse_status cusparseSpSM_solve(MATRIX_ARGUMENTS)
{
  (void)algorithm;
  const struct system s = MATRIX_SYSTEM;
  return solve_analysed(h, &s, plan, __func__);
}
