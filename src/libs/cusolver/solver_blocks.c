#include "libs/cusolver/solver_blocks.h"

enum { BLOCK = WS_SOLVE_BLOCK, SMALL = 2 * BLOCK };

static const double one[2] = {1}, minus_one[2] = {-1}, none[2];
static const float one_f32[2] = {1}, minus_one_f32[2] = {-1}, none_f32[2];

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static bool wide(int t) { return t == SOLVER_D || t == SOLVER_Z; }

static int data_of(int t)
{
  static const int data[] = {DATA_R_32F, DATA_R_64F, DATA_C_32F, DATA_C_64F};
  return data[t];
}

static solver_status as_solver(blas_status s)
{
  return s == BLAS_SUCCESS ? SOLVER_SUCCESS : s == BLAS_ALLOC_FAILED ? SOLVER_ALLOC_FAILED : SOLVER_EXECUTION_FAILED;
}

/* The handle of libcublas, on this one's stream. */
static struct blas *products_of(struct solver *h)
{
  h->blas->stream = h->stream;
  return h->blas;
}

struct factor {
  const void *a;
  int64_t ld;
  int op;
};

/* C[m][n] = op(A) op(B) of k, or less that. */
static solver_status multiply(struct solver *h, int t, struct factor a, struct factor b, struct factor c, int64_t m,
                              int64_t n, int64_t k, bool less)
{
  const int data = data_of(t);
  const struct blas_operand to = {c.a, c.ld, 0, data};
  const void *unit = wide(t) ? (const void *)one : one_f32;
  const void *minus = wide(t) ? (const void *)minus_one : minus_one_f32;
  const void *zero = wide(t) ? (const void *)none : none_f32;
  const struct blas_product p = {.op_a = a.op, .op_b = b.op, .m = m, .n = n, .k = k, .batch = 1,
                                 .a = {a.a, a.ld, 0, data}, .b = {b.a, b.ld, 0, data}, .c = to, .d = to, .scale = data,
                                 .alpha = less ? minus : unit, .beta = less ? unit : zero};
  return as_solver(blas_multiply(products_of(h), &p, h->stream, "cusolverDn"));
}

static solver_status triangle(struct solver *h, int t, const struct triangular_system *q)
{
  return q->m && q->n ? as_solver(blas_solve_triangle(products_of(h), t, q, "cusolverDn")) : SOLVER_SUCCESS;
}

solver_status solver_run(struct solver *h, enum lib_kernel of_s, int t, const struct ws_solve_args *a, int64_t matrices,
                         int64_t sides)
{
  const enum lib_kernel of_d = (enum lib_kernel)((int)of_s + KERNEL_dsolve_lu - KERNEL_ssolve_lu);
  return solver_launch(h, of_s, of_d, t, a, matrices, sides);
}

