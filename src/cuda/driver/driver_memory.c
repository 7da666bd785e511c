/* Memory of the driver: allocation, copies, fills. */
#include <string.h>

#include "base/arith.h"
#include "cuda/core/advice.h"
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/copy_batch.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/synchronize.h"
#include "cuda/driver/driver_forms.h"

enum { PITCH_ALIGN = 512 };

/* Allocation -------------------------------------------------------------------------------------- */

static CUresult alloc(struct shim *s, CUdeviceptr *out, size_t bytes)
{
  uint64_t addr;
  CUresult r;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (capture_forbids_unsafe(s, &r)) return r;
  r = memory_alloc(s, board_current(s), &addr, bytes);
  if (r == CUDA_SUCCESS) *out = addr;
  return r;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
  DRIVER_OF((out, bytes), NEED_CONTEXT, alloc(s, out, bytes));
}

static CUresult alloc_pitched(struct shim *s, CUdeviceptr *out, size_t *pitch, size_t width,
                              size_t height, unsigned element)
{
  size_t bytes;
  if (!pitch || (element != 4 && element != 8 && element != 16) || width > SIZE_MAX - PITCH_ALIGN)
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = round_up(width, PITCH_ALIGN);
  if (__builtin_mul_overflow(*pitch, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  return alloc(s, out, bytes);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned element)
{
  DRIVER(NEED_CONTEXT, alloc_pitched(s, out, pitch, width, height, element));
}

static CUresult release(struct shim *s, uint64_t addr, unsigned kinds)
{
  CUresult r;
  if (!addr) return CUDA_SUCCESS;
  if (capture_forbids_unsafe(s, &r)) return r;
  stream_wait_memory(s, addr);
  if (graph_memory_exists(s, addr)) return graph_memory_give(s, addr);
  return memory_free(s, addr, kinds) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
  DRIVER_OF((p), NEED_CONTEXT, release(s, p, BLOCKS_TO_FREE));
}

CUresult cuMemFreeHost(void *p)
{
  DRIVER_OF((p), NEED_CONTEXT, release(s, (uint64_t)(uintptr_t)p, 1u << BLOCK_PINNED));
}

static CUresult alloc_host(struct shim *s, void **p, size_t bytes, enum block_kind kind, unsigned flags)
{
  CUresult r;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  return capture_forbids_unsafe(s, &r) ? r : memory_alloc_host(s, p, bytes, kind, flags);
}

CUresult cuMemAllocHost_v2(void **p, size_t bytes)
{
  DRIVER_OF((p, bytes), NEED_CONTEXT, alloc_host(s, p, bytes, BLOCK_PINNED, 0));
}

CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
  DRIVER_OF((p, bytes, flags), NEED_CONTEXT,
            flags <= 7 ? alloc_host(s, p, bytes, BLOCK_PINNED, flags) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult alloc_managed(struct shim *s, CUdeviceptr *out, size_t bytes, unsigned flags)
{
  void *p;
  if (!out || (flags != MANAGED_GLOBAL && flags != MANAGED_HOST)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = alloc_host(s, &p, bytes, BLOCK_MANAGED, flags);
  if (r == CUDA_SUCCESS) *out = (CUdeviceptr)(uintptr_t)p;
  return r;
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
  DRIVER_OF((out, bytes, flags), NEED_CONTEXT, alloc_managed(s, out, bytes, flags));
}

static CUresult memory_info(const struct board *b, size_t *left, size_t *total)
{
  if (!left || !total) return CUDA_ERROR_INVALID_VALUE;
  *total = board_memory_bytes(b);
  *left = memory_left(b);
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *left, size_t *total)
{
  DRIVER(NEED_CONTEXT, memory_info(board_current(s), left, total));
}

static CUresult address_range(struct shim *s, CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
  const struct block *b = memory_find(s, p);
  if (!b) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = b->device;
  if (bytes) *bytes = b->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, address_range(s, base, bytes, p));
}

/* Copies ------------------------------------------------------------------------------------------ */

static CUresult copy(struct shim *s, uint64_t dst, uint64_t src, size_t bytes, int kind,
                     CUstream stream, bool blocking)
{
  struct copy c = copy_linear(dst, src, bytes);
  struct stream *st = stream_of(s, stream);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  copy_direct(s, &c, kind);
  return enqueue_copy(s, &c, st, blocking);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
  DRIVER_OF((dst, src, bytes), NEED_CONTEXT, copy(s, dst, src, bytes, COPY_DEFAULT, NULL, true));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
  DRIVER_OF((dst, src, bytes, stream), NEED_CONTEXT, copy(s, dst, src, bytes, COPY_DEFAULT, stream, false));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
  DRIVER_OF((dst, src, bytes), NEED_CONTEXT,
            copy(s, dst, (uint64_t)(uintptr_t)src, bytes, COPY_HOST_TO_DEVICE, NULL, true));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
  DRIVER_OF((dst, src, bytes, stream), NEED_CONTEXT,
         copy(s, dst, (uint64_t)(uintptr_t)src, bytes, COPY_HOST_TO_DEVICE, stream, false));
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
  DRIVER_OF((dst, src, bytes), NEED_CONTEXT,
            copy(s, (uint64_t)(uintptr_t)dst, src, bytes, COPY_DEVICE_TO_HOST, NULL, true));
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
  DRIVER_OF((dst, src, bytes, stream), NEED_CONTEXT,
         copy(s, (uint64_t)(uintptr_t)dst, src, bytes, COPY_DEVICE_TO_HOST, stream, false));
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
  DRIVER_OF((dst, src, bytes), NEED_CONTEXT, copy(s, dst, src, bytes, COPY_DEVICE_TO_DEVICE, NULL, true));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
  DRIVER_OF((dst, src, bytes, stream), NEED_CONTEXT, copy(s, dst, src, bytes, COPY_DEVICE_TO_DEVICE, stream, false));
}

CUresult driver_copy_3d(struct shim *s, const CUDA_MEMCPY3D *p, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  struct copy c;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = copy_from_3d(s, &c, p);
  return r == CUDA_SUCCESS ? enqueue_copy(s, &c, st, blocking) : r;
}

static CUresult copy_2d(struct shim *s, const CUDA_MEMCPY2D *p, CUstream stream, bool blocking)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D q = {
    .src_x = p->src_x, .src_y = p->src_y, .src_type = p->src_type, .src_host = p->src_host,
    .src_device = p->src_device, .src_array = p->src_array, .src_pitch = p->src_pitch,
    .dst_x = p->dst_x, .dst_y = p->dst_y, .dst_type = p->dst_type, .dst_host = p->dst_host,
    .dst_device = p->dst_device, .dst_array = p->dst_array, .dst_pitch = p->dst_pitch,
    .width = p->width, .height = p->height, .depth = 1,
  };
  return driver_copy_3d(s, &q, stream, blocking);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p)
{
  DRIVER(NEED_CONTEXT, copy_2d(s, p, NULL, true));
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p)
{
  DRIVER(NEED_CONTEXT, copy_2d(s, p, NULL, true));
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream)
{
  DRIVER(NEED_CONTEXT, copy_2d(s, p, stream, false));
}

/* Batches. Before CUDA 13 they said which copy was at fault. */
CUresult cuMemcpyBatchAsync(const CUdeviceptr *dst, const CUdeviceptr *src, const size_t *bytes, size_t n,
                            const CUmemcpyAttributes *a, const size_t *first, size_t n_attributes, size_t *bad,
                            CUstream stream)
{
  const struct copy_batch b = { dst, src, bytes, n, a, first, n_attributes };
  DRIVER(NEED_CONTEXT, copy_batch_run(s, &b, bad, stream));
}

CUresult cuMemcpyBatchAsync_v2(const CUdeviceptr *dst, const CUdeviceptr *src, const size_t *bytes, size_t n,
                               const CUmemcpyAttributes *a, const size_t *first, size_t n_attributes,
                               CUstream stream)
{
  return cuMemcpyBatchAsync(dst, src, bytes, n, a, first, n_attributes, NULL, stream);
}

CUresult cuMemcpy3DBatchAsync(size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, size_t *bad, unsigned long long flags,
                              CUstream stream)
{
  DRIVER(NEED_CONTEXT, copy_batch_run_3d(s, op, n, flags, bad, stream));
}

CUresult cuMemcpy3DBatchAsync_v2(size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                                 CUstream stream)
{
  return cuMemcpy3DBatchAsync(n, op, NULL, flags, stream);
}

/* Fills ------------------------------------------------------------------------------------------- */

static CUresult fill(struct shim *s, CUdeviceptr p, size_t pitch, uint32_t value, unsigned size,
                     size_t width, size_t height, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  struct fill f = { .to = { .addr = p, .pitch = pitch, .device = true }, .value = value, .value_bytes = size,
                    .height = height };
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (__builtin_mul_overflow(width, size, &f.width)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_fill(s, &f, st, blocking);
}

/* D8, D16, D32: plain and 2D, each with and without a stream. */
#define FILLS(bits, type)                                                                          \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr p, type value, size_t n)                               \
  {                                                                                                \
    DRIVER(NEED_CONTEXT, fill(s, p, 0, value, sizeof(type), n, 1, NULL, true));                    \
  }                                                                                                \
  CUresult cuMemsetD##bits##Async(CUdeviceptr p, type value, size_t n, CUstream stream)            \
  {                                                                                                \
    DRIVER(NEED_CONTEXT, fill(s, p, 0, value, sizeof(type), n, 1, stream, false));                 \
  }                                                                                                \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr p, size_t pitch, type value, size_t w, size_t h)     \
  {                                                                                                \
    DRIVER(NEED_CONTEXT, fill(s, p, pitch, value, sizeof(type), w, h, NULL, true));                \
  }                                                                                                \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr p, size_t pitch, type value, size_t w, size_t h,   \
                                    CUstream stream)                                               \
  {                                                                                                \
    DRIVER(NEED_CONTEXT, fill(s, p, pitch, value, sizeof(type), w, h, stream, false));             \
  }

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

/* Advice ------------------------------------------------------------------------------------------ */

CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation location, unsigned flags,
                               CUstream stream)
{
  (void)flags;
  DRIVER(NEED_CONTEXT, advice_prefetch(s, p, bytes, location, stream));
}

