/* Graphs that kernels of a running graph launch (CUDA programming guide, "Device Graph Launch"): what
 * waits. Graphs that are fired and forgotten run when all nodes of the graph that launched them are done,
 * and belong to it; then those launched as its tail, each with all that it launches before the next
 * (graph_run.c).
 */
#ifndef WS_CUDA_GRAPH_NESTED_H
#define WS_CUDA_GRAPH_NESTED_H

#include <stdint.h>

#include "cuda/core/api.h"

struct graph_exec;
struct graph_wait;
struct shim;

/* A launch of an instantiated graph, while it runs. */
struct graph_run {
  struct graph_run *parent; /* the launch that it belongs to; NULL: the host's */
  struct graph_exec *exec;  /* or the tail of it that runs now */
  struct graph_wait *forgotten, *tails, *siblings; /* what its kernels launch */
  unsigned depth;
};

/* Streams that a kernel can launch a graph into (cuda_device_runtime_api.h). */
#define GRAPH_STREAM_TAIL    UINT64_C(0x0100000000000000)
#define GRAPH_STREAM_FORGET  UINT64_C(0x0200000000000000)
#define GRAPH_STREAM_SIBLING UINT64_C(0x0300000000000000)

/* A kernel of the graph that runs launches one that was instantiated for it. */
CUresult graph_launch_from_kernel(struct shim *, uint64_t exec, uint64_t stream);
/* What %current_graph_exec reads: the graph that runs, if it was instantiated for launches by kernels;
 * else 0. */
uint64_t graph_current(const struct shim *);

/* Takes the first one away; NULL: there is none. */
struct graph_exec *graph_wait_pop(struct graph_wait **);
/* Puts all of `more` in front of what waits. */
void graph_wait_prepend(struct graph_wait **, struct graph_wait *more);

#endif
