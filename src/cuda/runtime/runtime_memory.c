/* Memory of the runtime: allocation, copies, fills, symbols. */
#include <string.h>

#include "base/arith.h"
#include "cuda/core/advice.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/copy_batch.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/synchronize.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/runtime_forms.h"

enum { PITCH_ALIGN = 512 }; /* cudaDevAttrTexturePitchAlignment divides it */

/* Allocation -------------------------------------------------------------------------------------- */

static CUresult alloc(struct shim *s, void **p, size_t bytes)
{
  uint64_t addr = 0;
  CUresult r;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (capture_forbids_unsafe(s, &r)) return r;
  r = bytes ? memory_alloc(s, board_current(s), &addr, bytes) : CUDA_SUCCESS; /* nothing: a null pointer */
  if (r == CUDA_SUCCESS) *p = (void *)(uintptr_t)addr;
  return r;
}

CUresult cudaMalloc(void **p, size_t bytes)
{
  RUNTIME_OF((p, bytes), NEED_CONTEXT, alloc(s, p, bytes));
}

static CUresult release(struct shim *s, void *p, unsigned kinds)
{
  CUresult r;
  if (!p) return CUDA_SUCCESS;
  if (capture_forbids_unsafe(s, &r)) return r;
  stream_wait_memory(s, (uint64_t)(uintptr_t)p); /* cudaFree waits for the device */
  if (graph_memory_exists(s, (uint64_t)(uintptr_t)p)) return graph_memory_give(s, (uint64_t)(uintptr_t)p);
  return memory_free(s, (uint64_t)(uintptr_t)p, kinds) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cudaFree(void *p)
{
  RUNTIME_OF((p), NEED_CONTEXT, release(s, p, BLOCKS_TO_FREE));
}

CUresult cudaFreeHost(void *p)
{
  RUNTIME_OF((p), NEED_CONTEXT, release(s, p, 1u << BLOCK_PINNED));
}

static CUresult alloc_host(struct shim *s, void **p, size_t bytes, enum block_kind kind, unsigned flags)
{
  CUresult r;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (capture_forbids_unsafe(s, &r)) return r;
  if (bytes == 0 && kind == BLOCK_PINNED) return *p = NULL, CUDA_SUCCESS;
  return memory_alloc_host(s, p, bytes, kind, flags);
}

CUresult cudaMallocHost(void **p, size_t bytes)
{
  RUNTIME_OF((p, bytes), NEED_CONTEXT, alloc_host(s, p, bytes, BLOCK_PINNED, 0));
}

CUresult cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
  RUNTIME_OF((p, bytes, flags), NEED_CONTEXT, flags > 7 ? CUDA_ERROR_INVALID_VALUE
                                  : alloc_host(s, p, bytes, BLOCK_PINNED, flags));
}

CUresult cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
  RUNTIME_OF((p, bytes, flags), NEED_CONTEXT, flags != MANAGED_GLOBAL && flags != MANAGED_HOST
                            ? CUDA_ERROR_INVALID_VALUE
                            : alloc_host(s, p, bytes, BLOCK_MANAGED, flags));
}

static CUresult alloc_pitched(struct shim *s, void **p, size_t *pitch, size_t width, size_t rows)
{
  size_t bytes;
  if (!p || !pitch || width > SIZE_MAX - PITCH_ALIGN) return CUDA_ERROR_INVALID_VALUE;
  *pitch = round_up(width, PITCH_ALIGN);
  if (__builtin_mul_overflow(*pitch, rows, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  return alloc(s, p, bytes);
}

CUresult cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
  RUNTIME(NEED_CONTEXT, alloc_pitched(s, p, pitch, width, height));
}

static CUresult alloc_3d(struct shim *s, cudaPitchedPtr *p, cudaExtent e)
{
  size_t rows;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (__builtin_mul_overflow(e.height, e.depth, &rows)) return CUDA_ERROR_OUT_OF_MEMORY;
  p->xsize = e.width;
  p->ysize = e.height;
  return alloc_pitched(s, &p->ptr, &p->pitch, e.width, rows);
}

CUresult cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent)
{
  RUNTIME(NEED_CONTEXT, alloc_3d(s, p, extent));
}

