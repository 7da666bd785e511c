/* cusparseSpMVOp: z = alpha op(A) x + beta y by a plan, for a matrix that meets many vectors. What the plan knows of
 * its vectors are sizes and types; each product brings its own. */
#include "libs/cusparse/sparse_product.h"

#define DESCRIPTION UINT64_C(0x776172707370766f)
#define PLAN UINT64_C(0x776172707370766e)

/* Both a description and its plan; a plan has a copy, so that the description may go. */
struct vector_operation {
  struct sparse_plan head;
  int op, compute;
  const struct sparse_matrix *a;
  void *buffer;
};

#define OPERATION_ARGUMENTS                                                                             \
  int op, const struct sparse_matrix *a, const struct dense_matrix *x, const struct dense_matrix *y,    \
    const struct dense_matrix *z, int compute, int algorithm

sparse_status cusparseSpMV(struct sparse_handle *, int op, const void *alpha, const struct sparse_matrix *,
                           const struct dense_matrix *x, const void *beta, const struct dense_matrix *y, int compute,
                           int algorithm, void *buffer);
sparse_status cusparseSpMV_bufferSize(struct sparse_handle *, int op, const void *alpha, const struct sparse_matrix *,
                                      const struct dense_matrix *x, const void *beta, const struct dense_matrix *y,
                                      int compute, int algorithm, size_t *bytes);

/* y is read like z, which it may be. */
static sparse_status check_pair(const struct dense_matrix *y, const struct dense_matrix *z)
{
  if (!dense_matrix_is(y) || !dense_matrix_is(z) || !y->vector || !z->vector) return SPARSE_INVALID_VALUE;
  return y->rows == z->rows && y->value_type == z->value_type ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

PUBLIC sparse_status cusparseSpMVOp_bufferSize(struct sparse_handle *h, OPERATION_ARGUMENTS, size_t *bytes)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  (void)algorithm;
  const double none[2] = {0, 0};
  const sparse_status s = check_pair(y, z);
  return s ? s : cusparseSpMV_bufferSize(h, op, none, a, x, none, z, compute, 0, bytes);
}

PUBLIC sparse_status cusparseSpMVOp_createDescr(struct sparse_handle *h, struct sparse_plan **out, OPERATION_ARGUMENTS,
                                                void *buffer)
{
  size_t bytes; /* the question checks what it asks about */
  sparse_status s = cusparseSpMVOp_bufferSize(h, op, a, x, y, z, compute, algorithm, &bytes);
  if (!s) s = sparse_plan_create(out, sizeof(struct vector_operation), DESCRIPTION);
  if (s) return s;
  *(struct vector_operation *)*out =
    (struct vector_operation){.head.magic = DESCRIPTION, .op = op, .compute = compute, .a = a, .buffer = buffer};
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMVOp_destroyDescr(struct sparse_plan *description)
{
  return sparse_plan_destroy(description, DESCRIPTION);
}

/* `code`: intermediate code of the program's own epilogue, which is compiled into the kernel; none is the usual one. */
PUBLIC sparse_status cusparseSpMVOp_createPlan(struct sparse_handle *h, const struct sparse_plan *description,
                                               struct sparse_plan **out, const void *code, size_t bytes)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!description || description->magic != DESCRIPTION) return SPARSE_INVALID_VALUE;
  if (code || bytes) return sparse_refuse(__func__, "an epilogue of the program's own");
  const sparse_status s = sparse_plan_create(out, sizeof(struct vector_operation), PLAN);
  if (s) return s;
  *(struct vector_operation *)*out = *(const struct vector_operation *)description;
  (*out)->magic = PLAN;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpMVOp_destroyPlan(struct sparse_plan *plan)
{
  return sparse_plan_destroy(plan, PLAN);
}

PUBLIC sparse_status cusparseSpMVOp(struct sparse_handle *h, const struct sparse_plan *plan, const void *alpha,
                                    const void *beta, const struct dense_matrix *x, const struct dense_matrix *y,
                                    const struct dense_matrix *z)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->magic != PLAN) return SPARSE_INVALID_VALUE;
  const struct vector_operation *o = (const struct vector_operation *)plan;
  size_t bytes;
  sparse_status s = cusparseSpMVOp_bufferSize(h, o->op, o->a, x, y, z, o->compute, 0, &bytes);
  if (!s && (!alpha || !beta)) s = SPARSE_INVALID_VALUE;
  if (s) return s;
  const size_t size = (size_t)z->rows * (size_t)sparse_value_bytes(z->value_type);
  if (y->values != z->values && size &&
      cuMemcpyDtoDAsync_v2((uint64_t)(uintptr_t)z->values, (uint64_t)(uintptr_t)y->values, size, h->stream))
    return SPARSE_EXECUTION_FAILED;
  return cusparseSpMV(h, o->op, alpha, o->a, x, beta, z, o->compute, 0, o->buffer);
}
