/* Launches of a program under the profiler (warpstep ncu). */
#ifndef WS_CUDA_PROFILED_H
#define WS_CUDA_PROFILED_H

#include "cuda/core/kernel.h"

struct sim_result;

/* Whether the next launch is profiled, and so timed; others run without time. To be asked once for each. */
bool profiled_next(struct shim *, const struct launch_request *);
/* One that is has run; what of it cannot be kept is said on stderr. */
void profiled_keep(struct shim *, const struct launch_request *, const struct launch *, const struct sim_result *);
/* cudaProfilerStart, cudaProfilerStop. */
CUresult profiled_on(struct shim *, bool on);

#endif
