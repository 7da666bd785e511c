#include "cuda/core/call.h"

#include "cuda/core/together.h"

static CUresult check_need(struct shim *s, enum call_need need)
{
  if (need == NEED_NOTHING) return CUDA_SUCCESS;
  if (!s->up) return s->failed ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_NOT_INITIALIZED;
  if (need != NEED_LAUNCH) together_run(s);
  timeline_call(&s->time);
  hold_poll(s, s->time.now);
  if (need == NEED_GPU) return CUDA_SUCCESS;
  if (shim_fault_visible(s)) return s->fault.code;
  return context_current(s) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult call_enter(struct shim **s, enum call_need need)
{
  *s = shim_get();
  pthread_mutex_lock(&(*s)->lock);
  return check_need(*s, need);
}

CUresult call_enter_runtime(struct shim **s, enum call_need need)
{
  *s = shim_get();
  pthread_mutex_lock(&(*s)->lock);
  CUresult r = need == NEED_NOTHING ? CUDA_SUCCESS : shim_up(*s);
  if (r != CUDA_SUCCESS) return r;
  struct thread *t = shim_thread(*s);
  if (need >= NEED_CONTEXT && t->n_contexts == 0) t->context[t->n_contexts++] = context_primary(*s);
  return check_need(*s, need);
}

/* What has become possible by now happens. */
static CUresult finish(struct shim *s, CUresult r)
{
  hold_poll(s, s->time.last_end);
  user_object_bury(s);
  return r == CUDA_SUCCESS && shim_fault_visible(s) ? s->fault.code : r;
}

void call_tell(struct shim *s, const char *name, uint64_t begin)
{
  activity_call(s->activity, (uint64_t)pthread_self(), name, begin, s->time.now);
}

CUresult call_leave(struct shim *s, CUresult r)
{
  r = finish(s, r);
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult call_leave_runtime(struct shim *s, CUresult r)
{
  r = finish(s, r);
  /* "Not ready" is an answer, not an error (CUDA Runtime API, cudaErrorNotReady). */
  if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY) shim_thread(s)->last = r;
  pthread_mutex_unlock(&s->lock);
  return r;
}
