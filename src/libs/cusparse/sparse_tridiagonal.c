/* Tridiagonal systems of libcusparse: gtsv2, its batches at a stride and interleaved ones. All have the same kernel,
 * which pivots; so where the reference does not, results are as right or better. */
#include "libs/cusparse/sparse_product.h"

static const size_t element[] = {4, 8, 8, 16};

struct tridiagonal {
  int64_t m, n, ldx, batch, step, stride;
  const void *lower, *diagonal, *upper;
  void *x;
};

static sparse_status check(const struct sparse_handle *h, const struct tridiagonal *t)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  if (t->m < 3 || t->n < 0 || t->batch < 0 || t->ldx < t->m || t->stride < 0) return SPARSE_INVALID_VALUE;
  return SPARSE_SUCCESS;
}

/* 2^31 systems of 2^31 rows do not overflow it. */
static sparse_status room(const struct sparse_handle *h, const struct tridiagonal *t, int kind, size_t *bytes)
{
  const sparse_status status = check(h, t);
  if (status || !bytes) return status ? status : SPARSE_INVALID_VALUE;
  unsigned long long all;
  if (__builtin_mul_overflow((unsigned long long)t->m * WS_TRIDIAGONAL_ROOM * element[kind],
                             (unsigned long long)t->batch, &all))
    return SPARSE_INVALID_VALUE;
  *bytes = all > 8 ? (size_t)all : 8;
  return SPARSE_SUCCESS;
}

static sparse_status solve(struct sparse_handle *h, const struct tridiagonal *t, int kind, void *work)
{
  const sparse_status status = check(h, t);
  if (status) return status;
  if (t->n == 0 || t->batch == 0) return SPARSE_SUCCESS;
  if (!t->lower || !t->diagonal || !t->upper || !t->x || !work) return SPARSE_INVALID_VALUE;
  const struct ws_tridiagonal g = {.lower = t->lower, .diagonal = t->diagonal, .upper = t->upper, .x = t->x,
                                   .work = work, .m = t->m, .n = t->n, .ldx = t->ldx, .step = t->step,
                                   .stride = t->stride};
  const struct launch_shape shape = {(unsigned)t->batch, 1, 1, t->n > 32 ? 128 : 32};
  const enum lib_kernel k = (enum lib_kernel)(KERNEL_stridiagonal + kind);
  return kernel_set_launch(&h->kernels, k, shape, h->stream, &g) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

#define ONE(x) {m, n, ldb, 1, 1, 0, lower, diagonal, upper, x}
#define STRIDED(x) {m, 1, m, batch, 1, stride, lower, diagonal, upper, x}
#define INTERLEAVED(x) {m, 1, m, batch, batch, 1, lower, diagonal, upper, x}

/* What all of them begin with. */
#define THREE const void *lower, const void *diagonal, const void *upper

/* The functions of type l, of the given number. The size of a buffer is asked for without matrices. */
#define FUNCTIONS(l, kind)                                                                                            \
  PUBLIC sparse_status cusparse##l##gtsv2_bufferSizeExt(const struct sparse_handle *h, int m, int n, THREE,           \
                                                        const void *b, int ldb, size_t *bytes)                        \
  {                                                                                                                   \
    const struct tridiagonal t = ONE(NULL);                                                                           \
    (void)b;                                                                                                          \
    return room(h, &t, kind, bytes);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsv2(struct sparse_handle *h, int m, int n, THREE, void *b, int ldb, void *work) \
  {                                                                                                                   \
    const struct tridiagonal t = ONE(b);                                                                              \
    return solve(h, &t, kind, work);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsv2_nopivot_bufferSizeExt(const struct sparse_handle *h, int m, int n, THREE,   \
                                                                const void *b, int ldb, size_t *bytes)                \
  {                                                                                                                   \
    const struct tridiagonal t = ONE(NULL);                                                                           \
    (void)b;                                                                                                          \
    return room(h, &t, kind, bytes);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsv2_nopivot(struct sparse_handle *h, int m, int n, THREE, void *b, int ldb,     \
                                                  void *work)                                                         \
  {                                                                                                                   \
    const struct tridiagonal t = ONE(b);                                                                              \
    return solve(h, &t, kind, work);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsv2StridedBatch_bufferSizeExt(const struct sparse_handle *h, int m, THREE,      \
                                                                    const void *x, int batch, int stride,             \
                                                                    size_t *bytes)                                    \
  {                                                                                                                   \
    const struct tridiagonal t = STRIDED(NULL);                                                                       \
    (void)x;                                                                                                          \
    return room(h, &t, kind, bytes);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsv2StridedBatch(struct sparse_handle *h, int m, THREE, void *x, int batch,      \
                                                      int stride, void *work)                                         \
  {                                                                                                                   \
    const struct tridiagonal t = STRIDED(x);                                                                          \
    return solve(h, &t, kind, work);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsvInterleavedBatch_bufferSizeExt(const struct sparse_handle *h, int algorithm,  \
                                                                       int m, THREE, const void *x, int batch,        \
                                                                       size_t *bytes)                                 \
  {                                                                                                                   \
    const struct tridiagonal t = INTERLEAVED(NULL);                                                                   \
    (void)algorithm, (void)x;                                                                                         \
    return room(h, &t, kind, bytes);                                                                                  \
  }                                                                                                                   \
  PUBLIC sparse_status cusparse##l##gtsvInterleavedBatch(struct sparse_handle *h, int algorithm, int m, THREE,        \
                                                         void *x, int batch, void *work)                              \
  {                                                                                                                   \
    const struct tridiagonal t = INTERLEAVED(x);                                                                      \
    (void)algorithm;                                                                                                  \
    return solve(h, &t, kind, work);                                                                                  \
  }
FUNCTIONS(S, 0)
FUNCTIONS(D, 1)
FUNCTIONS(C, 2)
FUNCTIONS(Z, 3)
