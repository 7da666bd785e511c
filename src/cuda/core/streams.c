#include "cuda/core/streams.h"

#include <stdlib.h>

#include "cuda/core/attributes.h"
#include "cuda/core/green_context.h"
#include "cuda/core/residency.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"
#include "host/front.h"

/* Streams -------------------------------------------------------------------------------------- */

static struct stream *own_stream(struct shim *s)
{
  struct board *b = board_current(s);
  struct stream *st = &shim_thread(s)->stream[b->number];
  st->board = b;
  return st;
}

static struct stream *legacy_stream(struct shim *s)
{
  const struct context *c = context_current(s);
  return c && c->green ? &c->green->legacy : &board_current(s)->legacy;
}

struct stream *stream_of(struct shim *s, CUstream h)
{
  if (h == NULL || h == STREAM_LEGACY) return legacy_stream(s);
  if (h == STREAM_PER_THREAD) return own_stream(s);
  struct stream *at = s->streams.first;
  while (at && at != h) at = at->next;
  return at;
}

CUresult stream_create_in(struct shim *s, CUstream *out, struct context *in, unsigned flags, int priority)
{
  if (!out || flags > STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  /* Priorities outside of the range are its ends (CUDA Driver API, cuStreamCreateWithPriority). */
  if (priority > STREAM_PRIORITY_LEAST) priority = STREAM_PRIORITY_LEAST;
  if (priority < STREAM_PRIORITY_GREATEST) priority = STREAM_PRIORITY_GREATEST;
  struct stream *st = shim_alloc(sizeof *st);
  *st = (struct stream){ .next = s->streams.first, .board = in ? in->board : board_current(s), .context = in,
                         .green = in ? in->green : NULL, .flags = flags, .priority = priority, .id = s->next_id++ };
  st->order.non_blocking = flags & STREAM_NON_BLOCKING;
  *out = s->streams.first = st;
  return CUDA_SUCCESS;
}

CUresult stream_create(struct shim *s, CUstream *out, unsigned flags, int priority)
{
  return stream_create_in(s, out, context_current(s), flags, priority);
}

void stream_free(struct shim *s, struct stream *st)
{
  struct stream **at = &s->streams.first;
  while (*at != st) at = &(*at)->next;
  *at = st->next;
  stream_order_end(s, st);
  free(st);
}

CUresult stream_describe(struct shim *s, CUstream h, unsigned *flags, int *priority, unsigned long long *id,
                         int *device)
{
  const struct stream *st = stream_of(s, h);
  if (!flags && !priority && !id && !device) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (flags) *flags = st->flags;
  if (priority) *priority = st->priority;
  if (id) *id = st->id;
  if (device) *device = (int)st->board->number;
  return CUDA_SUCCESS;
}

/* Attributes ------------------------------------------------------------------------------------ */

static CUresult set_window(struct stream *st, const CUaccessPolicyWindow *w)
{
  const CUresult r = residency_check(st->board, w);
  if (r == CUDA_SUCCESS) st->window = *w;
  return r;
}

CUresult stream_set_attribute(struct shim *s, CUstream h, int attribute, const CUlaunchAttributeValue *v)
{
  enum { SYNC_AUTO = 1, SYNC_BLOCKING = 4 };
  struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!v) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case LAUNCH_ATTR_WINDOW: return set_window(st, &v->window);
  case LAUNCH_ATTR_SYNC_POLICY:
    if (v->sync_policy < SYNC_AUTO || v->sync_policy > SYNC_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    st->sync_policy = v->sync_policy;
    return CUDA_SUCCESS;
  case LAUNCH_ATTR_PRIORITY: st->priority = v->priority; return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult stream_attribute(struct shim *s, CUstream h, int attribute, CUlaunchAttributeValue *v)
{
  const struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!v) return CUDA_ERROR_INVALID_VALUE;
  *v = (CUlaunchAttributeValue){{0}};
  switch (attribute) {
  case LAUNCH_ATTR_WINDOW: v->window = st->window; return CUDA_SUCCESS;
  case LAUNCH_ATTR_SYNC_POLICY: v->sync_policy = st->sync_policy ? st->sync_policy : 1; return CUDA_SUCCESS;
  case LAUNCH_ATTR_PRIORITY: v->priority = st->priority; return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult stream_copy_attributes(struct shim *s, CUstream to, CUstream from)
{
  struct stream *t = stream_of(s, to);
  const struct stream *f = stream_of(s, from);
  if (!t || !f) return CUDA_ERROR_INVALID_HANDLE;
  t->window = f->window;
  t->sync_policy = f->sync_policy;
  t->priority = f->priority;
  return CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

struct event *event_of(const struct shim *s, CUevent h)
{
  struct event *at = s->streams.events;
  while (at && at != h) at = at->next;
  return at;
}

CUresult event_create(struct shim *s, CUevent *out, unsigned flags)
{
  if (!out || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & EVENT_INTERPROCESS) && !(flags & EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_VALUE;
  struct event *e = shim_alloc(sizeof *e);
  *e = (struct event){ .next = s->streams.events, .board = board_current(s), .id = ++s->streams.events_made,
                        .flags = flags };
  *out = s->streams.events = e;
  return CUDA_SUCCESS;
}

bool event_flags(const struct shim *s, CUevent h, unsigned *flags)
{
  const struct event *e = event_of(s, h);
  if (e) *flags = e->flags;
  return e != NULL;
}

CUresult event_destroy(struct shim *s, CUevent h)
{
  for (struct event **at = &s->streams.events; *at; at = &(*at)->next) {
    if (*at != h) continue;
    *at = h->next;
    command_drop(h->command);
    free(h->tips.node);
    free(h);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_HANDLE;
}

/* The event, of which other processes know, happens with its command, which may not have been given yet. */
static void tell_others(struct shim *s, struct event *e)
{
  struct command *end = task_join(s, 0, ipc_record_ended, ipc_event_record(s, e));
  command_follow(end, e->command);
  front_give(&s->front, end);
  command_drop(end);
}

CUresult event_export(struct shim *s, CUevent h, int *fd, uint64_t *at)
{
  struct event *e = event_of(s, h);
  const bool known = e->shared;
  if (!ipc_event_export(s, e, fd, at)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!known && e->command) tell_others(s, e);
  return CUDA_SUCCESS;
}

void event_attach(struct shim *s, CUevent h, struct command *c)
{
  struct event *e = event_of(s, h);
  if (!e) return;
  struct command *before = e->command;
  e->capture = 0;
  e->command = command_hold(c);
  command_drop(before);
  if (e->shared) tell_others(s, e);
}

/* Another process has recorded it last: what asks until that has happened. */
static void follow_elsewhere(struct shim *s, struct command *c, const struct event *e, const struct shared_record *r)
{
  const struct graph_op op = { .type = NODE_SHARED_EVENT, .shared = *r };
  struct task *w = task_new(s, &op, &(struct task_site){ .board = e->board });
  command_follow(c, &w->command);
  front_give(&s->front, &w->command);
  command_drop(&w->command);
}

void event_follow(struct shim *s, struct command *c, CUevent h)
{
  const struct event *e = event_of(s, h);
  struct shared_record r;
  if (!e) return;
  if (ipc_event_is_elsewhere(e, &r)) follow_elsewhere(s, c, e, &r);
  else command_follow(c, e->command);
}

/* Captures are over, and nothing is put off. */
static void reset(struct shim *s, struct board *b)
{
  for (struct stream *st = s->streams.first, *next; st; st = next) {
    next = st->next;
    if (st->board == b) stream_free(s, st);
  }
  for (struct event *e = s->streams.events, *next; e; e = next) {
    next = e->next;
    if (e->board == b) event_destroy(s, e);
  }
  command_drop(b->gone);
  command_drop(b->left);
  b->gone = b->left = NULL;
}

const struct shim_part stream_part = { .reset = reset };
