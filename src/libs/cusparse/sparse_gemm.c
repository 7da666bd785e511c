/* Products of two sparse matrices (SpGEMM, SpGEMMreuse) and compressed columns (Csr2cscEx2) of libcusparse. */
#include "libs/cusparse/sparse_product.h"

#define PLAN UINT64_C(0x7761727073706765)
enum { STATE_NEW, STATE_COUNTED, STATE_COMPUTED };
static const int64_t MOST_PRODUCTS = INT64_C(1) << WS_PLACE_BITS; /* a place in a list has so many bits */

struct gemm_plan {
  struct sparse_plan head;
  int state;
  bool nothing_in_c; /* when the products were asked for: beta has nothing to multiply */
  int64_t products, count; /* of all rows; elements of C */
  struct ws_sparse_gemm args;
};

struct gemm {
  int op_a, op_b, compute;
  const void *alpha, *beta;
  const struct sparse_matrix *a, *b;
  struct sparse_matrix *c;
};

PUBLIC sparse_status cusparseSpGEMM_createDescr(struct sparse_plan **out)
{
  return sparse_plan_create(out, sizeof(struct gemm_plan), PLAN);
}
PUBLIC sparse_status cusparseSpGEMM_destroyDescr(struct sparse_plan *p)
{
  return sparse_plan_destroy(p, PLAN);
}

static unsigned bytes_of(int kind)
{
  static const unsigned char bytes[] = {4, 8, 8, 16};
  return bytes[kind];
}

/* Whether nothing of what C was is wanted, wherever beta is. */
static bool beta_is_zero(const struct sparse_handle *h, const void *beta, int kind)
{
  union {
    char bytes[16];
    double d[2];
    float f[2];
  } v = {{0}};
  if (h->pointer_mode == 1 && !sparse_fetch(h, v.bytes, beta, bytes_of(kind))) return false;
  if (h->pointer_mode == 0) {
    const struct ws_scalar s = sparse_scalar(h, beta, kind);
    return s.re == 0 && s.im == 0;
  }
  return kind % 2 ? v.d[0] == 0 && v.d[1] == 0 : v.f[0] == 0 && v.f[1] == 0;
}

static bool by_rows(const struct sparse_matrix *m) { return sparse_matrix_is(m) && m->format == FORMAT_CSR; }

static sparse_status check(const struct sparse_handle *h, const struct gemm *g, const struct gemm_plan *plan,
                           const char *function)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (!plan || plan->head.magic != PLAN || !g->alpha || !g->beta || !sparse_matrix_is(g->a) ||
      !sparse_matrix_is(g->b) || !sparse_matrix_is(g->c))
    return SPARSE_INVALID_VALUE;
  if (!by_rows(g->a) || !by_rows(g->b) || !by_rows(g->c) || g->op_a != SPARSE_OP_N || g->op_b != SPARSE_OP_N)
    return sparse_refuse(function, "operations, or formats other than CSR");
  if (g->a->batch > 1 || g->b->batch > 1 || g->c->batch > 1) return sparse_refuse(function, "batches");
  const int type = g->a->value_type;
  if (sparse_kind(type) < 0 || g->b->value_type != type || g->c->value_type != type || g->compute != type)
    return sparse_refuse(function, "values of these types");
  if (g->a->cols != g->b->rows || g->c->rows != g->a->rows || g->c->cols != g->b->cols) return SPARSE_INVALID_VALUE;
  if (g->b->cols > UINT32_MAX) return sparse_refuse(function, "2^32 columns");
  if (plan->nothing_in_c || beta_is_zero(h, g->beta, sparse_kind(type))) return SPARSE_SUCCESS;
  return sparse_refuse(function, "a beta that is not 0, of a C that has elements");
}