solver_status solver_panel(struct solver *h, enum lib_kernel of_s, int t, const struct ws_solve_args *a)
{
  const enum lib_kernel k = (enum lib_kernel)((int)of_s + t * (KERNEL_dsolve_lu - KERNEL_ssolve_lu));
  const struct launch_shape shape = {1, 1, 1, a->m > 256 ? WS_SOLVE_PANEL : 256};
  return kernel_set_launch(&h->kernels, k, shape, h->stream, a) ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

/* One of the kernels between blocks, for `work` elements of which a thread has `each`. */
static solver_status between(struct solver *h, enum lib_kernel of_s, int t, const void *a, int64_t work, int64_t each,
                             unsigned threads)
{
  enum { MOST_CTAS = 1024 };
  const enum lib_kernel k = (enum lib_kernel)((int)of_s + t * (KERNEL_dsolve_block - KERNEL_ssolve_block));
  const int64_t ctas = (work + each - 1) / each;
  if (work <= 0) return SOLVER_SUCCESS;
  const struct launch_shape shape = {(unsigned)least(ctas, MOST_CTAS), 1, 1, threads};
  return kernel_set_launch(&h->kernels, k, shape, h->stream, a) ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

static solver_status exchange(struct solver *h, int t, const struct ws_exchange_args *a)
{
  return between(h, KERNEL_ssolve_exchange, t, a, a->columns, 8, 256);
}

/* What info is where all is well: a matrix of no columns says so. */
static solver_status all_well(struct solver *h, int t, int32_t *info)
{
  const struct ws_solve_args nothing = {.lda = 1, .info = info};
  return info ? solver_panel(h, KERNEL_ssolve_lu, t, &nothing) : SOLVER_SUCCESS;
}

solver_status solver_with_lu(struct solver *h, int t, const struct ws_solve_args *s, int64_t sides)
{
  if (s->n <= SMALL || !sides) return solver_run(h, KERNEL_ssolve_with_lu, t, s, 1, sides);
  const bool plain = s->op == WS_SOLVE_N;
  const struct ws_exchange_args x = {.b = s->b, .ldb = s->ldb, .rows = s->n, .columns = sides, .count = s->n,
                                     .gap_at = sides, .pivots = s->pivots, .backwards = !plain};
  const struct triangular_system l = {BLAS_LEFT, BLAS_LOWER, s->op, BLAS_UNIT, s->n, sides, s->lda, s->ldb, s->a, s->b},
                                 u = {BLAS_LEFT, BLAS_UPPER, s->op, BLAS_NON_UNIT, s->n, sides, s->lda, s->ldb, s->a,
                                      s->b};
  solver_status status = plain && s->pivots ? exchange(h, t, &x) : SOLVER_SUCCESS;
  if (status == SOLVER_SUCCESS) status = triangle(h, t, plain ? &l : &u);
  if (status == SOLVER_SUCCESS) status = triangle(h, t, plain ? &u : &l);
  if (status == SOLVER_SUCCESS && !plain && s->pivots) status = exchange(h, t, &x);
  return status == SOLVER_SUCCESS ? all_well(h, t, s->info) : status;
}

solver_status solver_with_cholesky(struct solver *h, int t, const struct ws_solve_args *s, int64_t sides)
{
  if (s->n <= SMALL || !sides) return solver_run(h, KERNEL_ssolve_with_cholesky, t, s, 1, sides);
  struct triangular_system q = {BLAS_LEFT, s->upper ? BLAS_UPPER : BLAS_LOWER, s->upper ? BLAS_OP_C : BLAS_OP_N,
                                BLAS_NON_UNIT, s->n, sides, s->lda, s->ldb, s->a, s->b};
  solver_status status = triangle(h, t, &q);
  q.op = s->upper ? BLAS_OP_N : BLAS_OP_C;
  if (status == SOLVER_SUCCESS) status = triangle(h, t, &q);
  return status == SOLVER_SUCCESS ? all_well(h, t, s->info) : status;
}

/* A block of k reflectors of m rows, H = I - V T V^H, and room for products with it. */
struct reflectors {
  int64_t m, k, ldv;
  void *v, *t, *first, *second;
};

int64_t solver_qr_elements(int64_t rows, int64_t lines)
{
  return BLOCK * (rows + 2 * BLOCK + 2 * lines);
}

static struct reflectors places(int t, int64_t rows, int64_t lines, void *room)
{
  struct reflectors r = {.ldv = rows, .v = room};
  r.t = solver_at(room, t, BLOCK, 0, rows);
  r.first = solver_at(r.t, t, BLOCK, 0, BLOCK); /* V^H V, and what is not V's beside it */
  r.second = solver_at(r.first, t, BLOCK, 0, lines + BLOCK);
  return r;
}

/* Reflectors j to j + k of s, whose rows from j on they turn. With `clear` they and the columns right of them become
 * the identity's. */
static solver_status take(struct solver *h, int t, const struct ws_solve_args *s, struct reflectors *r, int64_t j,
                          int64_t k, bool clear)
{
  const struct ws_reflectors_args a = {.a = solver_at(s->a, t, s->lda, j, j), .v = r->v, .lda = s->lda, .ldv = r->ldv,
                                       .m = r->m, .n = s->n - j, .k = k, .above = j, .clear = clear};
  const struct ws_block_args b = {r->first, solver_at(s->tau, t, 1, j, 0), r->t, (int32_t)k};
  const struct factor v = {r->v, r->ldv, BLAS_OP_N}, turned = {r->v, r->ldv, BLAS_OP_C},
                      products = {r->first, BLOCK, BLAS_OP_N};
  r->k = k;
  solver_status status = between(h, KERNEL_ssolve_reflectors, t, &a, (r->m + j) * (clear ? s->n - j : k), 1024, 256);
  if (status == SOLVER_SUCCESS) status = multiply(h, t, turned, v, products, k, k, r->m, false);
  return status == SOLVER_SUCCESS ? between(h, KERNEL_ssolve_block, t, &b, 1, 1, 32) : status;
}

/* C = op(H) C of `lines` columns, or C op(H) of as many rows. */
static solver_status turn(struct solver *h, int t, const struct reflectors *r, int op, bool right, void *c, int64_t ldc,
                          int64_t lines)
{
  const struct factor v = {r->v, r->ldv, BLAS_OP_N}, turned = {r->v, r->ldv, BLAS_OP_C}, of_t = {r->t, BLOCK, op},
                      of_c = {c, ldc, BLAS_OP_N};
  const int64_t ld = right ? lines : BLOCK, k = r->k;
  const struct factor w = {r->first, ld, BLAS_OP_N}, x = {r->second, ld, BLAS_OP_N};
  if (!lines) return SOLVER_SUCCESS;
  solver_status status = right ? multiply(h, t, of_c, v, w, lines, k, r->m, false)
                               : multiply(h, t, turned, of_c, w, k, lines, r->m, false);
  if (status == SOLVER_SUCCESS)
    status = right ? multiply(h, t, w, of_t, x, lines, k, k, false) : multiply(h, t, of_t, w, x, k, lines, k, false);
  if (status != SOLVER_SUCCESS) return status;
  if (right) return multiply(h, t, x, turned, of_c, lines, r->m, k, true);
  return multiply(h, t, v, x, of_c, r->m, lines, k, true);
}

/* Whether k reflectors go block by block. */
static bool by_blocks(int64_t k, int64_t elements, struct solver_room room)
{
  return k > BLOCK && room.at && room.elements >= elements;
}

solver_status solver_qr(struct solver *h, int t, const struct ws_solve_args *s, struct solver_room room)
{
  const int64_t k = least(s->m, s->n), lda = s->lda;
  solver_status status = SOLVER_SUCCESS;
  if (!by_blocks(k, solver_qr_elements(s->m, s->n), room)) return solver_panel(h, KERNEL_ssolve_qr, t, s);
  struct reflectors r = places(t, s->m, s->n, room.at);
  for (int64_t j = 0; j < k && status == SOLVER_SUCCESS; j += BLOCK) {
    const int64_t nb = least(BLOCK, k - j), rest = s->n - j - nb;
    const struct ws_solve_args p = {.m = s->m - j, .n = nb, .lda = lda, .a = solver_at(s->a, t, lda, j, j),
                                    .tau = solver_at(s->tau, t, 1, j, 0), .info = s->info};
    status = solver_panel(h, KERNEL_ssolve_qr, t, &p);
    if (status != SOLVER_SUCCESS || !rest) continue;
    r.m = s->m - j;
    status = take(h, t, s, &r, j, nb, false);
    if (status == SOLVER_SUCCESS)
      status = turn(h, t, &r, BLAS_OP_C, false, solver_at(s->a, t, lda, j, j + nb), lda, rest);
  }
  return status;
}

solver_status solver_form_q(struct solver *h, int t, const struct ws_solve_args *s, struct solver_room room)
{
  solver_status status = SOLVER_SUCCESS;
  if (!by_blocks(s->k, solver_qr_elements(s->m, s->n), room)) return solver_run(h, KERNEL_ssolve_form_q, t, s, 1, 1);
  struct reflectors r = places(t, s->m, s->n, room.at);
  for (int64_t j = (s->k - 1) / BLOCK * BLOCK; j >= 0 && status == SOLVER_SUCCESS; j -= BLOCK) {
    const bool last = j + BLOCK >= s->k;
    struct ws_solve_args block = *s;
    r.m = s->m - j;
    if (!last) block.n = j + BLOCK; /* what is right of it is Q's already */
    status = take(h, t, &block, &r, j, least(BLOCK, s->k - j), true);
    if (status == SOLVER_SUCCESS)
      status = turn(h, t, &r, BLAS_OP_N, false, solver_at(s->a, t, s->lda, j, j), s->lda, s->n - j);
  }
  return status == SOLVER_SUCCESS ? all_well(h, t, s->info) : status;
}

solver_status solver_apply_q(struct solver *h, int t, const struct ws_solve_args *s, struct solver_room room)
{
  const bool right = s->right, backwards = (s->op == WS_SOLVE_N) != right;
  const int64_t rows = right ? s->n : s->m, lines = right ? s->m : s->n, blocks = (s->k + BLOCK - 1) / BLOCK;
  solver_status status = SOLVER_SUCCESS;
  if (!by_blocks(s->k, solver_qr_elements(rows, lines), room)) return solver_run(h, KERNEL_ssolve_apply_q, t, s, 1, 1);
  struct reflectors r = places(t, rows, lines, room.at);
  for (int64_t u = 0; u < blocks && status == SOLVER_SUCCESS; u++) {
    const int64_t j = (backwards ? blocks - 1 - u : u) * BLOCK;
    r.m = rows - j;
    status = take(h, t, s, &r, j, least(BLOCK, s->k - j), false);
    void *c = right ? solver_at(s->b, t, s->ldb, 0, j) : solver_at(s->b, t, s->ldb, j, 0);
    const int op = s->op == WS_SOLVE_N ? BLAS_OP_N : BLAS_OP_C;
    if (status == SOLVER_SUCCESS) status = turn(h, t, &r, op, right, c, s->ldb, lines);
  }
  return status == SOLVER_SUCCESS ? all_well(h, t, s->info) : status;
}
