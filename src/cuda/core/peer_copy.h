/* Copies between devices or contexts, as the interfaces have them: addresses say where the bytes are. */
#ifndef WS_CUDA_PEER_COPY_H
#define WS_CUDA_PEER_COPY_H

#include "cuda/core/copy.h"

/* A copy that could be read (r), whose sides the addresses tell unless `directed`. */
CUresult peer_copy(struct shim *, CUresult r, struct copy *, bool directed, CUstream, bool blocking);
/* Bytes of which it is known (r) whether both ends exist. */
CUresult peer_copy_bytes(struct shim *, CUresult r, uint64_t dst, uint64_t src, size_t bytes, CUstream, bool blocking);

#endif
