#include "cuda/core/array_bytes.h"

#include "cuda/core/enqueue.h"
#include "cuda/core/shim.h"

/* Where `bytes` bytes from byte x of row y on lie. CUDA_ERROR_INVALID_VALUE: not in the first slice. */
static CUresult array_bytes_at(struct shim *s, CUarray array, uint64_t x, uint64_t y, size_t bytes, uint64_t *addr)
{
  const struct array *a = array_of(s, array);
  uint64_t row, at;
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (__builtin_mul_overflow(y, a->image.row_bytes, &row) || __builtin_add_overflow(row, x, &at) ||
      at > a->image.slice_bytes || bytes > a->image.slice_bytes - at)
    return CUDA_ERROR_INVALID_VALUE;
  *addr = a->image.base + at;
  return CUDA_SUCCESS;
}

CUresult array_bytes_copy(struct shim *s, CUarray array, uint64_t x, uint64_t y, uint64_t memory, size_t bytes,
                          bool to_array, int kind, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  uint64_t in;
  CUresult r = array_bytes_at(s, array, x, y, bytes, &in);
  if (r != CUDA_SUCCESS) return r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  struct copy c = to_array ? copy_linear(in, memory, bytes) : copy_linear(memory, in, bytes);
  if (!copy_direct(s, &c, kind)) return cudaErrorInvalidMemcpyDirection;
  *(to_array ? &c.dst.device : &c.src.device) = true;
  return enqueue_copy(s, &c, st, blocking);
}

CUresult array_bytes_between(struct shim *s, CUarray dst, uint64_t dst_x, uint64_t dst_y, CUarray src, uint64_t src_x,
                             uint64_t src_y, size_t bytes, int kind, CUstream stream)
{
  uint64_t at;
  CUresult r = array_bytes_at(s, dst, dst_x, dst_y, bytes, &at);
  if (r != CUDA_SUCCESS) return r;
  return array_bytes_copy(s, src, src_x, src_y, at, bytes, false, kind, stream, true);
}