/* The products of each row are counted, which says where their lists begin and how much room all need. */
static sparse_status count(struct sparse_handle *h, const struct gemm *g, struct gemm_plan *p, void *room)
{
  bool turned;
  const struct ws_sparse_gemm args = {.a = sparse_seen(g->a, &turned), .b = sparse_seen(g->b, &turned), .first = room};
  const struct ws_sparse_scan s = {.n = g->a->rows, .list = room, .wide = true};
  p->args = args;
  p->products = 0;
  if (g->a->rows &&
      (!kernel_set_launch(&h->kernels, KERNEL_sparse_products, sparse_shape(g->a->rows), h->stream, &p->args) ||
       !sparse_scan(h, &s) || !sparse_fetch(h, &p->products, args.first + g->a->rows, sizeof p->products)))
    return SPARSE_EXECUTION_FAILED;
  if (p->products < 0 || p->products >= MOST_PRODUCTS)
    return sparse_refuse("cusparseSpGEMM_workEstimation", "2^32 products");
  p->state = STATE_COUNTED;
  return SPARSE_SUCCESS;
}

static enum lib_kernel of_kind(enum lib_kernel of_s, int kind)
{
  return (enum lib_kernel)((int)of_s + kind * (KERNEL_dsparse_expand - KERNEL_ssparse_expand));
}

static size_t room_for(const struct gemm *g, const struct gemm_plan *p)
{
  return (size_t)(g->a->rows + 1) * 8 + (size_t)p->products * (8 + bytes_of(sparse_kind(g->a->value_type))) + 16;
}

/* All products, sorted; C's elements are counted. Room: products, on borders of 16 bytes, then keys, then counts. */
static sparse_status compute(struct sparse_handle *h, const struct gemm *g, struct gemm_plan *p, void *room)
{
  const int kind = sparse_kind(g->a->value_type);
  struct ws_sparse_gemm *a = &p->args;
  a->products = room;
  a->keys = (uint64_t *)((char *)room + (p->products * bytes_of(kind) + 7) / 8 * 8);
  a->counts = (int64_t *)(a->keys + p->products);
  const struct ws_sparse_scan s = {.n = g->a->rows, .list = a->counts, .wide = true};
  const enum lib_kernel k = of_kind(KERNEL_ssparse_expand, kind);
  p->count = 0;
  if (g->a->rows &&
      (!kernel_set_launch(&h->kernels, k, sparse_shape(g->a->rows * 32), h->stream, a) ||
       !sparse_scan(h, &s) || !sparse_fetch(h, &p->count, a->counts + g->a->rows, sizeof p->count)))
    return SPARSE_EXECUTION_FAILED;
  g->c->count = p->count;
  p->state = STATE_COMPUTED;
  return SPARSE_SUCCESS;
}

