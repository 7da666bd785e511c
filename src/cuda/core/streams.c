#include "cuda/core/streams.h"

#include <stdlib.h>

#include "cuda/core/attributes.h"
#include "cuda/core/hold.h"
#include "cuda/core/stream_capture.h"

/* Streams -------------------------------------------------------------------------------------- */

struct cu_stream *stream_of(struct shim *s, CUstream h)
{
  if (h == NULL || h == STREAM_LEGACY) return &s->legacy;
  if (h == STREAM_PER_THREAD) return &shim_thread(s)->stream;
  struct cu_stream *at = s->streams;
  while (at && at != h) at = at->next;
  return at;
}

CUresult stream_create(struct shim *s, CUstream *out, unsigned flags, int priority)
{
  if (!out || flags > STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  /* Priorities outside of the range are its ends (CUDA Driver API, cuStreamCreateWithPriority). */
  if (priority > STREAM_PRIORITY_LEAST) priority = STREAM_PRIORITY_LEAST;
  if (priority < STREAM_PRIORITY_GREATEST) priority = STREAM_PRIORITY_GREATEST;
  struct cu_stream *st = shim_alloc(sizeof *st);
  *st = (struct cu_stream){ .next = s->streams, .context = shim_context(s), .flags = flags,
                            .priority = priority, .id = s->next_id++ };
  st->clock.non_blocking = flags & STREAM_NON_BLOCKING;
  *out = s->streams = st;
  return CUDA_SUCCESS;
}

static void unlink_stream(struct shim *s, const struct cu_stream *st)
{
  struct cu_stream **at = &s->streams;
  while (*at != st) at = &(*at)->next;
  *at = st->next;
}

CUresult stream_destroy(struct shim *s, CUstream h)
{
  for (struct cu_stream **at = &s->streams; *at; at = &(*at)->next) {
    if (*at != h) continue;
    capture_forget_stream(s, h);
    hold_wait(s, h);
    unlink_stream(s, h);
    free(h); /* its work is done: only times lie ahead, and those are kept */
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_HANDLE;
}

CUresult stream_wait(struct shim *s, CUstream h)
{
  struct cu_stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  hold_wait(s, st);
  return shim_wait(s, timeline_stream_ready(&s->time, &st->clock));
}

CUresult stream_query(struct shim *s, CUstream h)
{
  struct cu_stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  if (hold_has(s, st)) return CUDA_ERROR_NOT_READY;
  return timeline_stream_ready(&s->time, &st->clock) <= s->time.now ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_NOT_READY;
}

/* Attributes ------------------------------------------------------------------------------------ */

static CUresult set_window(struct shim *s, struct cu_stream *st, const CUaccessPolicyWindow *w)
{
  enum { PROPERTY_STREAMING = 1, PROPERTY_PERSISTING = 2 };
  int most = 0;
  device_attribute(&s->preset.params, ATTRIBUTE_MAX_WINDOW, &most);
  if (w->bytes > (size_t)most || !(w->hit_ratio >= 0 && w->hit_ratio <= 1) || w->hit < 0 ||
      w->hit > PROPERTY_PERSISTING || w->miss < 0 || w->miss > PROPERTY_STREAMING)
    return CUDA_ERROR_INVALID_VALUE;
  st->window = *w;
  return CUDA_SUCCESS;
}

CUresult stream_set_attribute(struct shim *s, CUstream h, int attribute, const CUlaunchAttributeValue *v)
{
  enum { SYNC_AUTO = 1, SYNC_BLOCKING = 4 };
  struct cu_stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!v) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case LAUNCH_ATTR_WINDOW: return set_window(s, st, &v->window);
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
  const struct cu_stream *st = stream_of(s, h);
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
  struct cu_stream *t = stream_of(s, to);
  const struct cu_stream *f = stream_of(s, from);
  if (!t || !f) return CUDA_ERROR_INVALID_HANDLE;
  t->window = f->window;
  t->sync_policy = f->sync_policy;
  t->priority = f->priority;
  return CUDA_SUCCESS;
}

CUresult stream_wait_all(struct shim *s)
{
  CUresult r;
  if (capture_forbids_all(s, &r)) return r;
  hold_wait(s, NULL);
  return shim_wait(s, s->time.all_done);
}

CUresult stream_call(struct shim *s, CUstream h, void (*fn)(void *), void *data)
{
  struct cu_stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_HOST, .host = { fn, data } };
  CUresult r;
  if (capture_takes(s, st, &op, &r)) return r;
  stream_host(s, st, fn, data);
  return CUDA_SUCCESS;
}

struct callback {
  void (*fn)(CUstream, CUresult, void *);
  CUstream stream;
  void *data;
};

static void call_back(void *p)
{
  struct callback c = *(struct callback *)p;
  free(p);
  c.fn(c.stream, CUDA_SUCCESS, c.data);
}