static CUresult memory_info(const struct board *b, size_t *left, size_t *total)
{
  if (left) *left = memory_left(b);
  if (total) *total = board_memory_bytes(b);
  return CUDA_SUCCESS;
}

CUresult cudaMemGetInfo(size_t *left, size_t *total)
{
  RUNTIME(NEED_CONTEXT, memory_info(board_current(s), left, total));
}

static CUresult pointer_attributes(struct shim *s, cudaPointerAttributes *a, const void *p)
{
  static const int types[] = { [BLOCK_DEVICE] = 2, [BLOCK_PINNED] = 1, [BLOCK_MANAGED] = 3,
                               [BLOCK_REGISTERED] = 1, [BLOCK_MAPPED] = 2, [BLOCK_OPENED] = 2,
                               [BLOCK_IMPORTED] = 2 };
  uint64_t addr = (uint64_t)(uintptr_t)p;
  const struct block *b = memory_find(s, addr);
  if (!a) return CUDA_ERROR_INVALID_VALUE;
  a->device_pointer = a->host_pointer = NULL;
  a->device = b ? (int)b->board->number : -2; /* cudaInvalidDeviceId */
  a->type = b ? types[b->kind] : memory_is_device(s, addr) ? 2 : 0;
  if (a->type == 2 && !b) a->device = (int)board_of(s, addr)->number, a->device_pointer = (void *)(uintptr_t)p;
  if (a->type == 0) a->host_pointer = (void *)(uintptr_t)p;
  if (!b) return CUDA_SUCCESS;
  uint64_t offset = addr - (addr - b->addr < b->bytes ? b->addr : b->device);
  a->device_pointer = (void *)(uintptr_t)(b->device + offset);
  if (memory_on_host(b)) a->host_pointer = (void *)(uintptr_t)(b->addr + offset);
  return CUDA_SUCCESS;
}

CUresult cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
  RUNTIME(NEED_CONTEXT, pointer_attributes(s, a, p));
}

/* Copies ------------------------------------------------------------------------------------------ */

static CUresult copy(struct shim *s, struct copy c, int kind, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!copy_direct(s, &c, kind)) return cudaErrorInvalidMemcpyDirection;
  return enqueue_copy(s, &c, st, blocking);
}

static struct copy linear(void *dst, const void *src, size_t bytes)
{
  return copy_linear((uint64_t)(uintptr_t)dst, (uint64_t)(uintptr_t)src, bytes);
}

CUresult cudaMemcpy(void *dst, const void *src, size_t bytes, int kind)
{
  RUNTIME_OF((dst, src, bytes, kind), NEED_CONTEXT, copy(s, linear(dst, src, bytes), kind, NULL, true));
}

CUresult cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, CUstream stream)
{
  RUNTIME_OF((dst, src, bytes, kind, stream), NEED_CONTEXT, copy(s, linear(dst, src, bytes), kind, stream, false));
}

static CUresult copy_2d(struct shim *s, void *dst, size_t dst_pitch, const void *src,
                        size_t src_pitch, size_t width, size_t height, int kind, CUstream stream,
                        bool blocking)
{
  struct copy c = linear(dst, src, width);
  c.dst.pitch = dst_pitch;
  c.src.pitch = src_pitch;
  c.height = height;
  if (width > dst_pitch || width > src_pitch) return cudaErrorInvalidPitchValue;
  return copy(s, c, kind, stream, blocking);
}

CUresult cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                      size_t height, int kind)
{
  RUNTIME_OF((dst, dst_pitch, src, src_pitch, width, height, kind), NEED_CONTEXT,
          copy_2d(s, dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true));
}

CUresult cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                           size_t width, size_t height, int kind, CUstream stream)
{
  RUNTIME_OF((dst, dst_pitch, src, src_pitch, width, height, kind, stream), NEED_CONTEXT,
          copy_2d(s, dst, dst_pitch, src, src_pitch, width, height, kind, stream, false));
}

