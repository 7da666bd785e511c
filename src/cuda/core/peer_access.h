/* What a GPU reaches of the memory of another: pages of the other's image that are in its own, too.
 *
 *   peers    Where a context of the GPU has peer access to a context of the other, all of its device memory.
 *   alone    Memory of pools whose access says so (pool.h), and registered memory. Access goes by pages, which
 *            allocations may share.
 *   mapped   Memory that is mapped at reserved addresses (vmm.h) and memory of other processes is in the images that
 *            it was mapped into, and host memory in all.
 */
#ifndef WS_CUDA_PEER_ACCESS_H
#define WS_CUDA_PEER_ACCESS_H

#include "cuda/core/board.h"

/* The current context gets or loses access to what is allocated in `peer`. Codes: CUDA Driver API, "Peer Context
 * Memory Access". */
CUresult peer_enable(struct shim *, struct context *peer, unsigned flags);
CUresult peer_disable(struct shim *, struct context *peer);
/* A context goes, or begins anew: nobody has access to it any more, nor it to others. */
void peers_forget(struct shim *, struct context *);

/* Something was allocated or released there, or who sees it has changed. */
void peers_refresh(struct shim *, struct board *owner, uint64_t addr, uint64_t bytes);
void peers_refresh_all(struct shim *, struct board *owner);

extern const struct shim_part peer_part;

/* CUdevice_P2PAttribute: between two GPUs. */
CUresult peer_attribute(struct shim *, int *value, int attribute, int from, int to);
CUresult peer_can_access(struct shim *, int *can, int device, int peer);

#endif
