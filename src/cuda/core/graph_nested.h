/* Launches of graphs under way, and graphs that kernels of a running graph launch (CUDA programming guide, "Device
 * Graph Launch"). Graphs that are fired and forgotten run when all nodes of the graph that launched them are done,
 * and belong to it; then those launched as its tail, each with all that it launches before the next (graph_run.c).
 */
#ifndef WS_CUDA_GRAPH_NESTED_H
#define WS_CUDA_GRAPH_NESTED_H

#include <stdint.h>

#include "cuda/core/api.h"

struct command;
struct context;
struct graph_exec;
struct graph_wait;
struct shim;

/* A launch of an instantiated graph, until all that belongs to it is done. */
struct graph_run {
  struct shim *shim;
  struct graph_run *parent;  /* the launch that it belongs to; NULL: the host's */
  struct command *owner;     /* of a launch by the host: what ends with it */
  struct graph_exec *exec;   /* or the tail of it that runs now */
  struct graph_exec *exec_given; /* of a launch by the host: the one launched, which is held */
  struct graph_wait *forgotten, *tails, *siblings; /* what its kernels launch */
  struct graph_wait *next;   /* tails of those before, in their order */
  const struct context *context; /* of the host's launch */
  uint64_t stream_id, begin; /* begin: ps */
  unsigned depth;
  int32_t priority;          /* of the stream of the host's launch, as commands have it: higher ones first */
};

/* Streams that a kernel can launch a graph into (cuda_device_runtime_api.h). */
#define GRAPH_STREAM_TAIL    UINT64_C(0x0100000000000000)
#define GRAPH_STREAM_FORGET  UINT64_C(0x0200000000000000)
#define GRAPH_STREAM_SIBLING UINT64_C(0x0300000000000000)

/* A kernel of this launch (NULL: of none) launches a graph that was instantiated for it. */
CUresult graph_launch_from_kernel(struct shim *, struct graph_run *, uint64_t exec, uint64_t stream);
/* What %current_graph_exec reads in a kernel of this launch: its graph, if it was instantiated for launches by
 * kernels; else 0. */
uint64_t graph_current(const struct graph_run *);

/* Takes the first one away; NULL: there is none. */
struct graph_exec *graph_wait_pop(struct graph_wait **);
/* Puts all of `more` in front of what waits. */
void graph_wait_prepend(struct graph_wait **, struct graph_wait *more);

#endif