CUresult cuMemPrefetchBatchAsync(const CUdeviceptr *p, const size_t *bytes, size_t n, const CUmemLocation *to,
                                 const size_t *first, size_t n_to, unsigned long long flags, CUstream stream)
{
  const struct advice_batch b = { p, bytes, n, to, first, n_to };
  DRIVER(NEED_CONTEXT, advice_prefetch_batch(s, &b, flags, stream));
}

/* What is discarded keeps its contents here, which is one of the values that it may have. */
CUresult cuMemDiscardBatchAsync(const CUdeviceptr *p, const size_t *bytes, size_t n, unsigned long long flags,
                                CUstream stream)
{
  const struct advice_batch b = { .addr = p, .bytes = bytes, .n = n };
  DRIVER(NEED_CONTEXT, advice_discard_batch(s, &b, flags, stream));
}

CUresult cuMemDiscardAndPrefetchBatchAsync(const CUdeviceptr *p, const size_t *bytes, size_t n,
                                           const CUmemLocation *to, const size_t *first, size_t n_to,
                                           unsigned long long flags, CUstream stream)
{
  return cuMemPrefetchBatchAsync(p, bytes, n, to, first, n_to, flags, stream);
}

CUresult cuMemAdvise_v2(CUdeviceptr p, size_t bytes, int advice, CUmemLocation location)
{
  DRIVER(NEED_CONTEXT, advice_give(s, p, bytes, advice, location));
}
