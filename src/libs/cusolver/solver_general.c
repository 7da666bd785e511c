/* Eigenvalues and right eigenvectors of general matrices. */
#include "libs/cusolver/solver_types.h"
#include "libs/kernels/schur_args.h"

struct general {
  int left, right; /* whether eigenvectors of these sides are wanted */
  int64_t n, lda, ldv;
  int a, w, v, compute; /* cudaDataType */
};

/* Whether there is a kernel; types of eigenvectors matter only where these are wanted. */
static solver_status check(const struct general *q)
{
  const int t = solver_type(q->a);
  if ((unsigned)q->left > 1 || (unsigned)q->right > 1 || q->n < 0 || q->lda < 1 || q->lda < q->n)
    return SOLVER_INVALID_VALUE;
  if (t < 0 || q->compute != q->a || (q->right && (q->ldv < 1 || q->ldv < q->n))) return SOLVER_INVALID_VALUE;
  if (q->left) return solver_refuse("cusolverDnXgeev", "left eigenvectors");
  if (q->w != q->a && solver_type(q->w) != (t | 2)) return SOLVER_INVALID_VALUE;
  if (q->right && q->v != q->a) return solver_refuse("cusolverDnXgeev", "eigenvectors of another type than the matrix");
  return q->n > 1 << 24 ? solver_refuse("cusolverDnXgeev", "so large matrices") : SOLVER_SUCCESS;
}

static size_t need(const struct general *q)
{
  return (size_t)WS_SCHUR_ROOM(q->n) * (solver_type(q->a) & 1 ? 16 : 8);
}

PUBLIC solver_status cusolverDnXgeev_bufferSize(const struct solver *h, void *params, int left, int right, int64_t n,
                                                int data, const void *a, int64_t lda, int data_w, const void *w,
                                                int data_l, const void *l, int64_t ldl, int data_r, const void *r,
                                                int64_t ldr, int compute, size_t *device, size_t *host)
{
  const struct general q = {left, right, n, lda, ldr, data, data_w, data_r, compute};
  (void)params, (void)a, (void)w, (void)data_l, (void)l, (void)ldl, (void)r;
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!device || !host) return SOLVER_INVALID_VALUE;
  *host = 0;
  *device = need(&q);
  return check(&q);
}

PUBLIC solver_status cusolverDnXgeev(struct solver *h, void *params, int left, int right, int64_t n, int data, void *a,
                                     int64_t lda, int data_w, void *w, int data_l, void *l, int64_t ldl, int data_r,
                                     void *r, int64_t ldr, int compute, SOLVER_ROOM, int *info)
{
  const struct general q = {left, right, n, lda, ldr, data, data_w, data_r, compute};
  (void)params, (void)data_l, (void)l, (void)ldl, (void)on_host, (void)host_bytes;
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  const solver_status status = check(&q);
  if (status != SOLVER_SUCCESS) return status;
  if (bytes < need(&q)) return SOLVER_INVALID_VALUE;
  const struct ws_schur_args s = {.n = n, .lda = lda, .ldv = ldr, .a = a, .w = w, .v = right ? r : NULL, .work = work,
                                  .apart = solver_type(data_w) < SOLVER_C, .info = info};
  return solver_launch(h, KERNEL_sschur, KERNEL_dschur, solver_type(data), &s, 1, 1);
}
