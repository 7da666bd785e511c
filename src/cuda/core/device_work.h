/* Running what kernels queue (device_queue.h).
 *
 *   order    Work starts when the grid that queued it has ended, with everything that this work queues itself
 *            before the next piece: the order in which it was queued, tail launches last. This keeps the
 *            order of every stream, and a grid is only done when its children are.
 *   time     A launch starts host.device_launch_ns behind the end of its grid, when its stream (the NULL stream of its
 *            CTA, a stream of the grid, none with fire and forget, for tail launches the grid with all its
 *            children) has come to it, and when SMs are free for it (host/timeline.h).
 *
 * Not modelled: children that run while their parent does.
 */
#ifndef WS_CUDA_DEVICE_WORK_H
#define WS_CUDA_DEVICE_WORK_H

#include "cuda/core/kernel.h"

/* Runs a kernel whose request has its parameters in packed, with all that it queues, and what that queues:
 * only then is it done. Spends no host time. */
CUresult kernel_execute(struct shim *, const struct launch_request *);

#endif
