#include "cuda/core/graph_run.h"

#include "cuda/core/device_work.h"
#include "cuda/core/graph_nested.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/shim.h"

static CUresult run_graph(struct shim *, struct graph *, struct stream *lane, uint64_t start);

/* The body that the condition chooses now, NULL: none. */
static struct graph *chosen(struct shim *s, const struct graph_op *op)
{
  uint32_t value = condition_value(s, op->condition.handle);
  unsigned body = value;
  if (op->condition.type == CONDITION_IF) body = value ? 0 : 1;
  if (op->condition.type == CONDITION_WHILE) body = value ? 0 : op->condition.n;
  return body < op->condition.n ? op->condition.body[body] : NULL;
}

static CUresult run_condition(struct shim *s, const struct graph_op *op, struct stream *lane)
{
  CUresult r = CUDA_SUCCESS;
  struct graph *body;
  while (r == CUDA_SUCCESS && s->fault.code == CUDA_SUCCESS && (body = chosen(s, op))) {
    r = run_graph(s, body, lane, lane->clock.done);
    if (op->condition.type != CONDITION_WHILE) break;
  }
  return r;
}

static CUresult run_kernel(struct shim *s, const struct launch_request *q, struct stream *lane)
{
  struct launch_request mine = *q;
  mine.stream = lane;
  return kernel_execute(s, &mine);
}

/* What a node names may have been freed by now. */
static CUresult run_copy(struct shim *s, const struct copy *c, struct stream *lane)
{
  CUresult r = copy_check(s, c, lane);
  return r == CUDA_SUCCESS ? copy_now(s, c, lane, false) : r;
}

static CUresult run_fill(struct shim *s, const struct fill *f, struct stream *lane)
{
  CUresult r = copy_fill_check(s, f, lane);
  return r == CUDA_SUCCESS ? fill_now(s, f, lane) : r;
}

CUresult graph_run_op(struct shim *s, const struct graph_op *op, struct stream *lane)
{
  switch (op->type) {
  case NODE_KERNEL: return run_kernel(s, &op->kernel.q, lane);
  case NODE_MEMCPY: return run_copy(s, &op->memcpy.copy, lane);
  case NODE_MEMSET: return run_fill(s, &op->memset, lane);
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
static CUresult run_graph(struct shim *s, struct graph *g, struct stream *lane, uint64_t start)
{
  uint64_t end = start;
  for (size_t i = 0; i < g->n; i++) {
    struct graph_node *n = g->node[i];
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
static CUresult start_graph(struct shim *s, const struct graph *g, bool auto_free)
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

static CUresult run_with_launches(struct shim *s, struct graph_exec *x, struct stream *lane);

static CUresult run_waiting(struct shim *s, struct graph_wait **list, struct stream *lane)
{
  CUresult r = CUDA_SUCCESS;
  for (struct graph_exec *x; r == CUDA_SUCCESS && s->fault.code == CUDA_SUCCESS && (x = graph_wait_pop(list));)
    r = run_with_launches(s, x, lane);
  while (graph_wait_pop(list)) continue;
  return r;
}

/* The graph and its tails, which may launch themselves again and again; behind the last of them its siblings, when no
 * other graph launched it. */
static CUresult run_with_launches(struct shim *s, struct graph_exec *x, struct stream *lane)
{
  struct graph_run run = { .parent = s->graphs.run, .depth = s->graphs.run ? s->graphs.run->depth + 1 : 0 };
  struct graph_wait *tails = NULL;
  CUresult r = CUDA_SUCCESS;
  s->graphs.run = &run;
  for (; r == CUDA_SUCCESS && s->fault.code == CUDA_SUCCESS && x; x = graph_wait_pop(&tails)) {
    run.exec = x;
    r = start_graph(s, x->graph, x->flags & INSTANTIATE_AUTO_FREE);
    if (r == CUDA_SUCCESS) r = run_graph(s, x->graph, lane, lane->clock.done);
    if (r == CUDA_SUCCESS) r = run_waiting(s, &run.forgotten, lane);
    graph_wait_prepend(&tails, run.tails);
    run.tails = NULL;
  }
  while (graph_wait_pop(&tails)) continue;
  if (r == CUDA_SUCCESS) r = run_waiting(s, &run.siblings, lane);
  s->graphs.run = run.parent;
  return r;
}

CUresult exec_launch_now(struct shim *s, struct graph_exec *x, struct stream *st)
{
  struct stream lane = { .id = st->id, .context = st->context, .graph = true,
                            .clock = { .non_blocking = true } };
  uint64_t begin = lane.clock.done = timeline_start(&s->time, &st->clock, TIMELINE_NONE);
  CUresult r = run_with_launches(s, x, &lane);
  timeline_finish(&s->time, &st->clock, TIMELINE_NONE, lane.clock.done);
  if (s->activity) activity_graph(s->activity, st->id, begin, lane.clock.done);
  return r;
}
