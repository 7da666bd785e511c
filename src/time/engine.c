#include "time/engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* A window is a few microseconds of host work, so helpers spin before they yield. */
enum { SPINS_BEFORE_YIELD = 2000, HOST_LINE = 64 };

/* The parts that a thread runs first: always the same ones, for their state is in its host core's caches. Lines
 * that another core has written cost as much as some from memory. */
struct engine_share {
  _Alignas(2 * HOST_LINE) atomic_uint next; /* next entry of awake[] to take */
  unsigned end;
};

struct engine_helper {
  struct engine *engine;
  unsigned share;
  pthread_t thread;
};

struct engine {
  struct engine_config cfg;
  struct engine_helper *helper;
  unsigned n_helpers;
  struct engine_share *share; /* per thread, the main one first */
  /* The window and group being run; written by the main thread before `round` goes up. */
  picos from, to;
  struct part *group;
  unsigned *awake; /* indices of the group's parts that have something to do */
  _Alignas(2 * HOST_LINE) atomic_uint round; /* counts groups run; helpers start when it changes */
  atomic_bool stop;
  _Alignas(2 * HOST_LINE) atomic_uint running; /* helpers still inside the window */
};

static void run_part(struct part *p, picos from, picos to)
{
  p->next = p->ops->run(p->self, from, to);
}

/* Parts are taken one at a time, from the thread's own share first, then from those of the others: which thread
 * runs a part cannot change what the part does. */
static void run_shares(struct engine *e, unsigned own)
{
  unsigned threads = e->n_helpers + 1;
  for (unsigned k = 0; k < threads; k++) {
    struct engine_share *s = &e->share[(own + k) % threads];
    for (unsigned i; (i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->end;)
      run_part(&e->group[e->awake[i]], e->from, e->to);
  }
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

static void *helper_main(void *arg)
{
  const struct engine_helper *h = arg;
  struct engine *e = h->engine;
  unsigned seen = 0;
  for (;;) {
    unsigned spins = 0;
    while (atomic_load_explicit(&e->round, memory_order_acquire) == seen) relax(&spins);
    seen++;
    if (atomic_load_explicit(&e->stop, memory_order_relaxed)) return NULL;
    run_shares(e, h->share);
    atomic_fetch_sub_explicit(&e->running, 1, memory_order_release);
  }
}

static void *aligned(size_t size)
{
  void *p = aligned_alloc(2 * HOST_LINE, size);
  BUG_ON(!p);
  return memset(p, 0, size);
}

struct engine *engine_new(const struct engine_config *cfg)
{
  BUG_ON(cfg->window == 0 || cfg->threads == 0);
  struct engine *e = aligned(sizeof *e);
  e->cfg = *cfg;
  unsigned most = cfg->n_parallel > cfg->n_second ? cfg->n_parallel : cfg->n_second;
  e->awake = calloc(most ? most : 1, sizeof *e->awake);
  e->n_helpers = cfg->threads - 1;
  e->helper = calloc(e->n_helpers ? e->n_helpers : 1, sizeof *e->helper);
  e->share = aligned(cfg->threads * sizeof *e->share);
  BUG_ON(!e->awake || !e->helper);
  for (unsigned i = 0; i < e->n_helpers; i++) {
    struct engine_helper *h = &e->helper[i];
    *h = (struct engine_helper){.engine = e, .share = i + 1};
    BUG_ON(pthread_create(&h->thread, NULL, helper_main, h) != 0);
  }
  return e;
}

void engine_free(struct engine *e)
{
  if (!e) return;
  atomic_store(&e->stop, true);
  atomic_fetch_add_explicit(&e->round, 1, memory_order_release);
  for (unsigned i = 0; i < e->n_helpers; i++) pthread_join(e->helper[i].thread, NULL);
  free(e->helper);
  free(e->share);
  free(e->awake);
  free(e);
}

/* Runs the parts of a group that have something to do, on all threads. */
static void run_group(struct engine *e, struct part *group, unsigned n)
{
  e->group = group;
  unsigned n_awake = 0, threads = e->n_helpers + 1;
  for (unsigned t = 0, i = 0; t < threads; t++) {
    atomic_store_explicit(&e->share[t].next, n_awake, memory_order_relaxed);
    for (; i < n * (t + 1) / threads; i++)
      if (group[i].next < e->to) e->awake[n_awake++] = i;
    e->share[t].end = n_awake;
  }
  /* Waking helpers for one part would cost more than the part. */
  bool share = e->n_helpers > 0 && n_awake > 1;
  if (share) {
    atomic_store_explicit(&e->running, e->n_helpers, memory_order_relaxed);
    atomic_fetch_add_explicit(&e->round, 1, memory_order_release);
  }
  run_shares(e, 0);
  if (share) {
    unsigned spins = 0;
    while (atomic_load_explicit(&e->running, memory_order_acquire) != 0) relax(&spins);
  }
}

static void run_window(struct engine *e)
{
  run_group(e, e->cfg.parallel, e->cfg.n_parallel);
  run_group(e, e->cfg.second, e->cfg.n_second);
  /* Serial parts always run: the parallel ones may just have sent them something. */
  for (unsigned i = 0; i < e->cfg.n_serial; i++) run_part(&e->cfg.serial[i], e->from, e->to);
}

static picos earliest(const struct part *p, unsigned n, picos t)
{
  for (unsigned i = 0; i < n; i++)
    if (p[i].next < t) t = p[i].next;
  return t;
}

static bool any_busy(const struct part *p, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (p[i].ops->busy(p[i].self)) return true;
  return false;
}

static uint64_t total_progress(const struct engine *e)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < e->cfg.n_parallel; i++)
    sum += e->cfg.parallel[i].ops->progress(e->cfg.parallel[i].self);
  for (unsigned i = 0; i < e->cfg.n_second; i++)
    sum += e->cfg.second[i].ops->progress(e->cfg.second[i].self);
  for (unsigned i = 0; i < e->cfg.n_serial; i++)
    sum += e->cfg.serial[i].ops->progress(e->cfg.serial[i].self);
  return sum;
}

