/* Triangular systems of libcusparse: SpSV, SpSM. The analysis finds levels, which lie in the program's buffer behind
 * room for values. These are the matrix's when a system is solved, or those of the last update. */
#include "libs/cusparse/sparse_levels.h"

#define PLAN UINT64_C(0x776172707370736f)
enum { ATTRIBUTE_FILL, ATTRIBUTE_DIAGONAL };
enum { UPDATE_GENERAL, UPDATE_DIAGONAL };

struct solve_plan {
  struct sparse_plan head;
  struct sparse_levels order;
  bool upper, transposed; /* what was analysed */
  int64_t count;
  size_t bytes;           /* of its values */
  void *values;           /* in the buffer */
  int type;               /* of them */
  bool updated;           /* they count */
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
  if (!sparse_matrix_lists(s->a) && s->a->format != FORMAT_SLICED_ELL)
    return sparse_refuse(function, "triangles in blocks");
  const int type = s->a->value_type;
  if (sparse_kind(type) < 0 || s->b->value_type != type || s->c->value_type != type || s->compute != type)
    return sparse_refuse(function, "values of these types");
  if (s->a->batch > 1 || s->b->batch > 1 || s->c->batch > 1) return sparse_refuse(function, "batches");
  const int64_t rows = s->op_b ? s->b->cols : s->b->rows, n = s->op_b ? s->b->rows : s->b->cols;
  const bool agree = s->a->rows == s->a->cols && rows == s->a->rows && s->c->rows == rows && s->c->cols == n;
  return agree ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

static struct sparse_triangle triangle_of(const struct system *s)
{
  bool turned;
  struct sparse_triangle t = {.a = sparse_seen(s->a, &turned)};
  if (s->a->format == FORMAT_SLICED_ELL) t.slice = s->a->block_rows, t.a.count = s->a->stored;
  t.transposed = (s->op_a != SPARSE_OP_N) != turned;
  t.upper = (s->a->attribute[ATTRIBUTE_FILL] != 0) != turned;
  return t;
}

/* So many threads for each row that each has some four elements. */
static int lanes_of(const struct sparse_levels *o)
{
  int lanes = 1;
  while (lanes < 32 && (int64_t)lanes * 4 * o->rows < o->elements) lanes *= 2;
  return lanes;
}

static sparse_status solve(struct sparse_handle *h, const struct system *s, const struct solve_plan *plan)
{
  const int kind = sparse_kind(s->a->value_type);
  const struct sparse_levels *o = &plan->order;
  struct ws_sparse_solve g = {.order = o->device, .lanes = lanes_of(o), .n = s->c->cols};
  g.values = plan->updated ? plan->values : s->a->values;
  g.conj = s->op_a == SPARSE_OP_C;
  g.conj_b = s->op_b == SPARSE_OP_C;
  g.unit = s->a->attribute[ATTRIBUTE_DIAGONAL] != 0;
  g.b = s->b->values, g.c = s->c->values;
  sparse_strides(s->b, s->op_b != SPARSE_OP_N, &g.b_row, &g.b_column);
  sparse_strides(s->c, false, &g.c_row, &g.c_column);
  g.alpha = sparse_scalar(h, s->alpha, kind);
  if (!o->rows || !g.n) return SPARSE_SUCCESS;
  if (g.n > INT32_MAX) return sparse_refuse("cusparseSpSM_solve", "2^31 right sides");
  const enum lib_kernel k = (enum lib_kernel)(KERNEL_ssparse_solve + kind);
  bool ok = true;
  for (; ok && g.from < o->levels; g.from = g.to) {
    struct launch_shape shape = sparse_levels_launch(o, g.lanes, g.from, &g.to);
    shape.x = (unsigned)g.n;
    ok = kernel_set_launch(&h->kernels, k, shape, h->stream, &g);
  }
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

/* Values, with the padding of slices. */
static int64_t stored(const struct sparse_matrix *a)
{
  return a->format == FORMAT_SLICED_ELL ? a->stored : a->count;
}

/* Bytes for values; what follows them is aligned. */
static size_t value_room(const struct sparse_matrix *a)
{
  return ((size_t)stored(a) * (size_t)sparse_value_bytes(a->value_type) + 15) / 16 * 16;
}

static sparse_status analyse(const struct sparse_handle *h, const struct system *s, struct solve_plan *plan, void *room,
                             const char *function)
{
  const sparse_status status = check(h, s, plan, function);
  if (status) return status;
  const struct sparse_triangle t = triangle_of(s);
  if (!room) return SPARSE_INVALID_VALUE;
  if (!sparse_levels_bytes(&t)) return sparse_refuse(function, "2^31 rows or elements");
  plan->upper = t.upper, plan->transposed = t.transposed, plan->updated = false;
  plan->count = stored(s->a), plan->bytes = (size_t)plan->count * (size_t)sparse_value_bytes(s->a->value_type);
  plan->values = room, plan->type = s->a->value_type;
  return sparse_levels_find(&plan->order, h, &t, (char *)room + value_room(s->a));
}

/* What is solved has the structure that was analysed, and, where values were updated, their type. */
static sparse_status solve_analysed(struct sparse_handle *h, const struct system *s, const struct solve_plan *plan,
                                    const char *function)
{
  const sparse_status status = check(h, s, plan, function);
  if (status) return status;
  const struct sparse_triangle t = triangle_of(s);
  const bool same = plan->order.level && t.a.rows == plan->order.rows && t.upper == plan->upper &&
                    t.transposed == plan->transposed && stored(s->a) == plan->count &&
                    (!plan->updated || s->a->value_type == plan->type);
  return same ? solve(h, s, plan) : SPARSE_INVALID_VALUE;
}

static sparse_status buffer(const struct sparse_handle *h, const struct system *s, const struct solve_plan *plan,
                            size_t *bytes, const char *function)
{
  const sparse_status status = check(h, s, plan, function);
  if (status) return status;
  const struct sparse_triangle t = triangle_of(s);
  if (!bytes) return SPARSE_INVALID_VALUE;
  const size_t levels = sparse_levels_bytes(&t);
  if (!levels) return sparse_refuse(function, "2^31 rows or elements");
  *bytes = value_room(s->a) + levels;
  return SPARSE_SUCCESS;
}

/* Other values for all elements. */
static sparse_status update(const struct sparse_handle *h, struct solve_plan *plan, const void *values, int part,
                            const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->head.magic != PLAN || !plan->order.level || !values || part < 0 || part > UPDATE_DIAGONAL)
    return SPARSE_INVALID_VALUE;
  if (part == UPDATE_DIAGONAL) return sparse_refuse(function, "the diagonal alone");
  const uint64_t to = (uint64_t)(uintptr_t)plan->values, from = (uint64_t)(uintptr_t)values;
  if (plan->bytes && cuMemcpyDtoDAsync_v2(to, from, plan->bytes, h->stream) != DRIVER_OK)
    return SPARSE_EXECUTION_FAILED;
  plan->updated = true;
  return SPARSE_SUCCESS;
}

static sparse_status destroy(struct sparse_plan *p)
{
  if (p && p->magic == PLAN) sparse_levels_free(&((struct solve_plan *)p)->order);
  return sparse_plan_destroy(p, PLAN);
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
  return destroy(p);
}
PUBLIC sparse_status cusparseSpSM_destroyDescr(struct sparse_plan *p)
{
  return destroy(p);
}

PUBLIC sparse_status cusparseSpSV_bufferSize(VECTOR_ARGUMENTS, size_t *bytes)
{
  (void)algorithm;
  const struct system s = VECTOR_SYSTEM;
  return buffer(h, &s, plan, bytes, __func__);
}
PUBLIC sparse_status cusparseSpSV_analysis(VECTOR_ARGUMENTS, void *room)
{
  (void)algorithm;
  const struct system s = VECTOR_SYSTEM;
  return analyse(h, &s, plan, room, __func__);
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
  (void)algorithm;
  const struct system s = MATRIX_SYSTEM;
  return analyse(h, &s, plan, room, __func__);
}
/* The header of the toolkit has no buffer here, its reference from 12.0 on has none either. */
PUBLIC sparse_status cusparseSpSM_solve(MATRIX_ARGUMENTS)
{
  (void)algorithm;
  const struct system s = MATRIX_SYSTEM;
  return solve_analysed(h, &s, plan, __func__);
}
PUBLIC sparse_status cusparseSpSV_updateMatrix(struct sparse_handle *h, struct solve_plan *plan, const void *values,
                                               int part)
{
  return update(h, plan, values, part, __func__);
}
PUBLIC sparse_status cusparseSpSM_updateMatrix(struct sparse_handle *h, struct solve_plan *plan, const void *values,
                                               int part)
{
  return update(h, plan, values, part, __func__);
}
