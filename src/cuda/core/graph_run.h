/* Launches of instantiated graphs. A launch spends the host time of one launch call (enqueue.h). Its nodes
 * start when those they wait for are done and their engine is free (host/timeline.h); the stream goes on
 * when the last one is done.
 */
#ifndef WS_CUDA_GRAPH_RUN_H
#define WS_CUDA_GRAPH_RUN_H

#include "cuda/core/api.h"

struct graph_exec;
struct graph_op;
struct shim;
struct stream;

/* Behind what the stream has done so far. */
CUresult exec_launch_now(struct shim *, struct graph_exec *, struct stream *);
/* One operation, now. lane: the stream it is of, or what stands for it. */
CUresult graph_run_op(struct shim *, const struct graph_op *, struct stream *lane);

#endif
