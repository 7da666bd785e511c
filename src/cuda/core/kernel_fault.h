/* Kernels that ended early: what the user is told, and the error that later calls give. */
#ifndef WS_CUDA_KERNEL_FAULT_H
#define WS_CUDA_KERNEL_FAULT_H

#include "cuda/core/kernel.h"

struct sim_result;

/* From simulated time `end`, ps, on. */
void kernel_fault_keep(struct shim *, const struct launch_request *, const struct sim_result *, uint64_t end);

#endif
