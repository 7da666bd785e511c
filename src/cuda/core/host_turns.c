#include "cuda/core/host_turns.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "cuda/core/shim.h"

#define TASKS "/proc/self/task"

enum { GRACE_NS = 500 * 1000 * 1000, PAUSE_NS = 50 * 1000, NS = 1000 * 1000 * 1000, RUNNERS = 256 };

/* A thread that was found running. */
struct runner {
  pid_t tid;
  uint64_t since; /* ns of its processor time */
  bool free;      /* nobody waits for it any more */
};

struct host_turns {
  struct host_turn *first;
  struct runner runner[RUNNERS];
  unsigned n_runners;
  nlink_t alone; /* of TASKS, when no other thread of the program was there; 0: some are */
};

struct host_turns *host_turns_new(void)
{
  return shim_alloc(sizeof(struct host_turns));
}

/* Turns ------------------------------------------------------------------------------------------------- */

static void forget(struct host_turns *x, pid_t tid)
{
  for (unsigned i = 0; i < x->n_runners; i++)
    if (x->runner[i].tid == tid) x->runner[i] = x->runner[--x->n_runners];
}

void host_turns_meet(struct shim *s)
{
  if (s->host_turns->n_runners) forget(s->host_turns, gettid());
}

void host_turns_begin(struct shim *s, struct host_turn *t, const struct command *c)
{
  *t = (struct host_turn){ .next = s->host_turns->first, .tid = gettid(), .command = c, .at = FRONT_NEVER,
                           .placed = c };
  s->host_turns->first = t;
  s->front.look_up = true; /* whoever lets time pass looks who is next */
}

void host_turns_end(struct shim *s, struct host_turn *t)
{
  struct host_turn **at = &s->host_turns->first;
  while (*at != t) at = &(*at)->next;
  *at = t->next;
}

bool host_turns_empty(const struct shim *s)
{
  return !s->host_turns->first;
}

static const struct host_turn *turn_of(const struct host_turns *x, pid_t tid)
{
  const struct host_turn *t = x->first;
  while (t && t->tid != tid) t = t->next;
  return t;
}

static bool is_before(const struct host_turn *a, const struct host_turn *b)
{
  return a->at != b->at ? a->at < b->at : a->tid < b->tid;
}

/* Threads that run ---------------------------------------------------------------------------------------- */

/* proc(5), stat: the state follows the name, which is in parentheses. '\0': the thread has gone; 'O': it is ours. */
static char state_of(const char *tid)
{
  char path[64], text[256];
  snprintf(path, sizeof path, TASKS "/%.20s/stat", tid);
  const int f = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = f < 0 ? 0 : read(f, text, sizeof text - 1);
  if (f >= 0) close(f);
  if (n <= 0) return '\0';
  text[n] = '\0';
  if (strstr(text, "(" OWN_THREAD_NAME ")")) return 'O';
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

/* Of a thread of this process (the clocks of pthread_getcpuclockid, by number: linux/posix-timers.h). */
static uint64_t processor_ns(pid_t tid)
{
  enum { PER_THREAD_SCHED = 6 };
  struct timespec t;
  const clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | PER_THREAD_SCHED);
  return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec : 0;
}

static bool is_waited_for(struct shim *s, pid_t tid)
{
  struct host_turns *x = s->host_turns;
  struct runner *r = x->runner;
  while (r < x->runner + x->n_runners && r->tid != tid) r++;
  if (r == x->runner + RUNNERS) return true;
  if (r == x->runner + x->n_runners) {
    x->n_runners++;
    *r = (struct runner){ .tid = tid, .since = processor_ns(tid) };
  }
  const uint64_t now = processor_ns(tid);
  if (r->free || now < r->since + GRACE_NS) return !r->free;
  if (poll_trap_is_spun_on(s)) return r->since = now, true;
  s->record.graces++;
  r->free = true;
  return false;
}

/* Of one thread of the process. */
static bool runs(struct shim *s, const char *name, unsigned *others)
{
  const pid_t tid = (pid_t)atoi(name);
  if (tid == 0 || tid == gettid()) return false;
  const char state = state_of(name);
  if (state == '\0' || state == 'O' || state == 'Z' || state == 'X') return false;
  ++*others;
  if (turn_of(s->host_turns, tid)) return false;
  if (state == 'R' || state == 'D') return is_waited_for(s, tid);
  forget(s->host_turns, tid);
  return false;
}

static bool is_alone(const struct host_turns *x)
{
  struct stat st;
  return x->alone && stat(TASKS, &st) == 0 && st.st_nlink == x->alone;
}

static bool any_runs(struct shim *s)
{
  struct host_turns *x = s->host_turns;
  unsigned others = 0;
  bool any = false;
  struct stat st;
  if (is_alone(x) || stat(TASKS, &st) != 0) return false;
  DIR *d = opendir(TASKS);
  if (!d) return false;
  for (const struct dirent *e; (e = readdir(d));) any |= runs(s, e->d_name, &others);
  closedir(d);
  x->alone = others ? 0 : st.st_nlink;
  return any;
}

bool host_turns_stand(struct shim *s)
{
  const pid_t me = gettid();
  if (atomic_load(&s->wanted)) return false;
  for (const struct host_turn *t = s->host_turns->first; t; t = t->next)
    if (t->command && t->command->state == COMMAND_DONE && t->tid != me) return false;
  /* One that came for the lock while the others were looked at seemed to sleep. */
  return !any_runs(s) && !atomic_load(&s->wanted);
}

void host_turns_pause(struct shim *s)
{
  const struct timespec a_while = { .tv_nsec = PAUSE_NS };
  pthread_mutex_unlock(&s->lock);
  nanosleep(&a_while, NULL);
  pthread_mutex_lock(&s->lock);
}

bool host_turns_leads(struct shim *s, const struct host_turn *me)
{
  for (const struct host_turn *t = s->host_turns->first; t; t = t->next)
    if (!t->placed || (t != me && is_before(t, me))) return false;
  if (!host_turns_stand(s)) return false;
  s->front.look_up = false;
  return true;
}

void host_turns_call(struct shim *s)
{
  struct host_turn me;
  if (is_alone(s->host_turns)) return;
  host_turns_begin(s, &me, NULL);
  me.at = s->time.now;
  me.placed = true;
  while (s->front.busy || !host_turns_leads(s, &me)) host_turns_pause(s);
  host_turns_end(s, &me);
}

enum front_stop host_turns_run(struct shim *s, const struct command *c, uint64_t until)
{
  if (s->front.busy) return FRONT_BUSY;
  s->may_pause = s->front.led = true;
  memory_sync_running(s, true);
  const enum front_stop stop = front_run(&s->front, until, c);
  memory_sync_running(s, false);
  s->may_pause = s->front.led = false;
  return stop;
}

/* A function of the program, for which the front end waits, cannot let time pass. */
void host_turns_reach(struct shim *s, const struct host_turn *me)
{
  for (;;) {
    if (!host_turns_leads(s, me)) {
      host_turns_pause(s);
      continue;
    }
    const enum front_stop stop = host_turns_run(s, NULL, me->at);
    if (stop == FRONT_REACHED && !s->front.look_up) return;
    if (stop != FRONT_REACHED) host_turns_pause(s);
  }
}
