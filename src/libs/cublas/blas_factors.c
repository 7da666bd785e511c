/* Batches of small dense systems: LU, inverses, QR, least squares, by the kernels of libcusolver (solve.cu). */
#include "libs/cublas/blas_types.h"
#include "libs/kernels/batch_args.h"
#include "libs/kernels/solve_args.h"

enum { MOST_SIDES = 65535 }; /* of a launch: its grid's second number */

static int64_t at_least_1(int64_t n)
{
  return n > 1 ? n : 1;
}

/* Launches a kernel of type t (s, d, c, z) for `matrices` with `sides` right sides each. */
static blas_status run(struct blas *h, enum lib_kernel of_s, int t, const struct ws_solve_args *a, int matrices,
                       int sides)
{
  const enum lib_kernel k = (enum lib_kernel)((int)of_s + t * (KERNEL_dsolve_lu - KERNEL_ssolve_lu));
  if (!matrices || !sides) return BLAS_SUCCESS;
  if (sides > MOST_SIDES) return blas_refuse("cublas?getrsBatched", "so many right sides");
  const struct launch_shape shape = {(unsigned)matrices, (unsigned)sides, 1, 256};
  return kernel_set_launch(&h->kernels, k, shape, h->stream, a) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

/* Says as LAPACK does which argument is wrong, counted from 1 behind the handle. */
static bool wrong(int *info, int argument)
{
  if (info) *info = -argument;
  return true;
}

static blas_status lu(struct blas *h, int t, int n, const void *a, int lda, int *pivots, int *info, int batch)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (n < 0 || lda < at_least_1(n) || batch < 0 || !info) return BLAS_INVALID_VALUE;
  const struct ws_solve_args s = {.m = n, .n = n, .lda = lda, .a = (void *)(uintptr_t)a, .pointers = true,
                                  .pivots = pivots, .pivot_stride = n, .info = info};
  return run(h, KERNEL_ssolve_lu, t, &s, batch, 1);
}

struct systems {
  int op, n, sides, lda, ldb, batch;
};

static blas_status with_lu(struct blas *h, int t, const struct systems *q, const void *a, const int *pivots, void *b,
                           int *info)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  const bool bad = ((unsigned)q->op >= BLAS_OPS && wrong(info, 1)) || (q->n < 0 && wrong(info, 2)) ||
                   (q->sides < 0 && wrong(info, 3)) || (q->lda < at_least_1(q->n) && wrong(info, 5)) ||
                   (q->ldb < at_least_1(q->n) && wrong(info, 8)) || (q->batch < 0 && wrong(info, 10));
  if (bad || !info) return BLAS_INVALID_VALUE;
  *info = 0;
  const struct ws_solve_args s = {.n = q->n, .lda = q->lda, .ldb = q->ldb, .a = (void *)(uintptr_t)a, .b = b,
                                  .op = q->op, .pivots = (int *)(uintptr_t)pivots, .pivot_stride = q->n,
                                  .pointers = true};
  return run(h, KERNEL_ssolve_with_lu, t, &s, q->batch, q->sides);
}

static blas_status inverse(struct blas *h, int t, const struct systems *q, const void *a, const int *pivots, void *c,
                           int *info)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (q->n < 0 || q->lda < at_least_1(q->n) || q->ldb < at_least_1(q->n) || q->batch < 0 || !info)
    return BLAS_INVALID_VALUE;
  const struct ws_solve_args s = {.n = q->n, .lda = q->lda, .ldb = q->ldb, .a = (void *)(uintptr_t)a, .b = c,
                                  .pivots = (int *)(uintptr_t)pivots, .pivot_stride = q->n, .pointers = true,
                                  .invert = true, .info = info};
  return run(h, KERNEL_ssolve_with_lu, t, &s, q->batch, q->n);
}

/* Inverses of small matrices, which stay as they are: of copies in the workspace, as many at a time as it holds. Each
 * takes there n pivots, a pointer and n x n elements. */
