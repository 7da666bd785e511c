/* Kernels that run now: a launch that has its parameters, from its start to its record. What a program
 * gives to a stream: enqueue.h.
 */
#ifndef WS_CUDA_KERNEL_RUN_H
#define WS_CUDA_KERNEL_RUN_H

#include "cuda/core/kernel.h"

struct device_grid;
struct sim_result;

/* Simulates a request that has its parameters in packed, alone; spends no host time. grid takes the work
 * that the kernel queues (device_queue.h; NULL: its module has no device runtime); parent: number of the
 * launch that queued it, 0: the host. */
CUresult kernel_run(struct shim *, const struct launch_request *, struct device_grid *, uint64_t parent);

/* Its steps, for launches that wait for others (together.h). When a launch that is issued now starts, ps. */
uint64_t kernel_start(const struct shim *, const struct launch_request *);
/* As the simulator takes it; launch_free is the caller's. False, said on stderr: it does not fit. */
bool kernel_build(struct shim *, const struct launch_request *, struct launch *);
/* Simulates it alone. Registered memory is in the guest already. */
CUresult kernel_simulate(struct shim *, const struct launch_request *, struct launch *, uint64_t start);
/* It was simulated with others: its place in time, its record, its fault. */
void kernel_ended(struct shim *, const struct launch_request *, struct launch *, const struct sim_result *,
                  uint64_t start);

#endif
