/* Copies and fills between any two kinds of memory: what they do, and when. */
#ifndef WS_CUDA_COPY_H
#define WS_CUDA_COPY_H

#include "cuda/core/memory.h"

/* One side. Addresses as the program gave them. */
struct copy_side {
  uint64_t addr;         /* first byte */
  uint64_t pitch, slice; /* bytes from row to row, from plane to plane */
  bool device;           /* access through the guest's memory */
};

struct copy {
  struct copy_side dst, src;
  uint64_t width, height, depth; /* bytes, rows, planes */
};

/* One row. */
struct copy copy_linear(uint64_t dst, uint64_t src, uint64_t bytes);
/* Sets which sides are device memory from a cudaMemcpyKind; COPY_DEFAULT: from the addresses. False:
 * no such kind. */
bool copy_direct(struct shim *, struct copy *, int kind);

/* Copies, in stream order; blocking: the host waits, as the blocking functions of the interface do (not
 * for copies inside the device). CUDA_ERROR_INVALID_VALUE: outside of what is allocated; nothing
 * is copied then. */
CUresult copy_run(struct shim *, const struct copy *, struct cu_stream *, bool blocking);

/* Fills rows of device memory with a value of 1, 2 or 4 bytes. */
CUresult fill_run(struct shim *, const struct copy_side *, uint32_t value, unsigned value_bytes,
                  uint64_t width, uint64_t height, struct cu_stream *, bool blocking);

#endif
