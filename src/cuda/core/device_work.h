/* What kernels queue (device_queue.h), given to the front end.
 *
 *   when    Work of a kernel that shares the GPU is given behind the window in which it was queued, and runs beside
 *           its parent; that of one which runs alone is given when its grid has ended. A launch is ready
 *           host.device_launch_ns later. Tail launches come behind the grid and all its children, one after the other.
 *   order   Streams of a grid (the NULL stream of a CTA is one) are chains of commands, as the host's; nobody waits
 *           for what is fired and forgotten.
 *   end     A kernel's command ends when all that it has queued has ended, with all that this has queued.
 */
#ifndef WS_CUDA_DEVICE_WORK_H
#define WS_CUDA_DEVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct device_grid;
struct device_runtime;
struct shim;
struct task;

/* Of a kernel that the host launches, by its call: if its module can launch kernels, a grid takes what it queues. */
void device_work_prepare(struct task *);
/* A kernel begins. */
void device_work_begin(struct task *);
/* For the launch (host/launch.h); grid NULL: NULL. */
const struct device_runtime *device_work_calls(const struct device_grid *);
/* Whether it has queued something that was not given yet. */
bool device_work_waits(const struct device_grid *);
/* Gives what kernels that run have queued, at `now`, ps. */
void device_work_give(struct shim *, uint64_t now);
/* A kernel has ended. True: its command goes on until all that it queued has ended, and then ends. */
bool device_work_end(struct task *, uint64_t end);

#endif