static blas_status inverse_of_copies(struct blas *h, int t, const struct systems *q, const void *const *a, void **c,
                                     int *info)
{
  enum { MOST_N = 32, BORDER = 256 };
  static const size_t element[] = {4, 8, 8, 16};
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (q->n < 0 || q->n > MOST_N || q->lda < at_least_1(q->n) || q->ldb < at_least_1(q->n) || q->batch < 0 || !info)
    return BLAS_INVALID_VALUE;
  if (!q->n || !q->batch) return BLAS_SUCCESS;
  const size_t each = (size_t)q->n * ((size_t)q->n * element[t] + sizeof(int)) + sizeof(void *);
  size_t bytes;
  const uint64_t room = blas_room(h, h->stream, each + 2 * BORDER, &bytes);
  if (!room) return BLAS_ALLOC_FAILED;
  const size_t most = (bytes - 2 * BORDER) / each;
  blas_status status = BLAS_SUCCESS;
  for (int at = 0, some; at < q->batch && status == BLAS_SUCCESS; at += some) {
    some = most < (size_t)(q->batch - at) ? (int)most : q->batch - at;
    const uint64_t pointers = room + ((uint64_t)some * (uint64_t)q->n * sizeof(int) + BORDER - 1) / BORDER * BORDER;
    const uint64_t copies = pointers + ((uint64_t)some * sizeof(void *) + BORDER - 1) / BORDER * BORDER;
    const struct ws_batch_args g = {a + at, (void *)copies, (void *)pointers, q->lda, q->n};
    const struct launch_shape shape = {(unsigned)some, 1, 1, 256};
    const enum lib_kernel k = (enum lib_kernel)((int)KERNEL_sbatch_copy + t);
    if (!kernel_set_launch(&h->kernels, k, shape, h->stream, &g)) return BLAS_EXECUTION_FAILED;
    const struct systems part = {BLAS_OP_N, q->n, q->n, q->n, q->ldb, some};
    status = lu(h, t, q->n, (const void *)pointers, q->n, (int *)room, info + at, some);
    if (status == BLAS_SUCCESS)
      status = inverse(h, t, &part, (const void *)pointers, (const int *)room, c + at, info + at);
  }
  return status;
}

static blas_status qr(struct blas *h, int t, int m, int n, const void *a, int lda, const void *tau, int *info,
                      int batch)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  const bool bad = (m < 0 && wrong(info, 1)) || (n < 0 && wrong(info, 2)) || (lda < at_least_1(m) && wrong(info, 4)) ||
                   (batch < 0 && wrong(info, 7));
  if (bad || !info) return BLAS_INVALID_VALUE;
  *info = 0;
  const struct ws_solve_args s = {.m = m, .n = n, .lda = lda, .a = (void *)(uintptr_t)a, .pointers = true,
                                  .tau = (void *)(uintptr_t)tau};
  return m && n ? run(h, KERNEL_ssolve_qr, t, &s, batch, 1) : BLAS_SUCCESS;
}

struct least_squares {
  int op, m, n, sides, lda, ldc, batch;
};

static blas_status check_squares(const struct least_squares *q, int *info)
{
  const bool bad = ((unsigned)q->op >= BLAS_OPS && wrong(info, 1)) || (q->m < 0 && wrong(info, 2)) ||
                   (q->n < 0 && wrong(info, 3)) || (q->sides < 0 && wrong(info, 4)) ||
                   (q->lda < at_least_1(q->m) && wrong(info, 6)) || (q->ldc < at_least_1(q->m) && wrong(info, 8)) ||
                   (q->batch < 0 && wrong(info, 11));
  if (bad || !info) return BLAS_INVALID_VALUE;
  if (q->op != BLAS_OP_N) return blas_refuse("cublas?gelsBatched", "transposed matrices (nor has cuBLAS)");
  if (q->m < q->n) return blas_refuse("cublas?gelsBatched", "fewer rows than columns (nor has cuBLAS)");
  *info = 0;
  return BLAS_SUCCESS;
}

/* The x that makes |c - a x| smallest, in the first n rows of c; a becomes its QR factors. As many matrices at a time
 * as there is room for the factors of their reflectors. */
