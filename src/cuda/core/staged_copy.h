/* Copies between two GPUs of which neither reaches the other's memory: through the host, on the copy engines of both.
 * Each part goes to a buffer of the driver by an engine of the one, then from there by one of the other; one is on its
 * way out while the one before is on its way in. Each begins as any copy from or to the host does.
 *
 * Between the two the host's driver hears of the one and begins the other.
 *
 *   params   pcie.latency_ns of either GPU
 */
#ifndef WS_CUDA_STAGED_COPY_H
#define WS_CUDA_STAGED_COPY_H

#include "cuda/core/board.h"
#include "host/live_gpu.h"

/* guess: bytes of a part, with which boards of PCI Express 4.0 and 5.0 come to 21 and 38 GB/s (NVIDIA/nvbandwidth,
 * p2pBandwidthLatencyTest: 20 to 22, 36 to 38). */
enum { STAGED_PART = 512 << 10 };
/* fit: from the end of a part on its way out to its start on its way in, with which 16 bytes take 11.6 us between two
 * RTX 4090 (p2pBandwidthLatencyTest, no peer access; 11.6 to 20 us are published of several boards). */
enum { STAGED_HAND_OVER_NS = 3400 };

struct task;

/* Goes until front_end, from `now` on, ps. Of the copy its size and both sides, in the memory of their GPUs, count. */
void staged_copy_start(struct task *, const struct live_copy *, struct board *dst, struct board *src, uint64_t now);
/* A part of it has been moved by this GPU. */
void staged_copy_moved(struct task *, const struct live_end *, const struct board *by);

#endif
