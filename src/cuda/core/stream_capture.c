#include "cuda/core/stream_capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "cuda/core/shim.h"

struct stream_capture {
  struct stream_capture *next;
  uint64_t id;
  struct graph *graph;
  bool own_graph;           /* given to the program at the end, or nobody */
  struct stream *origin; /* where it began and must end */
  const struct thread *thread;
  int mode;
  bool spoilt;
};

static void set_tips(struct node_set *t, CUgraphNode const *node, size_t n)
{
  CUgraphNode *copy = shim_alloc(n * sizeof *copy);
  if (n) memcpy(copy, node, n * sizeof *copy);
  free(t->node);
  *t = (struct node_set){ .node = copy, .n = n };
}

static void add_tips(struct node_set *t, CUgraphNode const *node, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    bool there = false;
    for (size_t k = 0; k < t->n; k++) there |= t->node[k] == node[i];
    if (there) continue;
    t->node = realloc(t->node, (t->n + 1) * sizeof(CUgraphNode));
    NO_MEMORY_IF(!t->node);
    t->node[t->n++] = node[i];
  }
}

static void leave(struct stream *st)
{
  free(st->tips.node);
  st->tips = (struct node_set){0};
  st->capture = NULL;
}

/* Calls fn for each stream there is. */
static void each_stream(struct shim *s, void (*fn)(struct stream *, void *), void *data)
{
  for (struct stream *st = s->streams.first; st; st = st->next) fn(st, data);
  for (struct thread *t = s->threads; t; t = t->next)
    for (unsigned i = 0; i < s->boards.n; i++) fn(&t->stream[i], data);
}

static void leave_if(struct stream *st, void *capture)
{
  if (st->capture == capture) leave(st);
}

static void close_capture(struct shim *s, struct stream_capture *c)
{
  struct stream_capture **at = &s->captures;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
  each_stream(s, leave_if, c);
  free(c);
}

