/* Kernels of the program and what is asked of them: whether a launch is possible, attributes. They run in
 * kernel_run.h. */
#ifndef WS_CUDA_KERNEL_H
#define WS_CUDA_KERNEL_H

#include "cuda/core/modules.h"
#include "cuda/core/tracer.h"
#include "host/launch.h"

struct context;
struct core_set;
struct graph_run;

struct launch_request {
  struct function *function;
  uint32_t grid[3], block[3], shared; /* shared: dynamic, bytes */
  const void *named;         /* what the program calls the kernel; NULL: the function itself */
  struct stream *stream;
  const struct core_set *cores; /* SMs that it may run on (green_context.h); NULL: all */
  bool cooperative;
  uint32_t cluster[3];       /* {0, 0, 0}: none asked for */
  CUaccessPolicyWindow window; /* of L2 */
  bool has_window;             /* its own; else that of its stream when it is given */
  unsigned shared_share;     /* 1 + per cent of the largest share of the L1 array as shared memory; 0: as the function
                                says */
  void **params;             /* one pointer per parameter, or NULL and */
  const void *packed;        /* the parameter block as the kernel sees it */
  size_t packed_bytes;
  /* Of one that was given to the front end (task.h), whose stream and thread may be gone when it starts: */
  uint64_t number;           /* of the launch, from 1; 0: it was not given yet */
  uint64_t parent;           /* number of the launch whose kernel launched it; 0: the host did */
  uint64_t stream_id;
  struct call_mark call;     /* tracer.h */
  uint64_t stack_bytes;      /* of a thread */
  const struct context *context; /* of the call that gave it */
  struct graph_run *run;     /* the launch of a graph that it belongs to; NULL: none */
  bool prepared;             /* it is behind other nodes there */
};

/* Kernels made of tiles (CUDA Tile IR) are launched with blocks of one thread: these become the block that the kernel
 * was compiled for. Others are left as they are. */
void kernel_own_block(struct launch_request *);
/* Takes the parameter block from cuLaunchKernel's `extra`: pairs of a key and its value, up to
 * LAUNCH_PARAM_END. False: another key. */
bool kernel_read_extra(struct launch_request *, void **extra);
/* Takes what launch attributes say: cooperative, cluster, window of L2, share of shared memory; the others change
 * nothing. */
void kernel_read_attributes(struct launch_request *, const CUlaunchAttribute *, unsigned n);
/* The parameter block of a launch that is possible, which the caller frees. */
CUresult kernel_prepare(const struct launch_request *, uint8_t **packed);
/* Whether a launch is possible: cudaErrorInvalidConfiguration, CUDA_ERROR_INVALID_VALUE,
 * CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE and more. */
CUresult kernel_check(const struct launch_request *);

/* 1 + per cent of the largest share of the L1 array that launches want as shared memory, where they say this themselves
 * (0: nothing); 0: nobody says. */
unsigned kernel_shared_share(const struct function *, unsigned share);
/* CTAs of a kernel that an SM holds at once. */
CUresult kernel_occupancy(const struct function *, int block_threads,
                          size_t shared, int *ctas);
/* Clusters of a launch that run at the same time; the largest cluster of which one can. */
CUresult kernel_active_clusters(const struct launch_request *, int *clusters);
CUresult kernel_cluster_size(const struct launch_request *, int *ctas);
/* Most dynamic shared memory, bytes, with which an SM still holds that many CTAs at once; 0: none. */
CUresult kernel_available_shared(const struct function *, int ctas,
                                 int block_threads, size_t *bytes);
/* CUfunction_attribute; false: no such attribute. */
bool kernel_attribute(const struct function *, int attribute, int *value);
/* What cudaFuncGetAttributes gives; what only programs of CUDA 13 have room for is left alone. */
void kernel_attributes(const struct function *, cudaFuncAttributes *);
CUresult kernel_set_attribute(struct function *, int attribute, int value);

/* SMs that it may run on; NULL: all. */
const struct core_set *kernel_cores(const struct launch_request *);

#endif
