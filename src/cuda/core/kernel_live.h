/* Kernels that share a GPU on the timing model: the GPU as the front end sees it. */
#ifndef WS_CUDA_KERNEL_LIVE_H
#define WS_CUDA_KERNEL_LIVE_H

#include "cuda/core/options.h"
#include "host/front.h"

struct board;

struct front_gpu kernel_live_gpu(struct board *);

#endif
