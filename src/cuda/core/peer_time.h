/* How long copies between the memories of two GPUs take where no copy engines are simulated: without time, and where
 * each launch has the GPU to itself.
 *
 *   direct   where either has access to the other's memory: dma.peer_ns, the latency of the links there and back, and
 *            the bytes at their rate
 *   staged   else: through the host (staged_copy.h)
 */
#ifndef WS_CUDA_PEER_TIME_H
#define WS_CUDA_PEER_TIME_H

#include "cuda/core/board.h"

uint64_t peer_copy_ps(const struct shim *, const struct board *from, const struct board *to, uint64_t bytes,
                      bool direct);

#endif