static sparse_status copy(struct sparse_handle *h, const struct gemm *g, struct gemm_plan *p)
{
  const int kind = sparse_kind(g->a->value_type);
  struct ws_sparse_gemm *a = &p->args;
  if (!g->c->offsets || (p->count && (!g->c->indices || !g->c->values))) return SPARSE_INVALID_VALUE;
  a->c_offsets = g->c->offsets, a->c_columns = g->c->indices, a->c_values = g->c->values;
  a->c_wide_offsets = g->c->offset_type == SPARSE_INDEX_64;
  a->c_wide_indices = g->c->index_type == SPARSE_INDEX_64;
  a->c_base = g->c->base;
  a->alpha = sparse_scalar(h, g->alpha, kind);
  if (!g->a->rows) return SPARSE_SUCCESS;
  const enum lib_kernel k = of_kind(KERNEL_ssparse_collect, kind);
  const bool ok = kernel_set_launch(&h->kernels, k, sparse_shape(g->a->rows * 32), h->stream, a);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

/* The structure of C once, its values as often as wanted (SpGEMMreuse). Buffer 4 has all that stays: where the lists of
 * products begin, then what `compute` needs. */
static size_t begins_bytes(const struct sparse_matrix *a) { return ((size_t)(a->rows + 1) * 8 + 15) / 16 * 16; }

/* C's values, or its structure. */
static sparse_status collect_again(struct sparse_handle *h, const struct gemm *g, struct gemm_plan *p, bool values)
{
  const int kind = sparse_kind(g->a->value_type);
  const struct sparse_matrix *c = g->c;
  struct ws_sparse_gemm a = p->args;
  bool turned;
  if (p->count && !(values ? c->values : c->indices)) return SPARSE_INVALID_VALUE;
  if (!values && !c->offsets) return SPARSE_INVALID_VALUE;
  a.a = sparse_seen(g->a, &turned), a.b = sparse_seen(g->b, &turned);
  a.c_wide_offsets = c->offset_type == SPARSE_INDEX_64, a.c_wide_indices = c->index_type == SPARSE_INDEX_64;
  a.c_base = c->base;
  if (values) {
    a.c_values = c->values;
    a.alpha = sparse_scalar(h, g->alpha, kind), a.beta = sparse_scalar(h, g->beta, kind);
  } else {
    a.c_offsets = c->offsets, a.c_columns = c->indices;
  }
  const struct ws_sparse_scan s = {.n = g->a->rows, .list = a.counts, .wide = true};
  const struct launch_shape shape = sparse_shape(g->a->rows * 32);
  if (!g->a->rows) return SPARSE_SUCCESS;
  bool good = true;
  if (values)
    good = kernel_set_launch(&h->kernels, of_kind(KERNEL_ssparse_expand, kind), shape, h->stream, &a) &&
           sparse_scan(h, &s);
  good = good && kernel_set_launch(&h->kernels, of_kind(KERNEL_ssparse_collect, kind), shape, h->stream, &a);
  return good ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

#define REUSE_ARGUMENTS                                                                                            \
  struct sparse_handle *h, int op_a, int op_b, const struct sparse_matrix *a, const struct sparse_matrix *b,      \
    struct sparse_matrix *c, int algorithm, struct gemm_plan *plan

/* Without factors, which have no part in the structure. */
static sparse_status check_reuse(const struct sparse_handle *h, struct gemm *g, struct gemm_plan *plan,
                                 const char *function)
{
  static const double one[2] = {1};
  if (!g->alpha && sparse_matrix_is(g->a)) g->alpha = g->beta = one, g->compute = g->a->value_type;
  if (plan && plan->head.magic == PLAN) plan->nothing_in_c = true; /* C has the elements of the product */
  return check(h, g, plan, function);
}

PUBLIC sparse_status cusparseSpGEMMreuse_workEstimation(REUSE_ARGUMENTS, size_t *bytes1, void *room1)
{
  (void)algorithm;
  struct gemm g = {op_a, op_b, 0, NULL, NULL, a, b, c};
  const sparse_status s = check_reuse(h, &g, plan, __func__);
  if (s) return s;
  if (!bytes1) return SPARSE_INVALID_VALUE;
  if (room1) return *bytes1 >= begins_bytes(a) ? count(h, &g, plan, room1) : SPARSE_INVALID_VALUE;
  *bytes1 = begins_bytes(a);
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpGEMMreuse_nnz(REUSE_ARGUMENTS, size_t *bytes2, void *room2, size_t *bytes3, void *room3,
                                             size_t *bytes4, void *room4)
{
  (void)algorithm, (void)room2, (void)room3;
  struct gemm g = {op_a, op_b, 0, NULL, NULL, a, b, c};
  const sparse_status s = check_reuse(h, &g, plan, __func__);
  if (s) return s;
  if (!bytes2 || !bytes3 || !bytes4 || plan->state == STATE_NEW) return SPARSE_INVALID_VALUE;
  const size_t begins = begins_bytes(a), need = begins + room_for(&g, plan);
  if (!room4) {
    *bytes2 = *bytes3 = 8, *bytes4 = need;
    return SPARSE_SUCCESS;
  }
  if (*bytes4 < need) return SPARSE_INVALID_VALUE;
  const sparse_status counted = count(h, &g, plan, room4);
  return counted ? counted : compute(h, &g, plan, (char *)room4 + begins);
}
PUBLIC sparse_status cusparseSpGEMMreuse_copy(REUSE_ARGUMENTS, size_t *bytes5, void *room5)
{
  (void)algorithm;
  struct gemm g = {op_a, op_b, 0, NULL, NULL, a, b, c};
  const sparse_status s = check_reuse(h, &g, plan, __func__);
  if (s) return s;
  if (!bytes5 || plan->state != STATE_COMPUTED) return SPARSE_INVALID_VALUE;
  if (room5) return collect_again(h, &g, plan, false);
  *bytes5 = 8;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpGEMMreuse_compute(struct sparse_handle *h, int op_a, int op_b, const void *alpha,
                                                 const struct sparse_matrix *a, const struct sparse_matrix *b,
                                                 const void *beta, struct sparse_matrix *c, int compute_type,
                                                 int algorithm, struct gemm_plan *plan)
{
  (void)algorithm;
  struct gemm g = {op_a, op_b, compute_type, alpha, beta, a, b, c};
  if (!alpha || !beta) return SPARSE_INVALID_VALUE;
  const sparse_status s = check_reuse(h, &g, plan, __func__);
  if (s) return s;
  const bool same = plan->state == STATE_COMPUTED && c->count == plan->count && a->rows == plan->args.a.rows &&
                    a->count == plan->args.a.count && b->count == plan->args.b.count;
  return same ? collect_again(h, &g, plan, true) : SPARSE_INVALID_VALUE;
}

#define GEMM_ARGUMENTS                                                                                             \
  struct sparse_handle *h, int op_a, int op_b, const void *alpha, const struct sparse_matrix *a,                  \
    const struct sparse_matrix *b, const void *beta, struct sparse_matrix *c, int compute_type, int algorithm,    \
    struct gemm_plan *plan
#define GEMM {op_a, op_b, compute_type, alpha, beta, a, b, c}

PUBLIC sparse_status cusparseSpGEMM_workEstimation(GEMM_ARGUMENTS, size_t *bytes, void *room)
{
  (void)algorithm;
  const struct gemm g = GEMM;
  if (plan && plan->head.magic == PLAN && sparse_matrix_is(c)) plan->nothing_in_c = c->count == 0;
  const sparse_status s = check(h, &g, plan, __func__);
  if (s) return s;
  if (!bytes) return SPARSE_INVALID_VALUE;
  const size_t need = (size_t)(a->rows + 1) * sizeof(int64_t);
  if (room) return *bytes >= need ? count(h, &g, plan, room) : SPARSE_INVALID_VALUE;
  *bytes = need;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpGEMM_getNumProducts(const struct gemm_plan *plan, int64_t *products)
{
  if (!plan || plan->head.magic != PLAN || !products || plan->state == STATE_NEW) return SPARSE_INVALID_VALUE;
  *products = plan->products;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpGEMM_estimateMemory(GEMM_ARGUMENTS, float fraction, size_t *bytes3, void *room3,
                                                   size_t *bytes2)
{
  (void)algorithm, (void)fraction;
  const struct gemm g = GEMM;
  const sparse_status s = check(h, &g, plan, __func__);
  if (s) return s;
  if (!bytes3 || plan->state == STATE_NEW || (room3 && !bytes2)) return SPARSE_INVALID_VALUE;
  if (room3) *bytes2 = room_for(&g, plan);
  else *bytes3 = 8; /* nothing is estimated: the products have been counted */
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpGEMM_compute(GEMM_ARGUMENTS, size_t *bytes, void *room)
{
  (void)algorithm;
  const struct gemm g = GEMM;
  const sparse_status s = check(h, &g, plan, __func__);
  if (s) return s;
  if (!bytes || plan->state == STATE_NEW) return SPARSE_INVALID_VALUE;
  const size_t need = room_for(&g, plan);
  if (room) return *bytes >= need ? compute(h, &g, plan, room) : SPARSE_INVALID_VALUE;
  *bytes = need;
  return SPARSE_SUCCESS;
}
PUBLIC sparse_status cusparseSpGEMM_copy(GEMM_ARGUMENTS)
{
  (void)algorithm;
  const struct gemm g = GEMM;
  const sparse_status s = check(h, &g, plan, __func__);
  if (s) return s;
  return plan->state == STATE_COMPUTED ? copy(h, &g, plan) : SPARSE_INVALID_VALUE;
}

#define TURN_ARGUMENTS                                                                                            \
  struct sparse_handle *h, int m, int n, int nnz, const void *values, const int *offsets, const int *columns,    \
    void *csc_values, int *csc_offsets, int *csc_rows, int type, int action, int base, int algorithm

static sparse_status check_turn(const struct sparse_handle *h, int m, int n, int nnz, int type, int base)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (m < 0 || n < 0 || nnz < 0 || (base != 0 && base != 1)) return SPARSE_INVALID_VALUE;
  return sparse_value_bytes(type) ? SPARSE_SUCCESS : sparse_refuse("cusparseCsr2cscEx2", "values of this type");
}

PUBLIC sparse_status cusparseCsr2cscEx2_bufferSize(TURN_ARGUMENTS, size_t *bytes)
{
  (void)values, (void)offsets, (void)columns, (void)csc_values, (void)csc_offsets, (void)csc_rows, (void)action;
  (void)algorithm;
  const sparse_status s = check_turn(h, m, n, nnz, type, base);
  if (s) return s;
  if (!bytes) return SPARSE_INVALID_VALUE;
  *bytes = ((size_t)n + (size_t)nnz + 1) * sizeof(int);
  return SPARSE_SUCCESS;
}

static bool clear(const struct sparse_handle *h, int *list, int64_t n)
{
  return n == 0 || cuMemsetD32Async((uint64_t)(uintptr_t)list, 0, (size_t)n, h->stream) == DRIVER_OK;
}

PUBLIC sparse_status cusparseCsr2cscEx2(TURN_ARGUMENTS, void *room)
{
  (void)algorithm;
  const sparse_status s = check_turn(h, m, n, nnz, type, base);
  if (s) return s;
  if (!csc_offsets || (nnz && (!room || !columns || !csc_rows || !offsets))) return SPARSE_INVALID_VALUE;
  if (action && nnz && (!values || !csc_values)) return SPARSE_INVALID_VALUE;
  const struct ws_sparse_turn t = {
    .a = {.rows = m, .cols = n, .count = nnz, .offsets = offsets, .column = columns, .values = values, .base = base},
    .offsets = csc_offsets, .rows = csc_rows, .order = room, .at = (int *)room + nnz,
    .values = action ? csc_values : NULL, .bytes = sparse_value_bytes(type)};
  const struct ws_sparse_scan sum = {.n = n, .list = csc_offsets, .base = base};
  struct kernel_set *k = &h->kernels;
  if (!clear(h, csc_offsets, (int64_t)n + 1) || (nnz && !clear(h, t.at, n))) return SPARSE_EXECUTION_FAILED;
  if (nnz && !kernel_set_launch(k, KERNEL_sparse_turn_count, sparse_shape(nnz), h->stream, &t))
    return SPARSE_EXECUTION_FAILED;
  if (!sparse_scan(h, &sum)) return SPARSE_EXECUTION_FAILED;
  if (!nnz) return SPARSE_SUCCESS;
  const bool ok = kernel_set_launch(k, KERNEL_sparse_turn_place, sparse_shape(nnz), h->stream, &t) &&
                  kernel_set_launch(k, KERNEL_sparse_turn, sparse_shape(n), h->stream, &t);
  return ok ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}
