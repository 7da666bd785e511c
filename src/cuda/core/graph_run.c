/* Launches of instantiated graphs, by the host and by kernels of a graph that runs (CUDA programming guide, "Device
 * Graph Launch"). Graphs that are fired and forgotten run when all nodes of the graph that launched them are done, and
 * belong to it; then those launched as its tail, each with all that it launches before the next.
 */
#include <stdlib.h>

#include "cuda/core/context.h"
#include "cuda/core/graph.h"
#include "cuda/core/graph_memory.h"
#include "cuda/core/hold.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/streams.h"

enum { MAX_PENDING = 255, MAX_NESTED = 120 }; /* the guide: tail launches of a graph; graphs launched in all */

struct graph_wait {
  struct graph_wait *next;
  struct cu_exec *exec;
};

static CUresult run_graph(struct shim *, struct cu_graph *, struct cu_stream *lane, uint64_t start);

/* The body that the condition chooses now, NULL: none. */
static struct cu_graph *chosen(struct shim *s, const struct graph_op *op)
{
  uint32_t value = condition_value(s, op->condition.handle);
  unsigned body = value;
  if (op->condition.type == CONDITION_IF) body = value ? 0 : 1;
  if (op->condition.type == CONDITION_WHILE) body = value ? 0 : op->condition.n;
  return body < op->condition.n ? op->condition.body[body] : NULL;
}

static CUresult run_condition(struct shim *s, const struct graph_op *op, struct cu_stream *lane)
{
  CUresult r = CUDA_SUCCESS;
  struct cu_graph *body;
  while (r == CUDA_SUCCESS && s->fault == CUDA_SUCCESS && (body = chosen(s, op))) {
    r = run_graph(s, body, lane, lane->clock.done);
    if (op->condition.type != CONDITION_WHILE) break;
  }
  return r;
}

CUresult graph_run_op(struct shim *s, const struct graph_op *op, struct cu_stream *lane)
{
  struct launch_request q;
  switch (op->type) {
  case NODE_KERNEL:
    q = op->kernel.q;
    q.stream = lane;
    return kernel_execute(s, &q);
  case NODE_MEMCPY: return copy_run(s, &op->memcpy.copy, lane, false);
  case NODE_MEMSET:
    return fill_run(s, &op->memset.to, op->memset.value, op->memset.value_bytes, op->memset.width,
                    op->memset.height, lane, false);
  case NODE_HOST: return stream_host(s, lane, op->host.fn, op->host.data), CUDA_SUCCESS;
  case NODE_GRAPH: return run_graph(s, op->child, lane, lane->clock.done);
  case NODE_EVENT_RECORD: return event_record_now(s, op->event, lane);
  case NODE_WAIT_EVENT: return stream_wait_event_now(s, lane, op->event);
  case NODE_MEM_ALLOC: return graph_memory_take(s, op->memory.addr);
  case NODE_MEM_FREE: return graph_memory_give(s, op->memory.addr);
  case NODE_MEM_OPS: return mem_op_run(s, op, lane);
  case NODE_CONDITIONAL: return run_condition(s, op, lane);
  case NODE_EMPTY: break;
  }
  return CUDA_SUCCESS;
}

/* lane: stands for the launch's stream; its clock is that of one node after the other. Afterwards it is
 * done when the last node is. */
static CUresult run_graph(struct shim *s, struct cu_graph *g, struct cu_stream *lane, uint64_t start)
{
  uint64_t end = start;
  for (size_t i = 0; i < g->n; i++) {
    struct cu_node *n = g->node[i];
    lane->clock.done = start;
    for (size_t d = 0; d < n->n_deps; d++)
      if (n->dep[d]->done > lane->clock.done) lane->clock.done = n->dep[d]->done;
    CUresult r = n->disabled ? CUDA_SUCCESS : graph_run_op(s, &n->op, lane);
    if (r != CUDA_SUCCESS) return r;
    n->done = lane->clock.done;
    if (n->done > end) end = n->done;
  }
  lane->clock.done = end;
  return CUDA_SUCCESS;
}

/* Conditions begin with their default values, and what the last launch allocated must be free. */
static CUresult start_graph(struct shim *s, const struct cu_graph *g, bool auto_free)
{
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; r == CUDA_SUCCESS && i < g->n; i++) {
    const struct graph_op *op = &g->node[i]->op;
    if (op->type == NODE_GRAPH) r = start_graph(s, op->child, auto_free);
    if (op->type == NODE_MEM_ALLOC && graph_memory_is_live(s, op->memory.addr))
      r = auto_free ? graph_memory_give(s, op->memory.addr) : CUDA_ERROR_INVALID_VALUE;
    if (op->type != NODE_CONDITIONAL) continue;
    condition_start(s, op->condition.handle);
    for (unsigned k = 0; r == CUDA_SUCCESS && k < op->condition.n; k++)
      r = start_graph(s, op->condition.body[k], auto_free);
  }
  return r;
}

