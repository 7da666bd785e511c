/* Bytes of an array from an offset on, over the ends of its rows, which have no gaps. */
#ifndef WS_CUDA_ARRAY_BYTES_H
#define WS_CUDA_ARRAY_BYTES_H

#include "cuda/core/array.h"

/* A copy between them and memory. kind: cudaMemcpyKind. CUDA_ERROR_INVALID_VALUE: they are not in the first slice. */
CUresult array_bytes_copy(struct shim *, CUarray, uint64_t x, uint64_t y, uint64_t memory, size_t bytes, bool to_array,
                          int kind, CUstream, bool blocking);
/* A blocking copy from array to array in a stream, each over the ends of its own rows. kind: cudaMemcpyKind. */
CUresult array_bytes_between(struct shim *, CUarray dst, uint64_t dst_x, uint64_t dst_y, CUarray src, uint64_t src_x,
                             uint64_t src_y, size_t bytes, int kind, CUstream);

#endif
