#include "cuda/core/hold.h"

#include <stdlib.h>
#include <time.h>

#include "cuda/core/graph_run.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/shim.h"

enum { POLL_NS = 100000, POLLS_UNTIL_TOLD = 20000 }; /* some seconds */

/* One operation that is put off. */
struct held {
  struct held *next;
  uint64_t id;          /* in the order of the calls */
  struct graph *box; /* a graph of one node, the operation's own copy; NULL: */
  struct graph_exec *exec; /* a launch of a graph; NULL: waits for what the legacy stream's rules ask for */
};

static const struct graph_op *op_of(const struct held *h)
{
  return h->box ? &h->box->node[0]->op : NULL;
}

/* Calls fn for each stream until it says false. */
static bool each_stream(struct shim *s, bool (*fn)(struct shim *, struct stream *, void *), void *data)
{
  for (struct stream *st = s->streams.first, *next; st; st = next) {
    next = st->next;
    if (!fn(s, st, data)) return false;
  }
  for (struct thread *t = s->threads; t; t = t->next)
    if (!fn(s, &t->stream, data)) return false;
  return fn(s, &s->streams.legacy, data);
}

/* Conditions ----------------------------------------------------------------------------------------- */

struct question {
  const struct stream *st;
  CUevent event;
  uint64_t id; /* only what was put off before counts */
};

static bool is_behind_event(struct shim *s, struct stream *st, void *data)
{
  const struct question *q = data;
  (void)s;
  for (const struct held *h = st->hold; h && h->id < q->id; h = h->next)
    if (op_of(h) && op_of(h)->type == NODE_EVENT_RECORD && op_of(h)->event == q->event) return false;
  return true;
}

/* Whether st orders itself behind other streams' work that is put off. */
static bool is_behind_stream(struct shim *s, struct stream *st, void *data)
{
  const struct question *q = data;
  bool ordered = q->st == &s->streams.legacy ? st != q->st && !st->clock.non_blocking
                                     : st == &s->streams.legacy && !q->st->clock.non_blocking;
  return !ordered || !st->hold || st->hold->id >= q->id;
}

static bool event_is_held(struct shim *s, CUevent e, uint64_t id)
{
  struct question q = { .event = e, .id = id };
  return s->holds.n && !each_stream(s, is_behind_event, &q);
}

static bool order_holds(struct shim *s, const struct stream *st, uint64_t id)
{
  struct question q = { .st = st, .id = id };
  return !each_stream(s, is_behind_stream, &q);
}

static bool op_is_ready(struct shim *s, const struct graph_op *op, uint64_t id)
{
  if (op->type == NODE_WAIT_EVENT) return !event_is_held(s, op->event, id);
  return op->type != NODE_MEM_OPS || mem_op_is_ready(s, op->memory_ops.op);
}

static bool is_ready(struct shim *s, const struct stream *st, const struct held *h)
{
  if (h->box) return op_is_ready(s, op_of(h), h->id);
  return h->exec || !order_holds(s, st, h->id);
}

bool hold_has(struct shim *s, const struct stream *st)
{
  return s->holds.n && s->holds.runner != shim_thread(s) && (st->hold || order_holds(s, st, UINT64_MAX));
}

bool hold_has_event(struct shim *s, CUevent e)
{
  return event_is_held(s, e, UINT64_MAX);
}

/* Putting off ---------------------------------------------------------------------------------------- */

static void append(struct shim *s, struct stream *st, struct held h)
{
  struct held *mine = shim_alloc(sizeof *mine);
  *mine = h;
  mine->id = s->next_id++;
  if (st->hold) st->hold_last->next = mine;
  else st->hold = mine, s->holds.n++;
  st->hold_last = mine;
}

static void put_off(struct shim *s, struct stream *st, struct held h)
{
  if (order_holds(s, st, UINT64_MAX)) append(s, st, (struct held){0});
  append(s, st, h);
}

/* The box is nobody's but ours, though the program's graphs are in the same list. */
static struct graph *box_of(struct shim *s, const struct graph_op *op)
{
  CUgraph g;
  CUgraphNode node;
  graph_create(s, &g, 0);
  graph_append(s, &node, g, NULL, 0, op);
  g->owned = true;
  return g;
}

