/* Incomplete factors of libcusparse: csrilu02, csric02. Columns of a row ascend. Rows are made level by level; the
 * levels are those of the lower triangle. */
#include "libs/cusparse/sparse_levels.h"

/* What a program holds from the analysis to the factors and the question for a pivot of 0. */
struct factor_plan {
  struct sparse_plan head;
  uint64_t position;          /* an int of the device, 0: none yet */
  int count;                  /* elements of the matrix that was analysed */
  uint64_t room;              /* of the levels: the program's buffer is its own between the calls */
  struct sparse_levels order; /* of none before an analysis */
  int boost;
  struct ws_scalar tol, boost_value;
};

/* Magic numbers of the two kinds of plans, and the first of the four kernels of each. */
#define LU_PLAN       UINT64_C(0x776172707370696c)
#define CHOLESKY_PLAN UINT64_C(0x7761727073706963)
struct family {
  uint64_t magic;
  enum lib_kernel first;
};
static const struct family lu = {LU_PLAN, KERNEL_ssparse_lu}, cholesky = {CHOLESKY_PLAN, KERNEL_ssparse_cholesky};
enum { KERNELS_PER_TYPE = KERNEL_dsparse_lu - KERNEL_ssparse_lu };

struct factor {
  int m, count;
  const struct description *d;
  const void *values;
  const int *offsets, *columns;
};

static sparse_status check(const struct sparse_handle *h, const struct factor *f, const struct family *family,
                           const struct factor_plan *plan)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->head.magic != family->magic || !f->d || f->m < 0 || f->count < 0) return SPARSE_INVALID_VALUE;
  if ((f->m && !f->offsets) || (f->count && (!f->columns || !f->values))) return SPARSE_INVALID_VALUE;
  return cusparseGetMatType(f->d) ? SPARSE_TYPE_NOT_SUPPORTED : SPARSE_SUCCESS;
}

/* Places of the diagonals. */
static size_t room_for(const struct factor *f) { return ((size_t)f->m + 1) * sizeof(int); }

static struct ws_sparse_factor seen(const struct factor *f, const struct factor_plan *plan, void *room)
{
  return (struct ws_sparse_factor){
    .a = {.rows = f->m, .cols = f->m, .count = f->count, .offsets = f->offsets, .column = f->columns,
          .values = f->values, .base = cusparseGetMatIndexBase(f->d)},
    .order = plan->order.device, .diagonal = room,
    .position = (int *)(uintptr_t)plan->position, // NOLINT(performance-no-int-to-ptr)
    .boost = plan->boost, .tol = plan->tol, .boost_value = plan->boost_value};
}

static void forget(struct factor_plan *plan)
{
  if (plan->room) cuMemFree_v2(plan->room);
  plan->room = 0;
  sparse_levels_free(&plan->order);
}

static sparse_status find_order(const struct sparse_handle *h, const struct factor *f, struct factor_plan *plan)
{
  const struct sparse_triangle lower = {.a = seen(f, plan, NULL).a};
  forget(plan);
  const size_t bytes = sparse_levels_bytes(&lower);
  if (!bytes || cuMemAlloc_v2(&plan->room, bytes) != DRIVER_OK) return SPARSE_ALLOC_FAILED;
  plan->count = f->count;
  void *const to = (void *)(uintptr_t)plan->room; // NOLINT(performance-no-int-to-ptr)
  return sparse_levels_find(&plan->order, h, &lower, to);
}

static bool find_diagonals(struct sparse_handle *h, const struct ws_sparse_factor *g)
{
  const struct launch_shape shape = sparse_shape(g->a.rows);
  return cuMemsetD32Async((uint64_t)(uintptr_t)g->position, ~0u, 1, h->stream) == DRIVER_OK &&
         (g->a.rows == 0 || kernel_set_launch(&h->kernels, KERNEL_sparse_diagonal, shape, h->stream, g));
}

static sparse_status analyse(struct sparse_handle *h, const struct factor *f, const struct family *family,
                             struct factor_plan *plan, void *room)
{
  sparse_status status = check(h, f, family, plan);
  if (status) return status;
  if (!room) return SPARSE_INVALID_VALUE;
  if (!plan->position && cuMemAlloc_v2(&plan->position, sizeof(int)) != DRIVER_OK) return SPARSE_ALLOC_FAILED;
  status = find_order(h, f, plan);
  if (status) return status;
  const struct ws_sparse_factor g = seen(f, plan, room);
  return find_diagonals(h, &g) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

/* Rows of few elements are a thread's each, those of more a warp's. */
enum { FEW = 16 };

/* Programs may use the buffer for something else after the analysis, so diagonals are looked for again. */
static sparse_status factorise(struct sparse_handle *h, const struct factor *f, const struct family *family, int kind,
                               struct factor_plan *plan, void *room)
{
  const sparse_status status = check(h, f, family, plan);
  if (status) return status;
  const struct sparse_levels *o = &plan->order;
  if (!room || !o->level || f->m != o->rows || f->count != plan->count) return SPARSE_INVALID_VALUE;
  struct ws_sparse_factor g = seen(f, plan, room);
  g.lanes = (int64_t)FEW * f->m >= f->count ? 1 : 32;
  const enum lib_kernel k = (enum lib_kernel)((int)family->first + kind * KERNELS_PER_TYPE);
  bool ok = find_diagonals(h, &g);
  for (; ok && g.from < o->levels; g.from = g.to) {
    const struct launch_shape shape = sparse_levels_launch(o, g.lanes, g.from, &g.to);
    ok = kernel_set_launch(&h->kernels, k, shape, h->stream, &g);
  }
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

/* Waits for the stream. Before an analysis there is none. */
static sparse_status zero_pivot(const struct sparse_handle *h, const struct family *family,
                                const struct factor_plan *plan, int *position)
{
  int row = -1;
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->head.magic != family->magic || !position) return SPARSE_INVALID_VALUE;
  const void *const at = (const void *)(uintptr_t)plan->position; // NOLINT(performance-no-int-to-ptr)
  if (at && !sparse_fetch(h, &row, at, sizeof row)) return SPARSE_EXECUTION_FAILED;
  if (!sparse_say_number(h, row, position)) return SPARSE_EXECUTION_FAILED;
  return row < 0 ? SPARSE_SUCCESS : SPARSE_ZERO_PIVOT;
}

static sparse_status boost(const struct sparse_handle *h, struct factor_plan *plan, int kind, int enable,
                           const double *tol, const void *value)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->head.magic != LU_PLAN || (enable && (!tol || !value))) return SPARSE_INVALID_VALUE;
  plan->boost = enable != 0;
  if (!enable) return SPARSE_SUCCESS;
  plan->tol = sparse_scalar(h, tol, 1);
  plan->boost_value = sparse_scalar(h, value, kind);
  return SPARSE_SUCCESS;
}

