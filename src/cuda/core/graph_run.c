#include "cuda/core/graph_run.h"

#include <stdlib.h>

#include "cuda/core/graph_nested.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

/* Nodes ------------------------------------------------------------------------------------------------ */

/* What happens when a set of nodes has ended. */
struct then {
  void (*fn)(void *ctx, uint64_t now);
  void *ctx;
};

static struct command *give_nodes(struct graph_run *, const struct graph *, struct command *first, uint64_t not_before,
                                  struct then);

static void follow_all(struct command *c, const struct graph_node *n, struct command *first)
{
  if (n->n_deps == 0) command_follow(c, first);
  for (size_t i = 0; i < n->n_deps; i++) command_follow(c, n->dep[i]->command);
}

/* A graph within a graph: its nodes come behind what the node waits for. */
static struct command *give_child(struct graph_run *run, const struct graph_node *n, struct command *first,
                                  uint64_t not_before)
{
  struct command *begin = task_join(run->shim, not_before, NULL, NULL);
  follow_all(begin, n, first);
  front_give(&run->shim->front, begin);
  struct command *last = give_nodes(run, n->op.child, begin, not_before, (struct then){0});
  command_drop(begin);
  return last;
}

/* That of the stream in which the graph was launched; of kernels their own, where the graph was instantiated so (CUDA
 * Runtime API, cudaGraphInstantiateFlagUseNodePriority). Nodes of other kinds have none. */
static int32_t priority_of(const struct graph_run *run, const struct graph_op *op)
{
  const bool own = op->type == NODE_KERNEL && run->exec->flags & INSTANTIATE_NODE_PRIORITY;
  return own ? -op->kernel.hints.priority : run->priority;
}

static struct command *give_op(struct graph_run *run, const struct graph_node *n, struct command *first,
                               uint64_t not_before)
{
  struct shim *s = run->shim;
  struct graph_op op = n->op;
  if (op.type == NODE_KERNEL) {
    op.kernel.q.run = run;
    op.kernel.q.prepared = n->n_deps > 0;
    op.kernel.q.context = run->context;
  }
  struct task *w = task_new(s, &op, &(struct task_site){ .stream_id = run->stream_id, .board = run->context->board,
                                                         .not_before = not_before });
  w->command.priority = priority_of(run, &op);
  w->run = run;
  follow_all(&w->command, n, first);
  if (op.type == NODE_WAIT_EVENT) event_follow(s, &w->command, op.event);
  if (op.type == NODE_EVENT_RECORD) event_attach(s, op.event, &w->command);
  front_give(&s->front, &w->command);
  return &w->command;
}

static struct command *give_nothing(struct graph_run *run, const struct graph_node *n, struct command *first,
                                    uint64_t not_before)
{
  struct command *c = task_join(run->shim, not_before, NULL, NULL);
  follow_all(c, n, first);
  front_give(&run->shim->front, c);
  return c;
}

/* The nodes of a graph, which lie in an order in which they can run, behind `first` (NULL: nothing). The command that
 * ends with all of them, held. */
static struct command *give_nodes(struct graph_run *run, const struct graph *g, struct command *first,
                                  uint64_t not_before, struct then then)
{
  struct command *last = task_join(run->shim, not_before, then.fn, then.ctx);
  command_follow(last, first);
  for (size_t i = 0; i < g->n; i++) {
    struct graph_node *n = g->node[i];
    if (n->disabled) n->command = give_nothing(run, n, first, not_before);
    else if (n->op.type == NODE_GRAPH) n->command = give_child(run, n, first, not_before);
    else n->command = give_op(run, n, first, not_before);
    command_follow(last, n->command);
  }
  for (size_t i = 0; i < g->n; i++) {
    command_drop(g->node[i]->command);
    g->node[i]->command = NULL;
  }
  front_give(&run->shim->front, last);
  return last;
}

/* Conditions ------------------------------------------------------------------------------------------- */