bool hold_takes(struct shim *s, struct stream *st, const struct graph_op *op)
{
  if (!s->holds.n && op->type != NODE_MEM_OPS) return false;
  if (s->fault.code != CUDA_SUCCESS || s->holds.runner == shim_thread(s) || st->graph) return false;
  if (!hold_has(s, st) && op_is_ready(s, op, UINT64_MAX)) return false;
  put_off(s, st, (struct held){ .box = box_of(s, op) });
  return true;
}

bool hold_takes_exec(struct shim *s, struct stream *st, struct graph_exec *x)
{
  if (s->fault.code != CUDA_SUCCESS || !hold_has(s, st)) return false;
  put_off(s, st, (struct held){ .exec = x });
  return true;
}

/* And doing it --------------------------------------------------------------------------------------- */

static void pop(struct shim *s, struct stream *st)
{
  struct held *h = st->hold;
  st->hold = h->next;
  if (!st->hold) s->holds.n--;
  if (h->box) {
    h->box->owned = false;
    graph_destroy(s, h->box);
  }
  free(h);
}

static CUresult run(struct shim *s, struct stream *st, const struct held *h)
{
  if (h->exec) return exec_exists(s, h->exec) ? exec_launch_now(s, h->exec, st) : CUDA_ERROR_INVALID_VALUE;
  const struct graph_op *op = op_of(h);
  if (!op) return CUDA_SUCCESS;
  return op->type == NODE_MEM_FREE ? pool_free(s, op->memory.addr) : graph_run_op(s, op, st);
}

struct progress {
  uint64_t when;
  bool any;
};

static bool release(struct shim *s, struct stream *st, void *data)
{
  struct progress *p = data;
  while (st->hold && s->fault.code == CUDA_SUCCESS && is_ready(s, st, st->hold)) {
    if (st->clock.done < p->when) st->clock.done = p->when;
    s->holds.runner = shim_thread(s);
    CUresult r = run(s, st, st->hold);
    s->holds.runner = NULL;
    if (r != CUDA_SUCCESS) shim_say("an operation of a stream that waited failed in the end: error %d", (int)r);
    pop(s, st);
    p->any = true;
  }
  return !p->any; /* the list may have changed meanwhile */
}

static bool drop(struct shim *s, struct stream *st, void *data)
{
  (void)data;
  while (st->hold) pop(s, st);
  return true;
}

static void drop_all(struct shim *s)
{
  if (s->holds.n) each_stream(s, drop, NULL);
}

void hold_poll(struct shim *s, uint64_t when)
{
  struct progress p = { .when = when, .any = true };
  if (!s->holds.n || s->holds.runner) return;
  while (p.any && s->fault.code == CUDA_SUCCESS) {
    p.any = false;
    each_stream(s, release, &p);
  }
  if (s->fault.code != CUDA_SUCCESS) drop_all(s); /* nothing runs behind a fault */
}

static bool tell(struct shim *s, struct stream *st, void *data)
{
  char what[120] = "another stream";
  const struct graph_op *op = st->hold ? op_of(st->hold) : NULL;
  size_t behind = 0;
  (void)data;
  if (!st->hold) return true;
  if (op && op->type == NODE_MEM_OPS) mem_op_describe(s, op->memory_ops.op, what, sizeof what);
  for (const struct held *h = st->hold->next; h; h = h->next) behind++;
  shim_say("stream %llu waits for %s, with %zu operation%s behind it", (unsigned long long)st->id, what, behind,
           behind == 1 ? "" : "s");
  return true;
}

static void tell_all(struct shim *s)
{
  if (s->holds.n) each_stream(s, tell, NULL);
}

static void pause_host(struct shim *s, unsigned polls)
{
  const struct timespec a_while = { .tv_nsec = POLL_NS };
  hold_poll(s, s->time.now);
  if (polls == POLLS_UNTIL_TOLD) tell_all(s);
  pthread_mutex_unlock(&s->lock);
  if (polls) nanosleep(&a_while, NULL);
  pthread_mutex_lock(&s->lock);
}

void hold_wait(struct shim *s, const struct stream *st)
{
  for (unsigned polls = 0; st ? hold_has(s, st) : s->holds.n && s->holds.runner != shim_thread(s); polls++)
    pause_host(s, polls);
}

void hold_wait_event(struct shim *s, CUevent e)
{
  for (unsigned polls = 0; hold_has_event(s, e); polls++) pause_host(s, polls);
}

const struct shim_part hold_part = { .tell = tell_all, .drop = drop_all };
