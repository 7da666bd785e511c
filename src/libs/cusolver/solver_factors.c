/* LU and Cholesky of large dense matrices: block by block of columns, from left to right, by kernels/solve_steps.cu. */
#include "libs/cusolver/solver_blocks.h"

enum { BLOCK = WS_SOLVE_BLOCK };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

struct queue {
  struct kernel_set *kernels;
  driver_stream stream;
};

static solver_status launch(const struct queue *q, enum lib_kernel k, struct launch_shape shape, const void *args)
{
  return kernel_set_launch(q->kernels, k, shape, q->stream, args) ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

static solver_status step(const struct queue *q, enum lib_kernel of_s, int t, struct launch_shape shape,
                          const void *args)
{
  const int types_apart = KERNEL_dsolve_update - KERNEL_ssolve_update;
  return launch(q, (enum lib_kernel)((int)of_s + t * types_apart), shape, args);
}

static enum lib_kernel of_one_matrix(enum lib_kernel of_s, int t)
{
  return (enum lib_kernel)((int)of_s + t * (KERNEL_dsolve_lu - KERNEL_ssolve_lu));
}

/* Kernels of a block's LU: so many columns, so many rows of each thread. */
struct columns {
  enum lib_kernel kernel;
  int columns, rows;
};

/* Those with more columns first. */
static const struct columns kinds[][4] = {
    {{KERNEL_ssolve_lu_32, 32, 2}, {KERNEL_ssolve_lu_16, 16, 4}, {.columns = 0}},
    {{KERNEL_dsolve_lu_32, 32, 1}, {KERNEL_dsolve_lu_16, 16, 2}, {KERNEL_dsolve_lu_8, 8, 4}, {.columns = 0}},
    {{KERNEL_csolve_lu_32, 32, 1}, {KERNEL_csolve_lu_16, 16, 2}, {.columns = 0}},
    {{KERNEL_zsolve_lu_16, 16, 1}, {.columns = 0}},
};

/* The kernel that holds blocks of m rows in registers; NULL: there is none. */
static const struct columns *kind_of(int t, int64_t m)
{
  for (const struct columns *k = kinds[t]; k->columns; k++)
    if (m <= (int64_t)WS_SOLVE_PANEL * k->rows) return k;
  return NULL;
}

static solver_status lu_columns(struct solver *h, int t, const struct columns *k, const struct ws_solve_args *p)
{
  if (!k) return solver_panel(h, KERNEL_ssolve_lu, t, p);
  const int64_t threads = (p->m + k->rows - 1) / k->rows;
  const struct queue q = {&h->kernels, h->stream};
  return launch(&q, k->kernel, (struct launch_shape){1, 1, 1, (unsigned)(threads + 31) / 32 * 32}, p);
}

/* c[m][n] -= a b, or one half of it. */
static solver_status update(const struct queue *q, int t, const struct ws_update_args *u)
{
  static const int tiles[] = {64, 64, 64, 32};
  const int64_t rows = (u->m + tiles[t] - 1) / tiles[t], columns = (u->n + tiles[t] - 1) / tiles[t];
  if (!rows || !columns) return SOLVER_SUCCESS;
  if (columns > 65535) return solver_refuse("cusolverDn", "matrices of so many columns");
  const struct launch_shape whole = {(unsigned)rows, (unsigned)columns, 1, 256},
                            half = {(unsigned)(rows * (rows + 1) / 2), 1, 1, 256};
  return step(q, KERNEL_ssolve_update, t, u->half ? half : whole, u);
}

/* Columns j to j + nb are factors; the others follow. */
static solver_status lu_others(struct solver *h, int t, const struct ws_solve_args *s, int64_t j, int64_t nb)
{
  const int64_t below = s->m - j - nb, rest = s->n - j - nb, lda = s->lda;
  const struct ws_rows_args x = {.rows = {.b = s->a, .ldb = lda, .rows = s->m, .columns = s->n - nb, .first = j,
                                          .count = nb, .gap_at = j, .gap = nb, .pivots = s->pivots},
                                 .block = solver_at(s->a, t, lda, j, j), .nb = (int32_t)nb};
  const struct ws_update_args u = {.a = solver_at(s->a, t, lda, j + nb, j), .b = solver_at(s->a, t, lda, j, j + nb),
                                   .c = solver_at(s->a, t, lda, j + nb, j + nb), .lda = lda, .ldb = lda, .ldc = lda,
                                   .m = below, .n = rest, .k = (int32_t)nb};
  const struct queue q = {&h->kernels, h->stream};
  const struct launch_shape shape = {(unsigned)((x.rows.columns + WS_SOLVE_ROWS - 1) / WS_SOLVE_ROWS), 1, 1, 256};
  solver_status status = x.rows.columns ? step(&q, KERNEL_ssolve_lu_rows, t, shape, &x) : SOLVER_SUCCESS;
  return status == SOLVER_SUCCESS ? update(&q, t, &u) : status;
}

solver_status solver_lu(struct solver *h, int t, const struct ws_solve_args *s)
{
  const int64_t k = least(s->m, s->n);
  solver_status status = SOLVER_SUCCESS;
  if (!k) return solver_panel(h, KERNEL_ssolve_lu, t, s); /* says that all is well */
  for (int64_t j = 0, nb; j < k && status == SOLVER_SUCCESS; j += nb) {
    const struct columns *kind = kind_of(t, s->m - j);
    nb = least(kind ? kind->columns : BLOCK, k - j);
    const struct ws_solve_args p = {.m = s->m - j, .n = nb, .lda = s->lda, .a = solver_at(s->a, t, s->lda, j, j),
                                    .pivots = s->pivots ? s->pivots + j : NULL, .info = s->info, .first = j};
    status = lu_columns(h, t, kind, &p);
    if (status == SOLVER_SUCCESS) status = lu_others(h, t, s, j, nb);
  }
  return status;
}

/* A block's factor comes from the step before, that of the first from the kernel of one matrix. */
solver_status solver_cholesky_columns(struct kernel_set *kernels, driver_stream stream, int t,
                                      const struct ws_solve_args *s, int64_t columns)
{
  const struct queue q = {kernels, stream};
  const int64_t lda = s->lda;
  struct ws_solve_args first = *s;
  first.n = least(columns, BLOCK);
  const enum lib_kernel of_first = of_one_matrix(KERNEL_ssolve_cholesky, t);
  solver_status status = launch(&q, of_first, (struct launch_shape){1, 1, 1, 256}, &first);
  for (int64_t j = 0, nb; j < columns && status == SOLVER_SUCCESS; j += nb) {
    nb = least(columns - j, BLOCK);
    const int64_t next = j + nb, rest = s->n - next;
    if (!rest) break;
    void *beside = s->upper ? solver_at(s->a, t, lda, j, next) : solver_at(s->a, t, lda, next, j);
    const struct ws_below_args b = {.block = solver_at(s->a, t, lda, j, j), .a = beside, .lda = lda, .rows = rest,
                                    .nb = (int32_t)nb, .upper = s->upper, .info = s->info};
    const struct ws_update_args u = {.a = beside, .b = beside, .c = solver_at(s->a, t, lda, next, next), .lda = lda,
                                     .ldb = lda, .ldc = lda, .m = rest, .n = rest, .first = next, .k = (int32_t)nb,
                                     .half = 1, .upper = s->upper, .next = (int32_t)least(columns - next, BLOCK),
                                     .info = s->info};
    const struct launch_shape shape = {(unsigned)((rest + BLOCK - 1) / BLOCK), 1, 1, 32};
    status = step(&q, KERNEL_ssolve_below, t, shape, &b);
    if (status == SOLVER_SUCCESS) status = update(&q, t, &u);
  }
  return status;
}

solver_status solver_cholesky(struct solver *h, int t, const struct ws_solve_args *s)
{
  return solver_cholesky_columns(&h->kernels, h->stream, t, s, s->n);
}
