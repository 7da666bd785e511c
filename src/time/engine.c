#include "time/engine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/bug.h"

/* A window is a few microseconds of host work, so helpers spin before they yield. */
enum { SPINS_BEFORE_YIELD = 2000 };

struct engine {
  struct engine_config cfg;
  pthread_t *helper;
  unsigned n_helpers;
  /* The window and group being run; written by the main thread before `round` goes up. */
  picos from, to;
  struct part *group;
  unsigned *awake; /* indices of the group's parts that have something to do */
  unsigned n_awake;
  atomic_uint round;   /* counts groups run; helpers start when it changes */
  atomic_uint next;    /* next entry of awake[] to take */
  atomic_uint running; /* helpers still inside the window */
  atomic_bool stop;
};

static void run_part(struct part *p, picos from, picos to)
{
  p->next = p->ops->run(p->self, from, to);
}

/* Parts are taken one at a time: which thread runs a part cannot change what the part does. */
static void run_parallel_share(struct engine *e)
{
  for (;;) {
    unsigned i = atomic_fetch_add_explicit(&e->next, 1, memory_order_relaxed);
    if (i >= e->n_awake) return;
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
  struct engine *e = arg;
  unsigned seen = 0;
  for (;;) {
    unsigned spins = 0;
    while (atomic_load_explicit(&e->round, memory_order_acquire) == seen) relax(&spins);
    seen++;
    if (atomic_load_explicit(&e->stop, memory_order_relaxed)) return NULL;
    run_parallel_share(e);
    atomic_fetch_sub_explicit(&e->running, 1, memory_order_release);
  }
}

struct engine *engine_new(const struct engine_config *cfg)
{
  BUG_ON(cfg->window == 0 || cfg->threads == 0);
  struct engine *e = calloc(1, sizeof *e);
  BUG_ON(!e);
  e->cfg = *cfg;
  unsigned most = cfg->n_parallel > cfg->n_second ? cfg->n_parallel : cfg->n_second;
  e->awake = calloc(most ? most : 1, sizeof *e->awake);
  e->n_helpers = cfg->threads - 1;
  e->helper = calloc(e->n_helpers ? e->n_helpers : 1, sizeof *e->helper);
  BUG_ON(!e->awake || !e->helper);
  for (unsigned i = 0; i < e->n_helpers; i++)
    BUG_ON(pthread_create(&e->helper[i], NULL, helper_main, e) != 0);
  return e;
}

void engine_free(struct engine *e)
{
  if (!e) return;
  atomic_store(&e->stop, true);
  atomic_fetch_add_explicit(&e->round, 1, memory_order_release);
  for (unsigned i = 0; i < e->n_helpers; i++) pthread_join(e->helper[i], NULL);
  free(e->helper);
  free(e->awake);
  free(e);
}

/* Runs the parts of a group that have something to do, on all threads. */
static void run_group(struct engine *e, struct part *group, unsigned n)
{
  e->group = group;
  e->n_awake = 0;
  for (unsigned i = 0; i < n; i++)
    if (group[i].next < e->to) e->awake[e->n_awake++] = i;
  atomic_store_explicit(&e->next, 0, memory_order_relaxed);
  /* Waking helpers for one part would cost more than the part. */
  bool share = e->n_helpers > 0 && e->n_awake > 1;
  if (share) {
    atomic_store_explicit(&e->running, e->n_helpers, memory_order_relaxed);
    atomic_fetch_add_explicit(&e->round, 1, memory_order_release);
  }
  run_parallel_share(e);
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