enum engine_end engine_run(struct engine *e, picos *now)
{
  uint64_t last = 0, quiet = 0;
  for (;;) {
    picos next = earliest(e->cfg.parallel, e->cfg.n_parallel, TIME_NEVER);
    next = earliest(e->cfg.second, e->cfg.n_second, next);
    next = earliest(e->cfg.serial, e->cfg.n_serial, next);
    if (next == TIME_NEVER) {
      bool stuck =
          any_busy(e->cfg.parallel, e->cfg.n_parallel) || any_busy(e->cfg.serial, e->cfg.n_serial);
      return stuck ? ENGINE_DEADLOCK : ENGINE_DONE;
    }
    /* Windows stay on the grid of W, whatever is skipped. */
    e->from = next > *now ? next - next % e->cfg.window : *now;
    e->to = e->from + e->cfg.window;
    run_window(e);
    *now = e->to;
    if (!e->cfg.between(e->cfg.ctx, *now)) return ENGINE_STOPPED;
    uint64_t done = total_progress(e);
    quiet = done == last ? quiet + 1 : 0;
    last = done;
    if (quiet > e->cfg.watchdog_windows) return ENGINE_DEADLOCK;
  }
}

static void dump_group(const struct part *p, unsigned n, FILE *out)
{
  for (unsigned i = 0; i < n; i++)
    if (p[i].ops->busy(p[i].self)) p[i].ops->dump(p[i].self, out);
}

void engine_dump(const struct engine *e, FILE *out)
{
  dump_group(e->cfg.parallel, e->cfg.n_parallel, out);
  dump_group(e->cfg.second, e->cfg.n_second, out);
  dump_group(e->cfg.serial, e->cfg.n_serial, out);
}