CUresult runtime_copy_3d(struct shim *s, const cudaMemcpy3DParms *p, CUstream stream, bool blocking)
{
  struct copy c;
  CUresult r = copy_from_3d_parms(s, &c, p);
  return r == CUDA_SUCCESS ? copy(s, c, p->kind, stream, blocking) : r;
}

/* Fills ------------------------------------------------------------------------------------------- */

static CUresult fill(struct shim *s, void *p, size_t pitch, int value, size_t width, size_t height,
                     CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  const struct fill f = { .to = { .addr = (uint64_t)(uintptr_t)p, .pitch = pitch, .device = true },
                          .value = (uint32_t)value & 0xff, .value_bytes = 1, .width = width, .height = height };
  return st ? enqueue_fill(s, &f, st, blocking) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cudaMemset(void *p, int value, size_t bytes)
{
  RUNTIME_OF((p, value, bytes), NEED_CONTEXT, fill(s, p, bytes, value, bytes, 1, NULL, true));
}

CUresult cudaMemsetAsync(void *p, int value, size_t bytes, CUstream stream)
{
  RUNTIME_OF((p, value, bytes, stream), NEED_CONTEXT, fill(s, p, bytes, value, bytes, 1, stream, false));
}

CUresult cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
  RUNTIME(NEED_CONTEXT, fill(s, p, pitch, value, width, height, NULL, true));
}

CUresult cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                           CUstream stream)
{
  RUNTIME(NEED_CONTEXT, fill(s, p, pitch, value, width, height, stream, false));
}

static CUresult fill_3d(struct shim *s, cudaPitchedPtr p, int value, cudaExtent e, CUstream stream,
                        bool blocking)
{
  if (!e.width || !e.height) return CUDA_SUCCESS; /* not 2^64 times nothing */
  if (e.height > p.ysize && e.depth > 1) return CUDA_ERROR_INVALID_VALUE;
  for (size_t z = 0; z < e.depth; z++) {
    void *plane = (char *)p.ptr + z * p.pitch * p.ysize;
    CUresult r = fill(s, plane, p.pitch, value, e.width, e.height, stream, blocking);
    if (r != CUDA_SUCCESS) return r;
  }
  return CUDA_SUCCESS;
}

CUresult cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent)
{
  RUNTIME(NEED_CONTEXT, fill_3d(s, p, value, extent, NULL, true));
}

CUresult cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, fill_3d(s, p, value, extent, stream, false));
}

/* Symbols ----------------------------------------------------------------------------------------- */

CUresult rt_symbol_copy(struct shim *s, struct copy *c, const void *symbol, void *other, size_t bytes,
                        size_t offset, bool to_symbol, int kind)
{
  CUdeviceptr addr;
  size_t size;
  CUresult r = rt_variable(s, symbol, &addr, &size);
  if (r != CUDA_SUCCESS) return r;
  if (offset > size || bytes > size - offset) return CUDA_ERROR_INVALID_VALUE;
  if (kind == (to_symbol ? COPY_DEVICE_TO_HOST : COPY_HOST_TO_DEVICE) || kind == COPY_HOST_TO_HOST)
    return cudaErrorInvalidMemcpyDirection;
  void *device = (void *)(uintptr_t)(addr + offset);
  *c = to_symbol ? linear(device, other, bytes) : linear(other, device, bytes);
  return CUDA_SUCCESS;
}

static CUresult symbol_copy(struct shim *s, const void *symbol, void *host, size_t bytes,
                            size_t offset, bool to_symbol, int kind, CUstream stream, bool blocking)
{
  struct copy c;
  CUresult r = rt_symbol_copy(s, &c, symbol, host, bytes, offset, to_symbol, kind);
  return r == CUDA_SUCCESS ? copy(s, c, kind, stream, blocking) : r;
}

