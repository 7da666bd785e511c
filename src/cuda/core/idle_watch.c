#include "cuda/core/idle_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/own_thread.h"
#include "cuda/core/board_ranks.h"
#include "cuda/core/host_turns.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

enum { TICK_NS = 5 * 1000 * 1000, SPINS_NS = 20 * 1000 * 1000, ASLEEP_TICKS = 4, NS = 1000 * 1000 * 1000 };
enum { RANKED_TIMES = 1500 }; /* 30 s: no time passes for the program, which is told that it must not wait */

/* What is known of the thread that called last, since then. */
struct evidence {
  uint64_t calls;
  bool begun;        /* its processor time is known from `cpu` on */
  uint64_t cpu, now; /* ns */
  unsigned asleep;   /* ticks in which it slept and took no processor time */
};

/* False: the thread has gone. */
static bool cpu_time(const struct thread *t, uint64_t *ns)
{
  struct timespec c;
  if (clock_gettime(t->cpu, &c) != 0) return false;
  *ns = (uint64_t)c.tv_sec * NS + (uint64_t)c.tv_nsec;
  return true;
}

/* Not running, nor able to (proc(5), stat: the state follows the name, which ends with the last parenthesis). */
static bool is_asleep(const struct thread *t)
{
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)t->tid);
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  const char *name_end = strrchr(text, ')');
  return !name_end || name_end[1] != ' ' || name_end[2] != 'R';
}

/* Whether the program waits in its own code: its last caller has spun for so much processor time, or sleeps. A thread
 * that would run, but has no processor, does neither: so results do not depend on what else the machine does. */
static bool program_waits(const struct shim *s, struct evidence *e)
{
  const struct thread *t = s->caller;
  uint64_t now = 0;
  if (e->calls != s->calls) *e = (struct evidence){ .calls = s->calls };
  const uint64_t times = s->ranks ? RANKED_TIMES : 1;
  if (!t || !cpu_time(t, &now)) return ++e->asleep >= times * ASLEEP_TICKS;
  if (!e->begun) *e = (struct evidence){ .calls = s->calls, .begun = true, .cpu = now, .now = now };
  if ((now == e->now || s->ranks) && is_asleep(t)) e->asleep++;
  else if (!s->ranks) e->asleep = 0; /* else one that only looks now and then waits, too */
  e->now = now;
  return now - e->cpu >= times * SPINS_NS || e->asleep >= times * ASLEEP_TICKS;
}

/* With --spin strict all threads are looked at, and one that spins on a page that was left open closes it. */
static bool nobody_leads(struct shim *s, struct evidence *e)
{
  if (!s->host_turns) return true;
  if (poll_trap_is_spun_on(s)) {
    *e = (struct evidence){0};
    return false;
  }
  return host_turns_empty(s) && host_turns_stand(s);
}

_Noreturn static void *look_after(void *p)
{
  own_thread();
  const struct timespec tick = { .tv_nsec = TICK_NS };
  struct evidence e = {0};
  struct shim *s = p;
  for (;;) {
    nanosleep(&tick, NULL);
    pthread_mutex_lock(&s->lock);
    if (s->front.n_open && !s->front.busy && !s->ending && !s->starved && program_waits(s, &e) && nobody_leads(s, &e)) {
      board_ranks_tell_wait(s);
      s->record.spun = true;
      if (s->caller) ((struct thread *)s->caller)->host_clock.spun = true;
      task_run(s, FRONT_NEVER);
      shim_flush_print(s);
    }
    pthread_mutex_unlock(&s->lock);
  }
}

void idle_watch(struct shim *s)
{
  pthread_t thread;
  sigset_t all, before;
  if (s->looked_after) return;
  s->looked_after = true;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); /* the program's threads get its signals */
  if (pthread_create(&thread, NULL, look_after, s) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
