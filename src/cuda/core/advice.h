/* Advice about managed memory, and prefetches. What was said is kept, per allocation, and can be read back; where
 * managed memory moves (managed.h), prefetches move it. */
#ifndef WS_CUDA_ADVICE_H
#define WS_CUDA_ADVICE_H

#include "cuda/core/memory.h"

/* A location from the argument register that holds it: CUDA 13 passes {type, id}; CUDA 12 passes under
 * the same names a device number, or -1 for the host. With one device, 0, these do not collide. */
CUmemLocation advice_location(uint64_t argument);
/* … and the stream from the two behind it: CUDA 13 has flags before the stream, CUDA 12 the stream alone. */
CUstream advice_stream(uint64_t location, uint64_t fourth, uint64_t fifth);
/* CUmem_advise. CUDA_ERROR_INVALID_VALUE: not managed memory, or no such advice. */
CUresult advice_give(struct shim *, uint64_t addr, uint64_t bytes, int advice, CUmemLocation);
CUresult advice_prefetch(struct shim *, uint64_t addr, uint64_t bytes, CUmemLocation, CUstream);
/* All of a block of managed memory has this preferred location from now on. */
void advice_prefer(struct shim *, struct block *, CUmemLocation);
/* Lists of ranges; place i is for the ranges from first[i] on. The stream must not be the legacy one. */
struct advice_batch {
  const CUdeviceptr *addr;
  const size_t *bytes;
  size_t n;
  const CUmemLocation *to;
  const size_t *first;
  size_t n_to;
};

CUresult advice_prefetch_batch(struct shim *, const struct advice_batch *, unsigned long long flags, CUstream);
CUresult advice_discard_batch(struct shim *, const struct advice_batch *, unsigned long long flags, CUstream);
/* CUmem_range_attribute. */
CUresult advice_get(struct shim *, void *out, size_t out_bytes, int attribute, uint64_t addr,
                    uint64_t bytes);
/* Several at once. */
CUresult advice_get_all(struct shim *, void **out, const size_t *out_bytes, const int *attribute,
                        size_t n, uint64_t addr, uint64_t bytes);
/* Attachment of managed memory to a stream (CUmemAttach_flags), which only says who may touch it when. A variable
 * of a module is no allocation of its own; anything else that is not managed is CUDA_ERROR_INVALID_VALUE. */
CUresult advice_attach(struct shim *, CUstream, uint64_t addr, uint64_t bytes, unsigned flags);

#endif