/* The body that the condition chooses now, NULL: none. */
static struct graph *chosen(struct shim *s, const struct graph_op *op)
{
  uint32_t value = condition_value(s, op->condition.handle);
  unsigned body = value;
  if (op->condition.type == CONDITION_IF) body = value ? 0 : 1;
  if (op->condition.type == CONDITION_WHILE) body = value ? 0 : op->condition.n;
  return body < op->condition.n ? op->condition.body[body] : NULL;
}

static void condition_again(void *ctx, uint64_t now)
{
  struct task *w = ctx;
  struct shim *s = w->shim;
  bool again = w->op.condition.type == CONDITION_WHILE && !task_is_off(s, w->command.gpu);
  struct graph *body = again ? chosen(s, &w->op) : NULL;
  if (body) command_drop(give_nodes(w->run, body, NULL, now, (struct then){ condition_again, w }));
  else front_end(&s->front, &w->command, now);
}

enum command_way condition_begin(struct task *w, uint64_t now)
{
  struct graph *body = chosen(w->shim, &w->op);
  if (!body) return COMMAND_LASTS;
  command_drop(give_nodes(w->run, body, NULL, now, (struct then){ condition_again, w }));
  return COMMAND_GOES;
}

/* Starts ----------------------------------------------------------------------------------------------- */

static bool has_allocations(const struct graph *g)
{
  for (size_t i = 0; i < g->n; i++) {
    const struct graph_op *op = &g->node[i]->op;
    if (op->type == NODE_MEM_ALLOC || (op->type == NODE_GRAPH && has_allocations(op->child))) return true;
    for (unsigned k = 0; op->type == NODE_CONDITIONAL && k < op->condition.n; k++)
      if (has_allocations(op->condition.body[k])) return true;
  }
  return false;
}

