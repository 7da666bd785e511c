#include "libs/cusolver/sp_device.h"
#include "libs/cusolver/solver_blocks.h"

#include <stdlib.h>
#include <string.h>

/* Batches of so many matrices and more have each tree in one CTA. */
enum { WHOLE_TREES = 16, MOST_BATCH = 65535 };

struct table {
  const void *from;
  size_t bytes;
};

static size_t aligned(size_t n)
{
  return (n + 255) & ~(size_t)255;
}

enum { FRONTS, CHILDREN, ENTRIES, LISTS, ORDER, TASKS, TABLES };
static void tables_of(const struct sp_plan *p, struct table *t)
{
  int64_t entries = 0, children = 0;
  for (int i = 0; i < p->n_fronts; i++) entries += p->fronts[i].entry_count, children += p->fronts[i].child_count;
  t[FRONTS] = (struct table){p->fronts, (size_t)p->n_fronts * sizeof *p->fronts};
  t[CHILDREN] = (struct table){p->children, (size_t)children * sizeof *p->children};
  t[ENTRIES] = (struct table){p->entries, (size_t)entries * sizeof *p->entries};
  t[LISTS] = (struct table){p->lists.at, (size_t)p->lists.n * sizeof(int32_t)};
  t[ORDER] = (struct table){p->order, (size_t)p->n * sizeof(int32_t)};
  t[TASKS] = (struct table){p->tasks, ((size_t)p->n_tasks + 1) * sizeof *p->tasks};
}
static size_t tables_bytes(const struct sp_plan *p)
{
  struct table t[TABLES];
  size_t bytes = 0;
  tables_of(p, t);
  for (int i = 0; i < TABLES; i++) bytes += aligned(t[i].bytes);
  return bytes;
}

/* Elements that QR of the widest front by dense kernels takes. */
static int64_t dense_elements(const struct sp_plan *p)
{
  int64_t most = 0;
  for (int i = 0; i < p->n_fronts && p->kind == SP_QR; i++) {
    const int64_t e = p->fronts[i].wide ? solver_qr_elements(p->fronts[i].m, p->fronts[i].n) : 0;
    if (e > most) most = e;
  }
  return most;
}

/* Fronts, reflectors, right sides, diagonals of one matrix. */
static size_t matrix_bytes(const struct sp_plan *p, int t)
{
  return (size_t)(p->values + 2 * p->rows) * sp_bytes(t) + (size_t)p->n * sizeof(double);
}

size_t sp_device_bytes(const struct sp_plan *plan, int t, int batch)
{
  const size_t dense = batch == 1 ? (size_t)dense_elements(plan) * sp_bytes(t) : 0;
  const size_t each = matrix_bytes(plan, t), tables = tables_bytes(plan) + 2048 + dense;
  return each > (SIZE_MAX - tables) / (size_t)batch ? SIZE_MAX : each * (size_t)batch + tables;
}

static bool load(struct sp_device *d, const struct sp_handle *h)
{
  struct table t[TABLES];
  uint64_t at[TABLES];
  const size_t bytes = tables_bytes(d->plan);
  char *all = calloc(1, bytes);
  if (!all) return false;
  tables_of(d->plan, t);
  size_t used = 0;
  for (int i = 0; i < TABLES; i++) {
    if (t[i].bytes) memcpy(all + used, t[i].from, t[i].bytes);
    at[i] = used;
    used += aligned(t[i].bytes);
  }
  d->tables = sp_upload(h, all, bytes);
  free(all);
  d->args.fronts = sp_pointer(d->tables + at[FRONTS]), d->args.children = sp_pointer(d->tables + at[CHILDREN]);
  d->args.entries = sp_pointer(d->tables + at[ENTRIES]), d->args.lists = sp_pointer(d->tables + at[LISTS]);
  d->args.order = sp_pointer(d->tables + at[ORDER]), d->args.tasks = sp_pointer(d->tables + at[TASKS]);
  return d->tables != 0;
}

solver_status sp_device_open(struct sp_device *out, const struct sp_handle *h, const struct sp_plan *plan, int t,
                             int batch)
{
  struct sp_device d = {.plan = plan, .t = t, .batch = batch};
  const size_t bytes = sp_device_bytes(plan, t, batch), each = sp_bytes(t), n = (size_t)batch;
  memset(out, 0, sizeof *out);
  if (bytes == SIZE_MAX || cuMemAlloc_v2(&d.room, bytes) != DRIVER_OK) return SOLVER_ALLOC_FAILED;
  if (!load(&d, h)) {
    sp_device_close(&d);
    return SOLVER_ALLOC_FAILED;
  }
  uint64_t at = d.room;
  d.args.values = sp_pointer(at), at += aligned((size_t)plan->values * each * n);
  d.args.tau = sp_pointer(at), at += aligned((size_t)plan->rows * each * n);
  d.args.y = sp_pointer(at), at += aligned((size_t)plan->rows * each * n);
  d.args.diagonal = sp_pointer(at), at += aligned((size_t)plan->n * sizeof(double) * n);
  d.args.info = sp_pointer(at), at += aligned(sizeof(int32_t));
  d.dense = sp_pointer(at);
  d.args.values_stride = plan->values, d.args.y_stride = plan->rows, d.args.diagonal_stride = plan->n;
  d.args.b_stride = plan->m, d.args.x_stride = plan->n;
  d.args.by_rows = plan->kind == SP_CHOLESKY;
  *out = d;
  return SOLVER_SUCCESS;
}

void sp_device_close(struct sp_device *d)
{
  if (d->room) cuMemFree_v2(d->room);
  if (d->tables) cuMemFree_v2(d->tables);
  memset(d, 0, sizeof *d);
}