static blas_status squares(struct blas *h, int t, const struct least_squares *q, void **a, void **c, int *info,
                           int *singular)
{
  static const size_t element[] = {4, 8, 8, 16};
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  blas_status status = check_squares(q, info);
  if (status != BLAS_SUCCESS || !q->n || !q->batch) return status;
  const size_t each = (size_t)q->n * element[t];
  size_t bytes;
  const uint64_t room = blas_room(h, h->stream, each, &bytes);
  if (!room) return BLAS_ALLOC_FAILED;
  for (int at = 0, some; at < q->batch && status == BLAS_SUCCESS; at += some) {
    some = bytes / each < (size_t)(q->batch - at) ? (int)(bytes / each) : q->batch - at;
    struct ws_solve_args s = {.m = q->m, .n = q->n, .lda = q->lda, .ldb = q->ldc, .a = a + at, .b = c + at,
                              .pointers = true, .tau = (void *)room, .tau_stride = q->n};
    status = run(h, KERNEL_ssolve_qr, t, &s, some, 1);
    s.k = q->n, s.n = q->sides, s.op = WS_SOLVE_C;
    if (status == BLAS_SUCCESS) status = run(h, KERNEL_ssolve_apply_q, t, &s, some, 1);
    s.n = q->n, s.info = singular ? singular + at : NULL;
    if (status == BLAS_SUCCESS) status = run(h, KERNEL_ssolve_with_upper, t, &s, some, q->sides);
  }
  return status;
}

/* The functions of type l, whose number is t. */
#define FUNCTIONS(l, t)                                                                                               \
  PUBLIC blas_status cublas##l##getrfBatched(struct blas *h, int n, void *const *a, int lda, int *pivots, int *info,  \
                                             int batch)                                                               \
  {                                                                                                                   \
    return lu(h, t, n, a, lda, pivots, info, batch);                                                                  \
  }                                                                                                                   \
  PUBLIC blas_status cublas##l##getrsBatched(struct blas *h, int op, int n, int sides, const void *const *a, int lda, \
                                             const int *pivots, void **b, int ldb, int *info, int batch)              \
  {                                                                                                                   \
    const struct systems q = {op, n, sides, lda, ldb, batch};                                                         \
    return with_lu(h, t, &q, a, pivots, b, info);                                                                     \
  }                                                                                                                   \
  PUBLIC blas_status cublas##l##getriBatched(struct blas *h, int n, const void *const *a, int lda, const int *pivots, \
                                             void **c, int ldc, int *info, int batch)                                 \
  {                                                                                                                   \
    const struct systems q = {BLAS_OP_N, n, n, lda, ldc, batch};                                                      \
    return inverse(h, t, &q, a, pivots, c, info);                                                                     \
  }                                                                                                                   \
  PUBLIC blas_status cublas##l##matinvBatched(struct blas *h, int n, const void *const *a, int lda, void **c,         \
                                              int ldc, int *info, int batch)                                          \
  {                                                                                                                   \
    const struct systems q = {BLAS_OP_N, n, n, lda, ldc, batch};                                                      \
    return inverse_of_copies(h, t, &q, a, c, info);                                                                   \
  }                                                                                                                   \
  PUBLIC blas_status cublas##l##geqrfBatched(struct blas *h, int m, int n, void *const *a, int lda, void *const *tau, \
                                             int *info, int batch)                                                    \
  {                                                                                                                   \
    return qr(h, t, m, n, a, lda, tau, info, batch);                                                                  \
  }                                                                                                                   \
  PUBLIC blas_status cublas##l##gelsBatched(struct blas *h, int op, int m, int n, int sides, void **a, int lda,       \
                                            void **c, int ldc, int *info, int *singular, int batch)                   \
  {                                                                                                                   \
    const struct least_squares q = {op, m, n, sides, lda, ldc, batch};                                                \
    return squares(h, t, &q, a, c, info, singular);                                                                   \
  }
FUNCTIONS(S, 0)
FUNCTIONS(D, 1)
FUNCTIONS(C, 2)
FUNCTIONS(Z, 3)
