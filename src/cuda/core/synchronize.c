#include "cuda/core/synchronize.h"

#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/task.h"

/* Streams -------------------------------------------------------------------------------------- */

static bool has_ended(struct shim *s, struct command *c, void *ctx)
{
  (void)ctx;
  return task_has_ended(s, c);
}

/* What a new operation of the stream would come behind, held: others may give more while the host waits. */
static struct command *all_before(struct shim *s, const struct stream *st)
{
  struct command *c = task_join(s, 0, NULL, NULL);
  stream_follow(s, c, st);
  front_give(&s->front, c);
  return c;
}

CUresult stream_wait(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  struct command *c = all_before(s, st);
  r = task_wait(s, c);
  command_drop(c);
  return r;
}

CUresult stream_wait_all(struct shim *s)
{
  CUresult r;
  if (capture_forbids_all(s, &r)) return r;
  return task_wait_all(s);
}

CUresult stream_query(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  return stream_each_before(s, st, has_ended, NULL) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult stream_destroy(struct shim *s, CUstream h)
{
  struct stream *st = s->streams.first;
  while (st && st != h) st = st->next;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  capture_forget_stream(s, st);
  stream_free(s, st);
  return CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

CUresult event_query(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  return task_has_ended(s, e->command) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult event_wait(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  return e->command ? task_wait(s, e->command) : shim_wait(s, 0);
}

CUresult event_elapsed(struct shim *s, float *ms, CUevent from, CUevent to)
{
  struct event *a = event_of(s, from), *b = event_of(s, to);
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  if (!a || !b || !a->command || !b->command || ((a->flags | b->flags) & EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!task_has_ended(s, a->command) || !task_has_ended(s, b->command)) return CUDA_ERROR_NOT_READY;
  *ms = (float)(((double)b->command->end - (double)a->command->end) / 1e9);
  return CUDA_SUCCESS;
}

/* Contexts ------------------------------------------------------------------------------------- */

/* Calls fn for each stream there is. */
static void each_stream(struct shim *s, void (*fn)(struct shim *, struct stream *, void *), void *ctx)
{
  for (struct stream *st = s->streams.first; st; st = st->next) fn(s, st, ctx);
  for (struct thread *t = s->threads; t; t = t->next) fn(s, &t->stream, ctx);
  fn(s, &s->streams.legacy, ctx);
}

static void come_behind(struct shim *s, struct stream *st, void *command)
{
  stream_follow(s, command, st);
}

CUresult event_record_all(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  CUresult r;
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_all(s, &r)) return r;
  struct command *all = task_join(s, s->time.now, NULL, NULL);
  each_stream(s, come_behind, all);
  event_attach(s, h, all);
  front_give(&s->front, all);
  command_drop(all);
  return CUDA_SUCCESS;
}

static void wait_for_event(struct shim *s, struct stream *st, void *event)
{
  struct task *w = task_of_stream(s, &(struct graph_op){ .type = NODE_WAIT_EVENT, .event = event }, st);
  event_follow(s, &w->command, event);
  task_give(w, st);
}

CUresult stream_wait_event_all(struct shim *s, CUevent h)
{
  CUresult r;
  if (!event_of(s, h)) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_all(s, &r)) return r;
  each_stream(s, wait_for_event, h);
  return CUDA_SUCCESS;
}