static sparse_status destroy(struct sparse_plan *p, const struct family *family)
{
  struct factor_plan *plan = (struct factor_plan *)p;
  if (p && p->magic == family->magic) {
    if (plan->position) cuMemFree_v2(plan->position);
    forget(plan);
  }
  return sparse_plan_destroy(p, family->magic);
}

PUBLIC sparse_status cusparseCreateCsrilu02Info(struct sparse_plan **out)
{
  return sparse_plan_create(out, sizeof(struct factor_plan), LU_PLAN);
}
PUBLIC sparse_status cusparseCreateCsric02Info(struct sparse_plan **out)
{
  return sparse_plan_create(out, sizeof(struct factor_plan), CHOLESKY_PLAN);
}
PUBLIC sparse_status cusparseDestroyCsrilu02Info(struct sparse_plan *p) { return destroy(p, &lu); }
PUBLIC sparse_status cusparseDestroyCsric02Info(struct sparse_plan *p) { return destroy(p, &cholesky); }
PUBLIC sparse_status cusparseXcsrilu02_zeroPivot(struct sparse_handle *h, struct factor_plan *plan, int *position)
{
  return zero_pivot(h, &lu, plan, position);
}
PUBLIC sparse_status cusparseXcsric02_zeroPivot(struct sparse_handle *h, struct factor_plan *plan, int *position)
{
  return zero_pivot(h, &cholesky, plan, position);
}

#define FACTOR_ARGUMENTS                                                                                             \
  struct sparse_handle *h, int m, int count, const struct description *d, void *values, const int *offsets,         \
    const int *columns, struct factor_plan *plan

#define FACTOR(name, family, kind)                                                                                   \
  PUBLIC sparse_status cusparse##name##_bufferSize(FACTOR_ARGUMENTS, int *bytes)                                     \
  {                                                                                                                  \
    const struct factor f = {m, count, d, values, offsets, columns};                                                 \
    const sparse_status status = check(h, &f, family, plan);                                                         \
    if (status || !bytes || room_for(&f) > INT32_MAX) return status ? status : SPARSE_INVALID_VALUE;                 \
    *bytes = (int)room_for(&f);                                                                                      \
    return SPARSE_SUCCESS;                                                                                           \
  }                                                                                                                  \
  PUBLIC sparse_status cusparse##name##_bufferSizeExt(FACTOR_ARGUMENTS, size_t *bytes)                               \
  {                                                                                                                  \
    const struct factor f = {m, count, d, values, offsets, columns};                                                 \
    const sparse_status status = check(h, &f, family, plan);                                                         \
    if (status || !bytes) return status ? status : SPARSE_INVALID_VALUE;                                             \
    *bytes = room_for(&f);                                                                                           \
    return SPARSE_SUCCESS;                                                                                           \
  }                                                                                                                  \
  PUBLIC sparse_status cusparse##name##_analysis(FACTOR_ARGUMENTS, int policy, void *room)                           \
  {                                                                                                                  \
    const struct factor f = {m, count, d, values, offsets, columns};                                                 \
    (void)policy;                                                                                                    \
    return analyse(h, &f, family, plan, room);                                                                       \
  }                                                                                                                  \
  PUBLIC sparse_status cusparse##name(FACTOR_ARGUMENTS, int policy, void *room)                                      \
  {                                                                                                                  \
    const struct factor f = {m, count, d, values, offsets, columns};                                                 \
    (void)policy;                                                                                                    \
    return factorise(h, &f, family, kind, plan, room);                                                               \
  }
#define FACTORS(letter, kind)                                                                                        \
  FACTOR(letter##csrilu02, &lu, kind)                                                                                \
  FACTOR(letter##csric02, &cholesky, kind)                                                                           \
  PUBLIC sparse_status cusparse##letter##csrilu02_numericBoost(struct sparse_handle *h, struct factor_plan *plan,    \
                                                               int enable, double *tol, void *value)                 \
  {                                                                                                                  \
    return boost(h, plan, kind, enable, tol, value);                                                                 \
  }
FACTORS(S, 0)
FACTORS(D, 1)
FACTORS(C, 2)
FACTORS(Z, 3)