/* What an earlier launch allocated and nobody freed. */
static bool holds_memory(struct shim *s, const struct graph *g)
{
  for (size_t i = 0; i < g->n; i++) {
    const struct graph_op *op = &g->node[i]->op;
    if (op->type == NODE_MEM_ALLOC && graph_memory_is_live(s, op->memory.addr)) return true;
    if (op->type == NODE_GRAPH && holds_memory(s, op->child)) return true;
    for (unsigned k = 0; op->type == NODE_CONDITIONAL && k < op->condition.n; k++)
      if (holds_memory(s, op->condition.body[k])) return true;
  }
  return false;
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

static bool is_off(const struct graph_run *run)
{
  return task_is_off(run->shim, run->context->board->number);
}

static void begin_exec(struct graph_run *run, uint64_t now)
{
  struct shim *s = run->shim;
  if (is_off(run)) return;
  CUresult r = start_graph(s, run->exec->graph, run->exec->flags & INSTANTIATE_AUTO_FREE);
  if (r != CUDA_SUCCESS) task_fault(s, r, now);
}

/* Launches by kernels ----------------------------------------------------------------------------------- */

static bool go_on(struct graph_run *, uint64_t now);

static void nodes_have_ended(void *ctx, uint64_t now)
{
  go_on(ctx, now);
}

static void run_exec(struct graph_run *run, struct graph_exec *x, uint64_t now)
{
  run->exec = x;
  begin_exec(run, now);
  command_drop(give_nodes(run, x->graph, NULL, now, (struct then){ nodes_have_ended, run }));
}

static void run_nested(struct graph_run *parent, struct graph_exec *x, uint64_t now)
{
  struct graph_run *run = shim_alloc(sizeof *run);
  *run = (struct graph_run){ .shim = parent->shim, .parent = parent, .stream_id = parent->stream_id,
                             .context = parent->context, .depth = parent->depth + 1, .begin = now,
                             .priority = parent->priority };
  run_exec(run, x, now);
}

static void forget(struct graph_wait **list)
{
  while (graph_wait_pop(list)) continue;
}

/* All that belongs to it is done. A launch by the host ends with its owner. */
static void end_run(struct graph_run *run, uint64_t now)
{
  struct graph_run *parent = run->parent;
  struct command *owner = run->owner;
  if (owner && owner->state == COMMAND_RUNS) front_end(&run->shim->front, owner, now);
  if (!parent) return;
  free(run);
  go_on(parent, now);
}

/* The nodes have ended, or something that belongs to the launch has: what its kernels launched comes next, then its
 * tails, which may launch themselves again and again; behind the last of them its siblings, when no other graph
 * launched it. False: all is done. */
static bool go_on(struct graph_run *run, uint64_t now)
{
  struct graph_exec *x;
  if (is_off(run)) {
    forget(&run->forgotten);
    forget(&run->tails);
    forget(&run->next);
    forget(&run->siblings);
  }
  if ((x = graph_wait_pop(&run->forgotten))) return run_nested(run, x, now), true;
  graph_wait_prepend(&run->next, run->tails);
  run->tails = NULL;
  if ((x = graph_wait_pop(&run->next))) return run_exec(run, x, now), true;
  if ((x = graph_wait_pop(&run->siblings))) return run_nested(run, x, now), true;
  end_run(run, now);
  return false;
}

/* Launches by the host ----------------------------------------------------------------------------------- */

struct graph_end {
  struct command command;
  struct graph_run run;
};

static enum command_way end_begins(struct command *c, uint64_t now, uint64_t *end)
{
  struct graph_run *run = &((struct graph_end *)c)->run;
  *end = now;
  c->state = COMMAND_WAITS; /* it does not end by itself before it is known how it goes on */
  bool goes = go_on(run, now);
  c->state = COMMAND_RUNS;
  return goes ? COMMAND_GOES : COMMAND_LASTS;
}

static void end_ends(struct command *c)
{
  struct graph_run *run = &((struct graph_end *)c)->run;
  if (run->shim->activity) activity_graph(run->shim->activity, run->stream_id, run->begin, c->end);
  exec_release(run->shim, run->exec_given);
}

static void end_free(struct command *c)
{
  free((struct graph_end *)c);
}

static void launch_begins(void *ctx, uint64_t now)
{
  struct graph_run *run = ctx;
  run->begin = now;
  begin_exec(run, now);
}

static struct graph_end *new_launch(struct shim *s, struct graph_exec *x, const struct stream *st)
{
  static const struct command_ops ops = { .start = end_begins, .end = end_ends, .free = end_free };
  struct graph_end *e = shim_alloc(sizeof *e);
  *e = (struct graph_end){ .command = { .ops = &ops },
                           .run = { .shim = s, .owner = &e->command, .exec = x, .exec_given = x, .stream_id = st->id,
                                    .priority = -st->priority,
                                    .context = st->context ? st->context : context_current(s) } };
  command_init(&s->front, &e->command, s->time.now);
  exec_hold(x);
  return e;
}

/* A launch comes behind the earlier ones of the same instance, in whatever streams they were (CUDA driver API,
 * cuGraphLaunch). */
static void become_last(struct graph_exec *x, struct command *end)
{
  command_drop(x->last);
  x->last = end;
}

CUresult graph_launch(struct shim *s, struct graph_exec *x, struct stream *st)
{
  if (has_allocations(x->graph)) { /* what an earlier launch has left is known when that is done */
    task_settle(s);
    if (!(x->flags & INSTANTIATE_AUTO_FREE) && holds_memory(s, x->graph)) return CUDA_ERROR_INVALID_VALUE;
  }
  struct graph_end *e = new_launch(s, x, st);
  struct command *begin = task_join(s, s->time.now, launch_begins, &e->run);
  stream_follow(s, begin, st);
  command_follow(begin, x->last);
  front_give(&s->front, begin);
  struct command *last = give_nodes(&e->run, x->graph, begin, s->time.now, (struct then){0});
  command_follow(&e->command, last);
  stream_append(s, &e->command, st);
  become_last(x, &e->command);
  front_give(&s->front, &e->command);
  command_drop(last);
  command_drop(begin);
  return CUDA_SUCCESS;
}
