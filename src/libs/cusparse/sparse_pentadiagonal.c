/* Interleaved batches of systems of five diagonals of libcusparse (gpsvInterleavedBatch), by QR factors. */
#include "libs/cusparse/sparse_product.h"

static const size_t element[] = {4, 8, 8, 16};

static sparse_status check(const struct sparse_handle *h, int algorithm, int m, int batch)
{
  if (!sparse_handle_is(h)) return SPARSE_NOT_INITIALIZED;
  return algorithm == 0 && m >= 1 && batch >= 0 ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

/* 2^31 systems of 2^31 rows do not overflow it. */
static sparse_status room(const struct sparse_handle *h, int algorithm, int m, int batch, int kind, size_t *bytes)
{
  const sparse_status status = check(h, algorithm, m, batch);
  if (status || !bytes) return status ? status : SPARSE_INVALID_VALUE;
  unsigned long long all;
  if (__builtin_mul_overflow((unsigned long long)m * WS_PENTADIAGONAL_ROOM * element[kind], (unsigned long long)batch,
                             &all))
    return SPARSE_INVALID_VALUE;
  *bytes = all > 8 ? (size_t)all : 8;
  return SPARSE_SUCCESS;
}

static sparse_status solve(struct sparse_handle *h, int algorithm, const struct ws_pentadiagonal *g, int kind)
{
  const sparse_status status = check(h, algorithm, (int)g->m, (int)g->batch);
  if (status) return status;
  if (g->batch == 0) return SPARSE_SUCCESS;
  bool all = g->x && g->work;
  for (int k = 0; k < 5; k++) all = all && g->diagonal[k];
  if (!all) return SPARSE_INVALID_VALUE;
  struct launch_shape shape = sparse_shape(g->batch * 2); /* CTAs of 128 threads */
  shape.threads = 128;
  const enum lib_kernel k = (enum lib_kernel)(KERNEL_spentadiagonal + kind);
  return kernel_set_launch(&h->kernels, k, shape, h->stream, g) ? SPARSE_SUCCESS : SPARSE_EXECUTION_FAILED;
}

#define FIVE const void *lower2, const void *lower, const void *diagonal, const void *upper, const void *upper2

#define FUNCTIONS(l, kind)                                                                                           \
  PUBLIC sparse_status cusparse##l##gpsvInterleavedBatch_bufferSizeExt(const struct sparse_handle *h, int algorithm, \
                                                                       int m, FIVE, const void *x, int batch,        \
                                                                       size_t *bytes)                                \
  {                                                                                                                  \
    (void)lower2, (void)lower, (void)diagonal, (void)upper, (void)upper2, (void)x;                                   \
    return room(h, algorithm, m, batch, kind, bytes);                                                                \
  }                                                                                                                  \
  PUBLIC sparse_status cusparse##l##gpsvInterleavedBatch(struct sparse_handle *h, int algorithm, int m, FIVE,        \
                                                         void *x, int batch, void *work)                             \
  {                                                                                                                  \
    const struct ws_pentadiagonal g = {{lower2, lower, diagonal, upper, upper2}, x, work, m, batch};                 \
    return solve(h, algorithm, &g, kind);                                                                            \
  }
FUNCTIONS(S, 0)
FUNCTIONS(D, 1)
FUNCTIONS(C, 2)
FUNCTIONS(Z, 3)
