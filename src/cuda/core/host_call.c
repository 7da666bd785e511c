#include "cuda/core/host_call.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "cuda/core/host_turns.h"
#include "cuda/core/poll_trap.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

enum { PATIENCE_NS = 100 * 1000 * 1000, LOOK_NS = 1000 * 1000, NS = 1000 * 1000 * 1000 };

static void take_first(struct host_calls *h)
{
  for (uint32_t i = 1; i < h->n; i++) h->queue[i - 1] = h->queue[i];
  h->n--;
}

/* Without the lock: the program's function may call, and take its time. */
static void call(struct shim *s, const struct task *w)
{
  void (*fn)(void *) = w->op.host.fn;
  void *data = w->op.host.data;
  shim_flush_print(s);
  if (s->polls) poll_trap_behind_call(s); /* what the last function looked at does not count */
  s->host_calls.calls = true;
  pthread_mutex_unlock(&s->lock);
  fn(data);
  shim_lock(s);
  s->host_calls.calls = false;
}

/* The thread of these calls blocks signals but while a function runs: what that raises is handled in it, by the mask
 * of the thread that gave the first function. */
static void call_in_thread(struct shim *s, const struct task *w)
{
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, &s->host_calls.signals, &blocked);
  call(s, w);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

/* Those of an access to memory that is closed (poll_trap.h); the thread that starts this one may be at one. */
static void take_faults(struct host_calls *h)
{
  static const int faults[] = {SIGSEGV, SIGTRAP, SIGSYS};
  sigset_t taken;
  sigemptyset(&taken);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    sigaddset(&taken, faults[i]);
    sigdelset(&h->signals, faults[i]);
  }
  pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
}

_Noreturn static void *call_all(void *p)
{
  struct shim *s = p;
  struct host_calls *h = &s->host_calls;
  take_faults(h);
  pthread_mutex_lock(&s->lock);
  for (;;) {
    while (!h->n) pthread_cond_wait(&h->posted, &s->lock);
    struct task *w = h->queue[0];
    call_in_thread(s, w);
    take_first(h);
    s->function_polls = false;
    w->done = 1;
    if (w->unattended) front_end(&s->front, &w->command, s->front.now); /* nobody waits for it any more */
    command_drop(&w->command);
    pthread_cond_broadcast(&h->returned);
  }
}

static void start(struct shim *s)
{
  struct host_calls *h = &s->host_calls;
  sigset_t all, before;
  if (h->started) return;
  pthread_cond_init(&h->posted, NULL);
  pthread_cond_init(&h->returned, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); /* the program's threads get its signals */
  h->signals = before;
  h->started = pthread_create(&h->thread, NULL, call_all, s) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool returns_within(struct shim *s, const struct task *w, uint64_t ns)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)ns;
  until.tv_sec += until.tv_nsec / NS;
  until.tv_nsec %= NS;
  while (!w->done)
    if (pthread_cond_timedwait(&s->host_calls.returned, &s->lock, &until) == ETIMEDOUT) break;
  return w->done;
}

/* False: it has not returned yet. With `--spin strict` the machine's load does not decide: one that computes is waited
 * for as any thread is, one that polls or sleeps is not. */
static bool wait_a_while(struct shim *s, const struct task *w)
{
  const struct host_calls *h = &s->host_calls;
  if (!s->host_turns) return returns_within(s, w, PATIENCE_NS);
  while (!returns_within(s, w, LOOK_NS) && !s->function_polls && !(h->calls && host_turns_stand(s))) continue;
  return w->done;
}

enum command_way host_call_begin(struct task *w, uint64_t now)
{
  struct shim *s = w->shim;
  struct host_calls *h = &s->host_calls;
  (void)now;
  if (s->ending) return COMMAND_LASTS;
  if (program_is_guest(s)) {
    shim_flush_print(s);
    command_hold(&w->command);
    s->program.host_call(s->program.memory->ctx, w);
    return COMMAND_GOES;
  }
  start(s);
  if (!h->started) { /* no thread to be had */
    call(s, w);
    return COMMAND_LASTS;
  }
  h->queue = mem_more(h->queue, h->n, &h->room, sizeof(struct task *));
  h->queue[h->n++] = w;
  command_hold(&w->command);
  pthread_cond_signal(&h->posted);
  if (wait_a_while(s, w)) return COMMAND_LASTS;
  w->unattended = true;
  return COMMAND_GOES;
}

void host_call_returned(struct task *w)
{
  struct shim *s = w->shim;
  w->done = 1;
  front_end(&s->front, &w->command, later(s->time.now, s->front.now));
  command_drop(&w->command);
}

bool host_call_is_mine(const struct shim *s)
{
  return s->host_calls.started && pthread_equal(s->host_calls.thread, pthread_self());
}
