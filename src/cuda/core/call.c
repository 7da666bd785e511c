#include "cuda/core/call.h"

#include "cuda/core/host_turns.h"
#include "cuda/core/managed.h"
#include "cuda/core/poll_trap.h"
#include "cuda/core/task.h"

static void clock_enter(struct call *c)
{
  host_clock_enter(c->s);
  c->clocked = true;
}

/* What the call gives from now on is told of by its number. */
static void mark(struct call *c)
{
  struct traced_call *t = &c->traced;
  t->begin = c->s->time.call_begin;
  if (t->clocked) t->mark.begin = t->begin;
  c->s->call_mark = t->mark;
}

/* Those of the host on managed memory, in which GPUs go on. */
static void take_host_faults(struct shim *s)
{
  for (uint64_t at; (at = managed_serve(s)) != 0;) {
    timeline_wait(&s->time, at);
    task_catch_up(s);
  }
}

static CUresult check_need(struct call *c, enum call_need need)
{
  struct shim *s = c->s;
  if (need == NEED_NOTHING) return CUDA_SUCCESS;
  if (s->starved) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!s->up) return s->failed_as ? s->failed_as : s->failed ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_NOT_INITIALIZED;
  managed_look(s);
  if (s->enter) s->enter(s);
  if (s->host_clock) clock_enter(c);
  task_catch_up(s);
  take_host_faults(s);
  timeline_call(&s->time);
  mark(c);
  if (need == NEED_GPU) return CUDA_SUCCESS;
  if (shim_fault_visible(s)) return s->fault.code;
  return context_current(s) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Behind the lock. */
static CUresult tell_end(struct call *c, CUresult r)
{
  struct tracer *t = c->traced.mark.number ? atomic_load(&c->s->tracer) : NULL;
  if (t) t->leave(t, &c->traced, r);
  return r;
}

static void take_turn(struct shim *s)
{
  host_turns_meet(s);
  if (!host_call_is_mine(s)) host_turns_call(s);
}

static struct shim *lock(struct call *c)
{
  struct shim *s = shim_get();
  struct tracer *tracer = c->traced.name ? atomic_load(&s->tracer) : NULL;
  if (tracer) tracer->enter(tracer, &c->traced);
  shim_lock(s);
  s->calls++;
  s->caller = pthread_getspecific(s->thread_key);
  if (s->host_turns && !s->forked) take_turn(s); /* a child has no GPU, and none of the threads it would wait for */
  return c->s = s;
}

static CUresult unlock(struct call *c, CUresult r)
{
  memory_end(&c->memory);
  if (c->clocked) host_clock_leave(c->s);
  if (c->s->polls) poll_trap_behind_call(c->s);
  c->traced.end = c->s->time.now;
  pthread_mutex_unlock(&c->s->lock);
  return tell_end(c, r);
}

CUresult call_enter(struct call *c, enum call_need need)
{
  lock(c);
  return check_need(c, need);
}

CUresult call_enter_runtime(struct call *c, enum call_need need)
{
  struct shim *s = lock(c);
  const bool turned = s->host_turns;
  CUresult r = need == NEED_NOTHING ? CUDA_SUCCESS : shim_up(s);
  if (r != CUDA_SUCCESS) return r;
  if (s->host_turns && !turned) take_turn(s); /* whichever thread started the GPU */
  struct thread *t = shim_thread(s);
  if (need >= NEED_CONTEXT && t->n_contexts == 0)
    t->context[t->n_contexts++] = context_primary(s, &s->boards.of[0]);
  return check_need(c, need);
}

static CUresult finish(struct shim *s, CUresult r)
{
  if (s->starved || s->forked) return r;
  task_go_on(s);
  user_object_bury(s);
  return r == CUDA_SUCCESS && shim_fault_visible(s) ? s->fault.code : r;
}

void call_tell(struct shim *s, const char *name, uint64_t begin)
{
  activity_call(s->activity, (uint64_t)pthread_self(), name, begin, s->time.now);
}

CUresult call_leave(struct call *c, CUresult r)
{
  return unlock(c, finish(c->s, r));
}

/* "Not ready" is an answer, not an error (CUDA Runtime API, cudaErrorNotReady). */
CUresult call_leave_runtime(struct call *c, CUresult r)
{
  r = finish(c->s, r);
  if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY) shim_thread(c->s)->last = r;
  return unlock(c, r);
}

/* Before there is a lock, nothing has changed. */
CUresult call_starved(struct call *c)
{
  if (c->s) {
    shim_starve(c->s);
    return unlock(c, CUDA_ERROR_OUT_OF_MEMORY);
  }
  memory_end(&c->memory);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult call_starved_runtime(struct call *c)
{
  struct thread *t = c->s ? pthread_getspecific(c->s->thread_key) : NULL;
  if (t) t->last = CUDA_ERROR_OUT_OF_MEMORY;
  return call_starved(c);
}