CUresult cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind)
{
  RUNTIME_OF((symbol, src, bytes, offset, kind), NEED_CONTEXT,
             symbol_copy(s, symbol, (void *)(uintptr_t)src, bytes, offset, true, kind, NULL, true));
}

CUresult cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
                                 int kind, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, symbol_copy(s, symbol, (void *)(uintptr_t)src, bytes, offset, true, kind,
                                    stream, false));
}

CUresult cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind)
{
  RUNTIME_OF((dst, symbol, bytes, offset, kind), NEED_CONTEXT,
             symbol_copy(s, symbol, dst, bytes, offset, false, kind, NULL, true));
}

CUresult cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
                                   int kind, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, symbol_copy(s, symbol, dst, bytes, offset, false, kind, stream, false));
}

static CUresult symbol_address(struct shim *s, void **p, const void *symbol)
{
  CUdeviceptr addr;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_variable(s, symbol, &addr, NULL);
  if (r == CUDA_SUCCESS) *p = (void *)(uintptr_t)addr;
  return r;
}

CUresult cudaGetSymbolAddress(void **p, const void *symbol)
{
  RUNTIME(NEED_CONTEXT, symbol_address(s, p, symbol));
}

CUresult cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
  RUNTIME(NEED_CONTEXT, bytes ? rt_variable(s, symbol, NULL, bytes) : CUDA_ERROR_INVALID_VALUE);
}

/* Advice ------------------------------------------------------------------------------------------ */

CUresult cudaMemPrefetchAsync(const void *p, size_t bytes, uint64_t location, uint64_t fourth, uint64_t fifth)
{
  RUNTIME(NEED_CONTEXT, advice_prefetch(s, (uint64_t)(uintptr_t)p, bytes, advice_location(location),
                                        advice_stream(location, fourth, fifth)));
}

CUresult cudaMemPrefetchBatchAsync(void **p, const size_t *bytes, size_t n, const CUmemLocation *to,
                                   const size_t *first, size_t n_to, unsigned long long flags, CUstream stream)
{
  const struct advice_batch b = { (const CUdeviceptr *)p, bytes, n, to, first, n_to };
  RUNTIME(NEED_CONTEXT, advice_prefetch_batch(s, &b, flags, stream));
}

/* What is discarded keeps its contents here, which is one of the values that it may have. */
CUresult cudaMemDiscardBatchAsync(void **p, const size_t *bytes, size_t n, unsigned long long flags,
                                  CUstream stream)
{
  const struct advice_batch b = { .addr = (const CUdeviceptr *)p, .bytes = bytes, .n = n };
  RUNTIME(NEED_CONTEXT, advice_discard_batch(s, &b, flags, stream));
}

CUresult cudaMemDiscardAndPrefetchBatchAsync(void **p, const size_t *bytes, size_t n, const CUmemLocation *to,
                                             const size_t *first, size_t n_to, unsigned long long flags,
                                             CUstream stream)
{
  return cudaMemPrefetchBatchAsync(p, bytes, n, to, first, n_to, flags, stream);
}

CUresult cudaMemAdvise(const void *p, size_t bytes, int advice, uint64_t location)
{
  RUNTIME(NEED_CONTEXT,
          advice_give(s, (uint64_t)(uintptr_t)p, bytes, advice, advice_location(location)));
}

/* Batches, in the form of CUDA 13. ------------------------------------------------------------------- */

CUresult cudaMemcpyBatchAsync(void *const *dst, const void *const *src, const size_t *bytes, size_t n,
                              const CUmemcpyAttributes *a, const size_t *first, size_t n_attributes,
                              CUstream stream)
{
  const struct copy_batch b = {
      (const CUdeviceptr *)dst, (const CUdeviceptr *)src, bytes, n, a, first, n_attributes};
  RUNTIME(NEED_CONTEXT, copy_batch_run(s, &b, NULL, stream));
}

CUresult cudaMemcpy3DBatchAsync(size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                                CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy_batch_run_3d(s, op, n, flags, NULL, stream));
}
