/* Launches that wait for others: kernels that a program issues into different streams, one directly behind
 * the other, are simulated at the same time, so that they share SMs, L2 and DRAM (host/simulate.h). A
 * launch waits until the program makes any call but another launch; results are what they would be at that
 * call.
 *
 *   waits    in a stream of its own (not the legacy one, no graph's), not cooperative, timed as a whole; code of one
 *            module, which launches no kernels itself. A launch that must come behind one that waits lets those
 *            go first
 *   time     each starts when its stream is ready and the host has issued it
 */
#ifndef WS_CUDA_TOGETHER_H
#define WS_CUDA_TOGETHER_H

#include "cuda/core/kernel.h"

/* Takes the launch, whose parameter block is q->packed, if it may wait. False: it is the caller's; none
 * waits any more. */
bool together_takes(struct shim *, const struct launch_request *q);
/* Simulates what waits. To be called before anything else sees or changes the device. */
void together_run(struct shim *);

extern const struct shim_part together_part;

#endif
