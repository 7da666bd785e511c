/* LU by the 64-bit interface (Xgetrf, Xgetrs), whose pivots are 64-bit numbers. Kernels have 32-bit ones, which are the
 * lower halves of those: they are copied between. */
#include "libs/cusolver/solver_blocks.h"

enum { DEVICE_TO_DEVICE = 3 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* SOLVER_S to SOLVER_Z; -1: types that do not go together. */
static int type_of(int data, int other)
{
  return data == other ? solver_type(data) : -1;
}

static bool good(int t, int64_t m, int64_t n, int64_t lda)
{
  return t >= 0 && m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1);
}

/* Pivots of 32 bits, and elements that can be counted. */
static solver_status check_size(int64_t m, int64_t n, const char *function)
{
  const bool large = m > INT32_MAX || n > INT32_MAX;
  return large ? solver_refuse(function, "2^31 rows or columns") : SOLVER_SUCCESS;
}

/* Of each function there is one algorithm, whichever is asked for. */
PUBLIC solver_status cusolverDnSetAdvOptions(void *params, int function, int algorithm)
{
  enum { FUNCTIONS = 3, ALGORITHMS = 3 }; /* cusolverDnFunction_t, cusolverAlgMode_t: from 0 */
  const bool known = (unsigned)function < FUNCTIONS && (unsigned)algorithm < ALGORITHMS;
  return params && known ? SOLVER_SUCCESS : SOLVER_INVALID_VALUE;
}

PUBLIC solver_status cusolverDnXgetrf_bufferSize(const struct solver *h, void *params, int64_t m, int64_t n, int data,
                                                 const void *a, int64_t lda, int compute, size_t *device, size_t *host)
{
  (void)params, (void)a;
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(type_of(data, compute), m, n, lda) || !device || !host) return SOLVER_INVALID_VALUE;
  const solver_status status = check_size(m, n, __func__);
  if (status != SOLVER_SUCCESS) return status;
  *device = ((size_t)least(m, n) + 1) * sizeof(int32_t);
  *host = 0;
  return SOLVER_SUCCESS;
}

PUBLIC solver_status cusolverDnXgetrf(struct solver *h, void *params, int64_t m, int64_t n, int data, void *a,
                                      int64_t lda, int64_t *pivots, int compute, SOLVER_ROOM, int *info)
{
  (void)params, (void)on_host, (void)host_bytes;
  const int t = type_of(data, compute);
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(t, m, n, lda) || !info) return SOLVER_INVALID_VALUE;
  solver_status status = check_size(m, n, __func__);
  if (status != SOLVER_SUCCESS) return status;
  const int64_t k = least(m, n);
  if (pivots && (!work || bytes < (size_t)k * sizeof(int32_t))) return SOLVER_INVALID_VALUE;
  const struct ws_solve_args s = {.m = m, .n = n, .lda = lda, .a = a, .pivots = pivots ? work : NULL, .info = info};
  status = solver_lu(h, t, &s);
  if (status != SOLVER_SUCCESS || !pivots || !k) return status;
  const bool ok = !cuMemsetD32Async((uint64_t)(uintptr_t)pivots, 0, 2 * (size_t)k, h->stream) &&
                  !cudaMemcpy2DAsync(pivots, 8, work, 4, 4, (size_t)k, DEVICE_TO_DEVICE, h->stream);
  return ok ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

/* Room for the halves of n pivots: the handle's, as there is none of the program's. What still reads it in another
 * stream comes first. */
static bool take_room(struct solver *h, int64_t n)
{
  const bool enough = h->room_pivots >= n;
  if (h->pivots && (!enough || h->pivots_stream != h->stream)) cuStreamSynchronize(h->pivots_stream);
  h->pivots_stream = h->stream;
  if (enough) return true;
  if (h->pivots) cuMemFree_v2(h->pivots);
  h->pivots = 0, h->room_pivots = 0;
  if (cuMemAlloc_v2(&h->pivots, (size_t)n * sizeof(int32_t))) return false;
  h->room_pivots = n;
  return true;
}

PUBLIC solver_status cusolverDnXgetrs(struct solver *h, void *params, int op, int64_t n, int64_t sides, int data,
                                      const void *a, int64_t lda, const int64_t *pivots, int data_b, void *b,
                                      int64_t ldb, int *info)
{
  (void)params;
  const int t = type_of(data, data_b);
  if (!solver_handle_is(h)) return SOLVER_NOT_INITIALIZED;
  if (!good(t, n, n, lda) || !good(t, n, sides, ldb) || (unsigned)op > WS_SOLVE_C) return SOLVER_INVALID_VALUE;
  const solver_status status = check_size(n, sides, __func__);
  if (status != SOLVER_SUCCESS) return status;
  struct ws_solve_args s = {.n = n, .lda = lda, .ldb = ldb, .a = (void *)(uintptr_t)a, .b = b, .op = op, .info = info};
  if (pivots && n) {
    if (!take_room(h, n)) return SOLVER_ALLOC_FAILED;
    s.pivots = (int32_t *)(uintptr_t)h->pivots;
    if (cudaMemcpy2DAsync(s.pivots, 4, pivots, 8, 4, (size_t)n, DEVICE_TO_DEVICE, h->stream))
      return SOLVER_EXECUTION_FAILED;
  }
  return solver_with_lu(h, t, &s, sides);
}