CUresult stream_callback(struct shim *s, CUstream h, void (*fn)(CUstream, CUresult, void *), void *data,
                         unsigned flags)
{
  struct cu_stream *st = stream_of(s, h);
  CUresult r;
  if (!fn || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  struct callback *c = shim_alloc(sizeof *c);
  *c = (struct callback){ fn, h, data };
  struct graph_op op = { .type = NODE_HOST, .host = { call_back, c } };
  if (!hold_takes(s, st, &op)) stream_host(s, st, call_back, c);
  return CUDA_SUCCESS;
}

void stream_host(struct shim *s, struct cu_stream *st, void (*fn)(void *), void *data)
{
  uint64_t at = timeline_start(&s->time, &st->clock, TIMELINE_NONE);
  timeline_finish(&s->time, &st->clock, TIMELINE_NONE, at);
  shim_flush_print(s);
  pthread_mutex_unlock(&s->lock); /* other threads may call while the program's function runs */
  fn(data);
  pthread_mutex_lock(&s->lock);
}

void stream_destroy_all(struct shim *s)
{
  while (s->streams) stream_destroy(s, s->streams);
  while (s->events) event_destroy(s, s->events);
}

/* Events --------------------------------------------------------------------------------------- */

static struct cu_event *event_of(const struct shim *s, CUevent h)
{
  struct cu_event *at = s->events;
  while (at && at != h) at = at->next;
  return at;
}

CUresult event_create(struct shim *s, CUevent *out, unsigned flags)
{
  if (!out || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & EVENT_INTERPROCESS) && !(flags & EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_VALUE;
  struct cu_event *e = shim_alloc(sizeof *e);
  *e = (struct cu_event){ .next = s->events, .flags = flags };
  *out = s->events = e;
  return CUDA_SUCCESS;
}

bool event_flags(const struct shim *s, CUevent h, unsigned *flags)
{
  const struct cu_event *e = event_of(s, h);
  if (e) *flags = e->flags;
  return e != NULL;
}

CUresult event_destroy(struct shim *s, CUevent h)
{
  for (struct cu_event **at = &s->events; *at; at = &(*at)->next) {
    if (*at != h) continue;
    *at = h->next;
    free(h->tips.node);
    free(h);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_HANDLE;
}

CUresult event_record(struct shim *s, CUevent h, CUstream stream, unsigned flags)
{
  struct cu_event *e = event_of(s, h);
  struct cu_stream *st = stream_of(s, stream);
  struct graph_op op = { .type = NODE_EVENT_RECORD, .event = h };
  CUresult r;
  if (!e || !st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture && !(flags & EVENT_EXTERNAL)) return capture_event(st, e), CUDA_SUCCESS;
  if (capture_takes(s, st, &op, &r)) return r;
  return event_record_now(s, h, st);
}

CUresult event_record_now(struct shim *s, CUevent h, struct cu_stream *st)
{
  struct cu_event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  e->capture = 0;
  e->recorded = true;
  e->when = timeline_start(&s->time, &st->clock, TIMELINE_NONE);
  timeline_finish(&s->time, &st->clock, TIMELINE_NONE, e->when);
  return CUDA_SUCCESS;
}

CUresult stream_wait_event(struct shim *s, CUstream h, CUevent event, unsigned flags)
{
  struct cu_stream *st = stream_of(s, h);
  struct cu_event *e = event_of(s, event);
  struct graph_op op = { .type = NODE_WAIT_EVENT, .event = event };
  CUresult r;
  if (!st || !e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e) || (st->capture && !(flags & EVENT_EXTERNAL)))
    return capture_join(s, st, e);
  if (capture_takes(s, st, &op, &r)) return r;
  return stream_wait_event_now(s, st, event);
}

CUresult stream_wait_event_now(struct shim *s, struct cu_stream *st, CUevent event)
{
  struct cu_event *e = event_of(s, event);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (!e->recorded) return CUDA_SUCCESS;
  uint64_t ready = timeline_start(&s->time, &st->clock, TIMELINE_NONE);
  timeline_finish(&s->time, &st->clock, TIMELINE_NONE, e->when > ready ? e->when : ready);
  return CUDA_SUCCESS;
}

CUresult event_query(struct shim *s, CUevent h)
{
  struct cu_event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  if (hold_has_event(s, h)) return CUDA_ERROR_NOT_READY;
  return e->recorded && e->when > s->time.now ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult event_wait(struct shim *s, CUevent h)
{
  struct cu_event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  hold_wait_event(s, h);
  return shim_wait(s, e->recorded ? e->when : 0);
}

CUresult event_elapsed(struct shim *s, float *ms, CUevent from, CUevent to)
{
  struct cu_event *a = event_of(s, from), *b = event_of(s, to);
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  if (a && b && (hold_has_event(s, from) || hold_has_event(s, to))) return CUDA_ERROR_NOT_READY;
  if (!a || !b || !a->recorded || !b->recorded || ((a->flags | b->flags) & EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (a->when > s->time.now || b->when > s->time.now) return CUDA_ERROR_NOT_READY;
  *ms = (float)(((double)b->when - (double)a->when) / 1e9);
  return CUDA_SUCCESS;
}

/* Contexts ------------------------------------------------------------------------------------- */

CUresult event_record_all(struct shim *s, CUevent h)
{
  struct cu_event *e = event_of(s, h);
  CUresult r;
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_all(s, &r)) return r;
  hold_wait(s, NULL);
  *e = (struct cu_event){ .next = e->next, .flags = e->flags, .recorded = true, .tips = e->tips,
                          .when = s->time.all_done > s->time.now ? s->time.all_done : s->time.now };
  return CUDA_SUCCESS;
}

CUresult stream_wait_event_all(struct shim *s, CUevent h)
{
  CUresult r;
  if (!event_of(s, h)) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_all(s, &r)) return r;
  hold_wait_event(s, h);
  for (struct cu_stream *st = s->streams; st; st = st->next) stream_wait_event_now(s, st, h);
  for (struct cu_thread *t = s->threads; t; t = t->next) stream_wait_event_now(s, &t->stream, h);
  return stream_wait_event_now(s, &s->legacy, h);
}
