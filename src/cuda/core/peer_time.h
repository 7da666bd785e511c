/* How long copies between the memories of two GPUs take.
 *
 *   direct   where either has access to the other's memory: what any operation of a GPU takes to begin, the latency of
 *            the links, and the bytes at their rate
 *   staged   else: through the host, in parts of 512 KiB, one on its way to the host while the one before is on its way
 *            to the other GPU; each begins as a copy does
 */
#ifndef WS_CUDA_PEER_TIME_H
#define WS_CUDA_PEER_TIME_H

#include "cuda/core/board.h"

uint64_t peer_copy_ps(const struct shim *, const struct board *from, const struct board *to, uint64_t bytes);

#endif
