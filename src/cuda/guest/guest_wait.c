#include "cuda/guest/guest_wait.h"

#include "base/arith.h"
#include "cuda/core/shim.h"
#include "cuda/core/synchronize.h"
#include "cuda/core/task.h"

enum { PS_PER_NS = 1000, STEP_PS = 1000000 };

/* What the other threads do. */
struct others {
  bool any, run;     /* one executes instructions */
  bool wait;         /* one makes its call again */
  uint64_t deadline; /* ns: the first that wakes; UINT64_MAX: none */
};

static struct others look_at_others(const struct linux_process *p)
{
  struct others o = {.any = p->n_threads > 1, .deadline = UINT64_MAX};
  for (uint32_t i = 0; i < p->n_threads; i++) {
    const struct linux_thread *t = p->thread[i];
    if (i == p->running) continue;
    if (t->state == LINUX_RUNS || t->woken) o.run = true;
    else if (t->state == LINUX_RETRIES) o.wait = true;
    else o.deadline = earlier(o.deadline, t->deadline);
  }
  return o;
}

static struct command *wanted(struct shim *s, const struct guest_entry *e, void *of)
{
  const struct event *event;
  switch (e->wait) {
  case GUEST_DEVICE: return boards_point(s, board_bit(board_current(s)));
  case GUEST_LEGACY: return stream_point(s, STREAM_LEGACY);
  case GUEST_STREAM: return stream_point(s, of);
  case GUEST_EVENT:
    event = event_of(s, of);
    return event && event->command ? command_hold(event->command) : NULL;
  default: return NULL;
  }
}

/* Nobody executes instructions: time passes until it has ended, or somebody wakes. */
static void pass_time(struct shim *s, const struct command *what, const struct others *o)
{
  uint64_t until = o->deadline < FRONT_NEVER / PS_PER_NS ? o->deadline * PS_PER_NS : FRONT_NEVER;
  if (o->wait) until = earlier(until, s->time.now + STEP_PS);
  task_run_for(s, what, until);
  const bool ended = what->state == COMMAND_DONE && what->end <= until;
  if (ended) timeline_wait(&s->time, what->end);
  else if (until != FRONT_NEVER) timeline_wait(&s->time, until);
}

static bool go_on(struct guest_call *c, const struct guest_entry *e, void *of, const struct others *o)
{
  struct shim *s = c->shim;
  struct guest_thread *t = c->thread;
  if (!t->waits) t->waits = wanted(s, e, of);
  if (t->waits && !o->run && !c->in_time && !task_has_ended(s, t->waits)) pass_time(s, t->waits, o);
  if (t->waits && !task_has_ended(s, t->waits)) return true;
  command_drop(t->waits);
  t->waits = NULL;
  return false;
}

bool guest_wait(struct guest_call *c, const struct guest_entry *e)
{
  const struct others o = look_at_others(c->process);
  struct shim *s = c->shim;
  if (e->wait == GUEST_NOW || !s->up || !s->live || s->captures || s->starved) return false;
  const bool alone = !o.run && !o.wait && o.deadline == UINT64_MAX;
  if (alone && !c->in_time && !c->functions->caller && !c->thread->waits) return false;
  void *const of = e->wait == GUEST_STREAM  ? guest_handle(c, e->which, GUEST_CUstream)
                   : e->wait == GUEST_EVENT ? guest_handle(c, e->which, GUEST_CUevent) : NULL;
  pthread_mutex_lock(&s->lock);
  const bool again = go_on(c, e, of, &o);
  pthread_mutex_unlock(&s->lock);
  if (again) linux_running(c->process)->state = LINUX_RETRIES;
  return again;
}