CUresult capture_begin(struct shim *s, CUstream h, CUgraph g, const CUgraphNode *deps, size_t n, int mode)
{
  struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED || (n && !deps)) return CUDA_ERROR_INVALID_VALUE;
  if (st->order.legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (st->capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (g && !graph_exists(s, g)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++)
    if (!graph_is_node(s, deps[i]) || deps[i]->graph != g) return CUDA_ERROR_INVALID_VALUE;
  struct stream_capture *c = shim_alloc(sizeof *c);
  *c = (struct stream_capture){ .next = s->captures, .id = s->next_id++, .graph = g, .own_graph = !g,
                            .origin = st, .thread = shim_thread(s), .mode = mode };
  if (!g) graph_create(s, &c->graph, 0);
  s->captures = st->capture = c;
  set_tips(&st->tips, deps, n);
  return CUDA_SUCCESS;
}

/* Marks what the nodes wait for, and themselves. */
static void mark(struct graph_node *n)
{
  if (n->mark) return;
  n->mark = true;
  for (size_t d = 0; d < n->n_deps; d++) mark(n->dep[d]);
}

struct join_check {
  const struct stream_capture *capture;
  bool joined;
};

/* A node that the program itself has put into the graph, and then before a stream, need not be waited for: the stream
 * has captured nothing behind it. NCCL ends each of its operations with such a node. */
static void check_joined(struct stream *st, void *data)
{
  struct join_check *j = data;
  for (size_t i = 0; st->capture == j->capture && i < st->tips.n; i++)
    j->joined &= st->tips.node[i]->mark || !st->tips.node[i]->captured;
}

/* Marks what the stream has waited for. */
static void mark_joined(const struct stream_capture *c, const struct stream *st)
{
  for (size_t i = 0; i < c->graph->n; i++) c->graph->node[i]->mark = false;
  for (size_t i = 0; i < st->tips.n; i++) mark(st->tips.node[i]);
}

/* Whether the work of all streams of the capture came back to where it began. */
static bool all_joined(struct shim *s, struct stream_capture *c)
{
  struct join_check j = { c, true };
  mark_joined(c, c->origin);
  each_stream(s, check_joined, &j);
  return j.joined;
}

CUresult capture_end(struct shim *s, CUstream h, CUgraph *out)
{
  struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  struct stream_capture *c = st->capture;
  if (!c) return CUDA_ERROR_ILLEGAL_STATE;
  if (!out && c->own_graph) return CUDA_ERROR_INVALID_VALUE; /* else the program has the graph */
  if (c->origin != st) { /* an invalid operation like others: the capture is not usable any more */
    c->spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (c->mode != CAPTURE_RELAXED && c->thread != shim_thread(s))
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  CUresult r = c->spoilt            ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
               : !all_joined(s, c) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                    : CUDA_SUCCESS;
  if (out) *out = r == CUDA_SUCCESS ? c->graph : NULL;
  if (r != CUDA_SUCCESS && c->own_graph) graph_destroy(s, c->graph);
  close_capture(s, c);
  return r;
}

/* The legacy stream would have to wait for a stream that captures. */
static bool legacy_waits(const struct stream *st, const struct stream_capture *c)
{
  return st->order.legacy && !c->origin->order.non_blocking && c->origin->board == st->board;
}

/* Such an operation spoils the captures that it would wait for. */
static bool blocks_legacy(struct shim *s, const struct stream *st)
{
  bool any = false;
  for (struct stream_capture *c = s->captures; c; c = c->next)
    if (legacy_waits(st, c)) c->spoilt = any = true;
  return any;
}

bool capture_records(struct shim *s, struct stream *st, const struct graph_op *op, CUresult *r)
{
  struct graph_node *n;
  *r = CUDA_SUCCESS;
  if (!s->captures) return false;
  if (blocks_legacy(s, st)) return *r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, true;
  struct stream_capture *c = st->capture;
  if (!c) return false;
  if (c->spoilt) return *r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, true;
  *r = graph_append(s, &n, c->graph, st->tips.node, st->tips.n, op);
  if (*r != CUDA_SUCCESS) return true;
  n->captured = true;
  set_tips(&st->tips, &n, 1);
  return true;
}

bool capture_forbids(struct shim *s, const struct stream *st, CUresult *r)
{
  *r = CUDA_SUCCESS;
  if (!s->captures) return false;
  if (blocks_legacy(s, st)) *r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (st->capture) {
    st->capture->spoilt = true;
    *r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return *r != CUDA_SUCCESS;
}

/* CUDA Runtime API, cudaThreadExchangeStreamCaptureMode: its own captures that are not relaxed bind a thread unless it
 * is relaxed itself, the global ones of other threads bind one that is global. */
static bool binds(const struct stream_capture *c, const struct thread *t)
{
  if (c->mode == CAPTURE_RELAXED || t->capture_mode == CAPTURE_RELAXED) return false;
  return c->thread == t || (c->mode == CAPTURE_GLOBAL && t->capture_mode == CAPTURE_GLOBAL);
}

bool capture_forbids_unsafe(struct shim *s, CUresult *r)
{
  *r = CUDA_SUCCESS;
  for (struct stream_capture *c = s->captures; c; c = c->next) {
    if (!binds(c, shim_thread(s))) continue;
    c->spoilt = true;
    *r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return *r != CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

void capture_event(struct stream *st, struct event *e)
{
  e->capture = st->capture ? st->capture->id : 0;
  set_tips(&e->tips, st->tips.node, st->tips.n);
}

static struct stream_capture *of_event(const struct shim *s, const struct event *e)
{
  struct stream_capture *c = e->capture ? s->captures : NULL;
  while (c && c->id != e->capture) c = c->next;
  return c;
}

bool capture_has_event(const struct shim *s, const struct event *e)
{
  return of_event(s, e) != NULL;
}

CUresult capture_join(struct shim *s, struct stream *st, const struct event *e)
{
  struct stream_capture *c = of_event(s, e);
  if (!c) { /* a capturing stream cannot wait for what is outside */
    st->capture->spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (c->spoilt) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (st->order.legacy) return c->spoilt = true, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (st->capture && st->capture != c) {
    c->spoilt = st->capture->spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  st->capture = c;
  add_tips(&st->tips, e->tips.node, e->tips.n);
  return CUDA_SUCCESS;
}

/* Looking at it --------------------------------------------------------------------------------- */

CUresult capture_info(struct shim *s, CUstream h, int *status, uint64_t *id, CUgraph *g,
                      const CUgraphNode **deps, size_t *n)
{
  struct stream *st = stream_of(s, h);
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  /* A question about the legacy stream leaves captures as they are (cudaStreamIsCapturing: "is not invalidated"). */
  for (const struct stream_capture *other = s->captures; other; other = other->next)
    if (legacy_waits(st, other)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  const struct stream_capture *c = st->capture;
  *status = !c ? CAPTURE_NONE : c->spoilt ? CAPTURE_INVALIDATED : CAPTURE_ACTIVE;
  if (*status != CAPTURE_ACTIVE) return CUDA_SUCCESS;
  if (id) *id = c->id;
  if (g) *g = c->graph;
  if (deps) *deps = st->tips.node;
  if (n) *n = st->tips.n;
  return CUDA_SUCCESS;
}

CUresult capture_set_deps(struct shim *s, CUstream h, const CUgraphNode *deps, size_t n, bool replace)
{
  struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!st->capture || st->capture->spoilt) return CUDA_ERROR_ILLEGAL_STATE;
  if (n && !deps) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++)
    if (!graph_is_node(s, deps[i]) || deps[i]->graph != st->capture->graph)
      return CUDA_ERROR_INVALID_VALUE;
  if (replace) set_tips(&st->tips, deps, n);
  else add_tips(&st->tips, deps, n);
  return CUDA_SUCCESS;
}

void capture_forget_stream(struct shim *s, struct stream *st)
{
  struct stream_capture *c = st->capture;
  if (!c) return;
  struct join_check j = { c, true };
  mark_joined(c, c->origin);
  check_joined(st, &j);
  leave(st);
  if (c->origin == st) { /* nobody can end it any more */
    struct graph *g = c->own_graph ? c->graph : NULL;
    close_capture(s, c);
    if (g) graph_destroy(s, g);
  } else if (!j.joined) {
    c->spoilt = true;
  }
}

static void reset(struct shim *s, struct board *b)
{
  for (struct stream_capture *c = s->captures, *next; c; c = next) {
    next = c->next;
    if (c->origin->board == b) close_capture(s, c); /* graphs go by themselves */
  }
}

const struct shim_part capture_part = { .reset = reset };
