#include "time/team.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/own_thread.h"

/* From job to job of a run it takes less, also where cores of a CPU go on for some 100 us between two jobs of a GPU;
 * a parked helper takes some 50 us to come back. */
enum { SPINS_BEFORE_YIELD = 2000, YIELDS_BEFORE_PARK = 1000, HOST_LINE = 64 };

/* The word that all watch: helpers inside of the job; whether others may join them; the number of the job. */
enum { INSIDE = 1, OPEN = 1 << 12, JOB = 1 << 13 };

struct team_helper {
  struct team *team;
  unsigned thread;
  unsigned seen; /* the word when it was started */
  pthread_t id;
};

struct team {
  struct team_helper *helper;
  unsigned n_helpers;
  /* The job; written by the caller before it is opened. */
  void (*work)(void *ctx, unsigned thread);
  void *ctx;
  struct heap *heap;  /* the caller's */
  atomic_bool starved; /* a thread of the job found no memory */
  _Alignas(2 * HOST_LINE) atomic_uint word; /* INSIDE, OPEN, JOB */
  atomic_uint parked; /* helpers that may be asleep: a new job must wake them */
  atomic_bool stop;
};

static unsigned number(unsigned word)
{
  return word / JOB;
}

static void relax(unsigned *spins)
{
  if (++*spins < SPINS_BEFORE_YIELD) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    sched_yield();
  }
}

static long futex(atomic_uint *word, int op, unsigned value)
{
  return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Asleep until there is another job than the one that was seen. Either the caller sees that somebody is parked, or the
 * helper sees the new job: both write first and then look. */
static void park(struct team *t, unsigned seen)
{
  unsigned word;
  atomic_fetch_add(&t->parked, 1);
  while (number(word = atomic_load(&t->word)) == seen) futex(&t->word, FUTEX_WAIT, word);
  atomic_fetch_sub(&t->parked, 1);
}

/* The word of another job. */
static unsigned wait_for_job(struct team *t, unsigned seen)
{
  unsigned spins = 0, word;
  while (number(word = atomic_load_explicit(&t->word, memory_order_acquire)) == seen)
    if (spins < SPINS_BEFORE_YIELD + YIELDS_BEFORE_PARK) relax(&spins);
    else park(t, seen);
  return word;
}

static void open_job(struct team *t)
{
  const unsigned word = atomic_load_explicit(&t->word, memory_order_relaxed); /* nobody is inside: it is the caller's */
  atomic_store(&t->word, (number(word) + 1) * JOB + OPEN);
  if (atomic_load(&t->parked)) futex(&t->word, FUTEX_WAKE, INT_MAX);
}

/* False: the job has been closed. *word: of the job that was joined, or missed. */
static bool join(struct team *t, unsigned *word)
{
  while (*word & OPEN)
    if (atomic_compare_exchange_weak_explicit(&t->word, word, *word + INSIDE, memory_order_acquire,
                                              memory_order_acquire))
      return true;
  return false;
}

struct turn {
  struct team *t;
  unsigned thread;
};

static void work(void *ctx)
{
  const struct turn *turn = ctx;
  turn->t->work(turn->t->ctx, turn->thread);
}

/* Nobody leaves a job before the others have ended it, whoever runs out of memory. */
static void take_part(struct team *t, unsigned thread)
{
  if (!memory_try(t->heap, work, &(struct turn){t, thread})) atomic_store(&t->starved, true);
}

static void *helper_main(void *arg)
{
  const struct team_helper *h = arg;
  struct team *t = h->team;
  own_thread();
  for (unsigned word = h->seen;;) {
    word = wait_for_job(t, number(word));
    if (atomic_load_explicit(&t->stop, memory_order_relaxed)) return NULL;
    if (!join(t, &word)) continue;
    take_part(t, h->thread);
    atomic_fetch_sub_explicit(&t->word, INSIDE, memory_order_release);
  }
}

static void end_team(void *t)
{
  team_free(t);
}

static void start_helpers(struct team *t, unsigned threads)
{
  BUG_ON(threads == 0 || threads > OPEN);
  t->helper = mem_zeroed(threads, sizeof *t->helper);
  while (t->n_helpers < threads - 1) {
    struct team_helper *h = &t->helper[t->n_helpers];
    *h = (struct team_helper){.team = t, .thread = t->n_helpers + 1, .seen = atomic_load(&t->word)};
    if (pthread_create(&h->id, NULL, helper_main, h) != 0) break; /* the host has no more: results are the same */
    t->n_helpers++;
  }
}

struct team *team_new(unsigned threads)
{
  struct team *t = mem_zeroed_aligned(2 * HOST_LINE, sizeof *t);
  start_helpers(t, threads);
  heap_keep(t, end_team);
  return t;
}

void team_renew(struct team *t, unsigned threads)
{
  mem_free(t->helper);
  t->n_helpers = 0;
  atomic_store(&t->word, 0);
  atomic_store(&t->parked, 0);
  start_helpers(t, threads);
}

void team_free(struct team *t)
{
  if (!t) return;
  heap_forget(t);
  atomic_store(&t->stop, true);
  open_job(t);
  for (unsigned i = 0; i < t->n_helpers; i++) pthread_join(t->helper[i].id, NULL);
  mem_free(t->helper);
  mem_free(t);
}

unsigned team_threads(const struct team *t)
{
  return t->n_helpers + 1;
}

void team_run(struct team *t, void (*job)(void *ctx, unsigned thread), void *ctx)
{
  if (!t->n_helpers) {
    job(ctx, 0);
    return;
  }
  t->work = job;
  t->ctx = ctx;
  t->heap = heap_current();
  open_job(t);
  take_part(t, 0);
  unsigned spins = 0;
  atomic_fetch_and_explicit(&t->word, ~(unsigned)OPEN, memory_order_relaxed);
  while (atomic_load_explicit(&t->word, memory_order_acquire) % OPEN) relax(&spins);
  NO_MEMORY_IF(atomic_load_explicit(&t->starved, memory_order_relaxed));
}
