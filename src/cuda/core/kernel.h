/* Launching kernels of the program. */
#ifndef WS_CUDA_KERNEL_H
#define WS_CUDA_KERNEL_H

#include "cuda/core/modules.h"
#include "host/launch.h"

struct launch_request {
  struct cu_function *function;
  uint32_t grid[3], block[3], shared; /* shared: dynamic, bytes */
  const void *named;         /* what the program calls the kernel; NULL: the function itself */
  struct cu_stream *stream;
  bool cooperative;
  uint32_t cluster[3];       /* {0, 0, 0}: none asked for */
  void **params;             /* one pointer per parameter, or NULL and */
  const void *packed;        /* the parameter block as the kernel sees it */
  size_t packed_bytes;
};

/* Simulates the launch, in stream order. Bad configurations are errors of the call
 * (cudaErrorInvalidConfiguration, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
 * CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE); a fault of the kernel shows later (shim.h). */
CUresult kernel_launch(struct shim *, const struct launch_request *);

/* Takes the parameter block from cuLaunchKernel's `extra`: pairs of a key and its value, up to
 * LAUNCH_PARAM_END. False: another key. */
bool kernel_read_extra(struct launch_request *, void **extra);
/* Takes what launch attributes say: cooperative, cluster; the others are hints. */
void kernel_read_attributes(struct launch_request *, const CUlaunchAttribute *, unsigned n);
/* Its two halves. The first gives the parameter block, which the caller frees; the second simulates a
 * request that has it in packed, and spends no host time. */
CUresult kernel_prepare(struct shim *, const struct launch_request *, uint8_t **packed);
CUresult kernel_execute(struct shim *, const struct launch_request *);
/* Of the second half, the launch alone: grid takes the work that the kernel queues (device_work.h; NULL: its
 * module has no device runtime); parent: the launch that queued it, 0: the host. */
struct device_grid;
CUresult kernel_run(struct shim *, const struct launch_request *, struct device_grid *, uint64_t parent);
/* Whether a launch is possible; errors as above. */
CUresult kernel_check(struct shim *, const struct launch_request *);

/* Its steps, for launches that wait (together.h). When a launch that is issued now starts, ps. */
uint64_t kernel_start(const struct shim *, const struct launch_request *);
/* As the simulator takes it; launch_free is the caller's. False, said on stderr: it does not fit. */
bool kernel_build(struct shim *, const struct launch_request *, struct launch *);
/* Simulates it alone. Registered memory is in the guest already. */
CUresult kernel_simulate(struct shim *, const struct launch_request *, struct launch *, uint64_t start);
/* It was simulated with others: its place in time, its record, its fault. */
void kernel_ended(struct shim *, const struct launch_request *, const struct sim_result *, uint64_t start);

/* CTAs of a kernel that an SM holds at once. */
CUresult kernel_occupancy(struct shim *, const struct cu_function *, int block_threads,
                          size_t shared, int *ctas);
/* Clusters of a launch that run at the same time; the largest cluster of which one can. */
CUresult kernel_active_clusters(struct shim *, const struct launch_request *, int *clusters);
CUresult kernel_cluster_size(struct shim *, const struct launch_request *, int *ctas);
/* Most dynamic shared memory, bytes, with which an SM still holds that many CTAs at once; 0: none. */
CUresult kernel_available_shared(struct shim *, const struct cu_function *, int ctas,
                                 int block_threads, size_t *bytes);
/* CUfunction_attribute; false: no such attribute. */
bool kernel_attribute(struct shim *, const struct cu_function *, int attribute, int *value);
/* What cudaFuncGetAttributes gives; what only programs of CUDA 13 have room for is left alone. */
void kernel_attributes(struct shim *, const struct cu_function *, cudaFuncAttributes *);
CUresult kernel_set_attribute(struct shim *, struct cu_function *, int attribute, int value);

#endif