/* Launches by kernels --------------------------------------------------------------------------- */

/* Takes the first one away; NULL: there is none. */
static struct cu_exec *pop(struct graph_wait **list)
{
  struct graph_wait *first = *list;
  struct cu_exec *x = first ? first->exec : NULL;
  if (first) *list = first->next;
  free(first);
  return x;
}

static bool append(struct graph_wait **list, struct cu_exec *x)
{
  unsigned n = 0;
  for (; *list; list = &(*list)->next)
    if (++n == MAX_PENDING) return false;
  *list = shim_alloc(sizeof **list);
  **list = (struct graph_wait){ .exec = x };
  return true;
}

/* In front of what waits there. */
static void prepend(struct graph_wait **list, struct graph_wait *more)
{
  struct graph_wait **end = &more;
  while (*end) end = &(*end)->next;
  *end = *list;
  *list = more;
}

uint64_t graph_current(const struct shim *s)
{
  const struct cu_exec *x = s->graph_run ? s->graph_run->exec : NULL;
  return x && x->flags & INSTANTIATE_DEVICE_LAUNCH ? (uint64_t)(uintptr_t)x : 0;
}

CUresult graph_launch_from_kernel(struct shim *s, uint64_t handle, uint64_t stream)
{
  struct cu_exec *x = (struct cu_exec *)(uintptr_t)handle;
  struct graph_run *r = s->graph_run;
  if (!r || !exec_exists(s, x) || !(x->flags & INSTANTIATE_DEVICE_LAUNCH)) return CUDA_ERROR_INVALID_VALUE;
  bool ok;
  switch (stream) {
  case GRAPH_STREAM_TAIL: ok = append(&r->tails, x); break;
  case GRAPH_STREAM_FORGET: ok = r->depth < MAX_NESTED && append(&r->forgotten, x); break;
  case GRAPH_STREAM_SIBLING: ok = append(r->parent ? &r->parent->forgotten : &r->siblings, x); break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return ok ? CUDA_SUCCESS : cudaErrorLaunchPendingCountExceeded;
}

static CUresult run_with_launches(struct shim *s, struct cu_exec *x, struct cu_stream *lane);

static CUresult run_waiting(struct shim *s, struct graph_wait **list, struct cu_stream *lane)
{
  CUresult r = CUDA_SUCCESS;
  for (struct cu_exec *x; r == CUDA_SUCCESS && s->fault == CUDA_SUCCESS && (x = pop(list));)
    r = run_with_launches(s, x, lane);
  while (pop(list)) continue;
  return r;
}

/* The graph and its tails, which may launch themselves again and again; behind the last of them its siblings, when no
 * other graph launched it. */
static CUresult run_with_launches(struct shim *s, struct cu_exec *x, struct cu_stream *lane)
{
  struct graph_run run = { .parent = s->graph_run, .depth = s->graph_run ? s->graph_run->depth + 1 : 0 };
  struct graph_wait *tails = NULL;
  CUresult r = CUDA_SUCCESS;
  s->graph_run = &run;
  for (; r == CUDA_SUCCESS && s->fault == CUDA_SUCCESS && x; x = pop(&tails)) {
    run.exec = x;
    r = start_graph(s, x->graph, x->flags & INSTANTIATE_AUTO_FREE);
    if (r == CUDA_SUCCESS) r = run_graph(s, x->graph, lane, lane->clock.done);
    if (r == CUDA_SUCCESS) r = run_waiting(s, &run.forgotten, lane);
    prepend(&tails, run.tails);
    run.tails = NULL;
  }
  while (pop(&tails)) continue;
  if (r == CUDA_SUCCESS) r = run_waiting(s, &run.siblings, lane);
  s->graph_run = run.parent;
  return r;
}

CUresult exec_launch(struct shim *s, CUgraphExec x, CUstream stream)
{
  struct cu_stream *st = stream_of(s, stream);
  CUresult r;
  if (!exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  struct graph_op op = { .type = NODE_GRAPH, .child = x->graph };
  if (capture_records(s, st, &op, &r)) return r;
  timeline_launch_call(&s->time);
  return hold_takes_exec(s, st, x) ? CUDA_SUCCESS : exec_launch_now(s, x, st);
}

CUresult exec_launch_now(struct shim *s, struct cu_exec *x, struct cu_stream *st)
{
  struct cu_stream lane = { .id = st->id, .context = st->context, .graph = true,
                            .clock = { .non_blocking = true } };
  lane.clock.done = timeline_start(&s->time, &st->clock, TIMELINE_NONE);
  CUresult r = run_with_launches(s, x, &lane);
  timeline_finish(&s->time, &st->clock, TIMELINE_NONE, lane.clock.done);
  return r;
}
