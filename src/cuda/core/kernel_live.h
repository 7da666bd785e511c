/* Kernels that share a GPU on the timing model: the GPU as the front end sees it. */
#ifndef WS_CUDA_KERNEL_LIVE_H
#define WS_CUDA_KERNEL_LIVE_H

#include "cuda/core/options.h"
#include "host/front.h"

struct board;

/* Whether kernels of a run with these options share it: launches are timed as a whole, each in the state that others
 * leave behind, and nobody looks at each of them. */
bool kernel_live_possible(const struct exec_options *);
struct front_gpu kernel_live_gpu(struct board *);

#endif
