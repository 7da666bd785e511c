/* Launches of instantiated graphs. A launch spends the host time of one launch call (enqueue.h). Each node is a
 * command of the front end that comes behind those it waits for; the stream goes on when the last one has ended, with
 * all that kernels of the graph have launched.
 */
#ifndef WS_CUDA_GRAPH_RUN_H
#define WS_CUDA_GRAPH_RUN_H

#include "cuda/core/api.h"
#include "host/front.h"

struct graph_exec;
struct shim;
struct stream;
struct task;

/* Behind what the stream has been given so far. CUDA_ERROR_INVALID_VALUE: memory that an earlier launch allocated was
 * not freed. */
CUresult graph_launch(struct shim *, struct graph_exec *, struct stream *);
/* A conditional node begins: the body that its condition chooses, as long as it does. */
enum command_way condition_begin(struct task *, uint64_t now);

#endif
