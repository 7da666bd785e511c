#include "cuda/core/synchronize.h"

#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"

/* Streams -------------------------------------------------------------------------------------- */

CUresult stream_wait(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  hold_wait(s, st);
  return shim_wait(s, timeline_stream_ready(&s->time, &st->clock));
}

CUresult stream_wait_all(struct shim *s)
{
  CUresult r;
  if (capture_forbids_all(s, &r)) return r;
  hold_wait(s, NULL);
  return shim_wait(s, s->time.all_done);
}

CUresult stream_query(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  if (hold_has(s, st)) return CUDA_ERROR_NOT_READY;
  return timeline_stream_ready(&s->time, &st->clock) <= s->time.now ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_NOT_READY;
}

CUresult stream_destroy(struct shim *s, CUstream h)
{
  struct stream *st = s->streams.first;
  while (st && st != h) st = st->next;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  capture_forget_stream(s, st);
  hold_wait(s, st);
  stream_free(s, st);
  return CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

CUresult event_query(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  if (hold_has_event(s, h)) return CUDA_ERROR_NOT_READY;
  return e->recorded && e->when > s->time.now ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult event_wait(struct shim *s, CUevent h)
{
  struct event *e = event_of(s, h);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e)) return CUDA_ERROR_CAPTURED_EVENT;
  hold_wait_event(s, h);
  return shim_wait(s, e->recorded ? e->when : 0);
}

CUresult event_elapsed(struct shim *s, float *ms, CUevent from, CUevent to)
{
  struct event *a = event_of(s, from), *b = event_of(s, to);
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
  struct event *e = event_of(s, h);
  CUresult r;
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_all(s, &r)) return r;
  hold_wait(s, NULL);
  *e = (struct event){ .next = e->next, .flags = e->flags, .recorded = true, .tips = e->tips,
                       .when = s->time.all_done > s->time.now ? s->time.all_done : s->time.now };
  return CUDA_SUCCESS;
}

CUresult stream_wait_event_all(struct shim *s, CUevent h)
{
  CUresult r;
  if (!event_of(s, h)) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids_all(s, &r)) return r;
  hold_wait_event(s, h);
  for (struct stream *st = s->streams.first; st; st = st->next) stream_wait_event_now(s, st, h);
  for (struct thread *t = s->threads; t; t = t->next) stream_wait_event_now(s, &t->stream, h);
  return stream_wait_event_now(s, &s->streams.legacy, h);
}