static bool launch(const struct sp_device *d, struct sp_handle *h, enum lib_kernel k, struct ws_fronts_args a,
                   int first, int count)
{
  enum { NARROW = 32 };
  const unsigned threads = d->plan->widest <= NARROW ? 32 : 256;
  a.tasks += first;
  bool good = true;
  for (int done = 0; good && done < d->batch; done += MOST_BATCH) {
    const int now = d->batch - done < MOST_BATCH ? d->batch - done : MOST_BATCH;
    const struct launch_shape shape = {(unsigned)count, (unsigned)now, 1, threads};
    struct ws_fronts_args part = a;
    const size_t each = sp_bytes(d->t), n = (size_t)done;
    part.a = (const char *)a.a + n * (size_t)a.a_stride * each,
    part.b = (const char *)a.b + n * (size_t)a.b_stride * each;
    part.values = (char *)a.values + n * (size_t)a.values_stride * each;
    part.tau = (char *)a.tau + n * (size_t)a.y_stride * each, part.y = (char *)a.y + n * (size_t)a.y_stride * each;
    part.x = (char *)a.x + n * (size_t)a.x_stride * each, part.diagonal = a.diagonal + n * (size_t)a.diagonal_stride;
    good = kernel_set_launch(&h->kernels, k, shape, h->stream, &part);
  }
  return good;
}

/* The factor of front i, which has been brought together, by dense kernels; `k` says what is on its diagonal. A front
 * of Cholesky is the lower part of a matrix by columns. */
static bool factor_wide(struct sp_device *d, struct sp_handle *h, enum lib_kernel k, int i, int task)
{
  const struct ws_front *f = &d->plan->fronts[i];
  const size_t each = sp_bytes(d->t);
  struct ws_solve_args s = {.m = f->m, .n = f->n, .lda = f->m, .a = (char *)d->args.values + (size_t)f->values * each,
                            .tau = (char *)d->args.tau + (size_t)f->y * each, .info = d->args.info};
  struct ws_fronts_args say = d->args;
  say.part = WS_FRONT_SAY;
  if (d->plan->kind == SP_CHOLESKY)
    return !solver_cholesky_columns(&h->kernels, h->stream, d->t, &s, f->pivots) && launch(d, h, k, say, task, 1);
  if (!h->dense && cusolverDnCreate(&h->dense)) return false;
  const struct solver_room room = {d->dense, dense_elements(d->plan)};
  h->dense->stream = h->stream;
  return !solver_qr(h->dense, d->t, &s, room) && launch(d, h, k, say, task, 1);
}

/* Launch l of the factor of one matrix, whose wide fronts have more than a CTA. */
static bool factor_launch(struct sp_device *d, struct sp_handle *h, enum lib_kernel k, int l)
{
  const struct sp_plan *p = d->plan;
  struct ws_fronts_args bring = d->args;
  bring.part = WS_FRONT_BRING;
  bool good = launch(d, h, k, bring, p->launches[l], p->launches[l + 1] - p->launches[l]);
  for (int t = p->launches[l]; good && t < p->launches[l + 1]; t++)
    if (p->fronts[p->tasks[t].first].wide) good = factor_wide(d, h, k, p->tasks[t].first, t);
  return good;
}

/* The kernel over the tree, from the leaves or from the root. */
static bool over_tree(struct sp_device *d, struct sp_handle *h, enum lib_kernel of_s, enum lib_kernel of_d,
                      int step)
{
  const enum lib_kernel k = (enum lib_kernel)((int)of_s + d->t * ((int)of_d - (int)of_s));
  const struct sp_plan *p = d->plan;
  struct ws_fronts_args a = d->args;
  a.step = step;
  if (d->batch >= WHOLE_TREES) return launch(d, h, k, a, p->n_tasks, 1);
  for (int i = 0; i < p->n_launches; i++) {
    const int l = step == WS_FRONT_BACKWARD ? p->n_launches - 1 - i : i;
    const bool cut = step == WS_FRONT_FACTOR && d->batch == 1 && p->n_wide;
    if (!(cut ? factor_launch(d, h, k, l) : launch(d, h, k, a, p->launches[l], p->launches[l + 1] - p->launches[l])))
      return false;
  }
  return true;
}

solver_status sp_device_factorise(struct sp_device *d, struct sp_handle *h, const void *a, int64_t a_stride,
                                  sp_number shift)
{
  d->args.a = a, d->args.a_stride = a_stride;
  d->args.shift_re = creal(shift), d->args.shift_im = cimag(shift);
  const bool qr = d->plan->kind == SP_QR;
  const bool good = over_tree(d, h, qr ? KERNEL_sfront_qr : KERNEL_sfront_cholesky,
                              qr ? KERNEL_dfront_qr : KERNEL_dfront_cholesky, WS_FRONT_FACTOR);
  return good ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

solver_status sp_device_solve(struct sp_device *d, struct sp_handle *h, const void *b, void *x)
{
  const int up = d->plan->kind == SP_QR ? WS_FRONT_TURN : WS_FRONT_FORWARD;
  d->args.b = b, d->args.x = x;
  const bool good = over_tree(d, h, KERNEL_sfront_solve, KERNEL_dfront_solve, up) &&
                    over_tree(d, h, KERNEL_sfront_solve, KERNEL_dfront_solve, WS_FRONT_BACKWARD);
  return good ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

bool sp_device_diagonal(const struct sp_device *d, const struct sp_handle *h, double *to)
{
  return sp_fetch(h, to, d->args.diagonal, (size_t)d->plan->n * sizeof *to);
}
