#include "cuda/core/together.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "cuda/core/kernel_run.h"
#include "cuda/core/launch_watch.h"
#include "cuda/core/shim.h"

/* State of CTAs is reserved for each launch: more of them would only take host memory. */
enum { MAX_WAITING = 32 };

struct waiting_launch {
  struct launch_request q;
  uint8_t *packed;
  struct launch launch;
  uint64_t start; /* ps, on the program's timeline */
};

struct waiting {
  unsigned n;
  struct waiting_launch w[MAX_WAITING];
};

/* --- which ones ------------------------------------------------------------------------------- */

/* Every launch is timed, as a whole, with what others leave in the caches. */
static bool all_are_timed(const struct exec_options *o)
{
  return o->timed && !o->choice.by_name && !o->choice.n_ranges && !o->sample && !o->sample_ctas && !o->cold &&
         !o->ncu.stream && !o->trace && !o->capture && !o->max_cycles && !o->max_insts;
}

static bool may_wait(const struct shim *s, const struct launch_request *q)
{
  return all_are_timed(&s->options) && s->fault.code == CUDA_SUCCESS && !q->cooperative && !q->stream->graph &&
         !q->stream->clock.legacy && !module_uses_device_runtime(q->function->module->code.module);
}

/* Streams that are not the legacy one only order what is in themselves. */
static bool independent(const struct waiting *all, const struct launch_request *q)
{
  if (all->n == MAX_WAITING) return false;
  for (unsigned i = 0; i < all->n; i++)
    if (all->w[i].q.stream == q->stream || all->w[i].q.function->module != q->function->module) return false;
  return true;
}

bool together_takes(struct shim *s, const struct launch_request *q)
{
  bool may = may_wait(s, q);
  if (s->waiting && !(may && independent(s->waiting, q))) together_run(s);
  if (!may) return false;
  if (!s->waiting) s->waiting = shim_alloc(sizeof *s->waiting);
  struct waiting_launch *w = &s->waiting->w[s->waiting->n];
  *w = (struct waiting_launch){ .q = *q, .packed = shim_alloc(q->function->kernel->param_bytes) };
  memcpy(w->packed, q->packed, q->function->kernel->param_bytes);
  w->q.params = NULL;
  w->q.packed = w->packed;
  w->start = kernel_start(s, &w->q);
  if (kernel_build(s, &w->q, &w->launch) && !w->launch.grid_barrier) {
    s->waiting->n++;
    return true;
  }
  if (w->launch.func) launch_free(&w->launch);
  free(w->packed);
  together_run(s);
  return false;
}

/* --- running them ----------------------------------------------------------------------------- */

static void run_all(struct shim *s, struct waiting *all)
{
  struct launch_watch watch;
  struct sim_options o = { .timed = true, .threads = s->options.threads, .report = stderr,
                           .poll = launch_watch_poll, .ctx = &watch,
                           .observers = s->activity ? activity_observers(s->activity) : NULL };
  struct sim_job job[MAX_WAITING];
  struct sim_result *r = shim_alloc(all->n * sizeof *r);
  struct err e = {""};
  uint64_t first = UINT64_MAX;
  for (unsigned i = 0; i < all->n; i++) {
    job[i] = (struct sim_job){ &all->w[i].launch, all->w[i].start };
    if (all->w[i].start < first) first = all->w[i].start;
  }
  if (s->activity) activity_begin(s->activity, first);
  launch_watch_start(&watch, s, all->w[0].q.function->kernel->name);
  bool ran = simulate_together(s->simulator, job, all->n, &o, r, &e);
  launch_watch_end(&watch);
  if (!ran) BUG("%s", e.msg); /* kernel_prepare has seen that each fits */
  memory_sync_registered(s, false);
  for (unsigned i = 0; i < all->n; i++) kernel_ended(s, &all->w[i].q, &all->w[i].launch, &r[i], all->w[i].start);
  free(r);
}

void together_run(struct shim *s)
{
  struct waiting *all = s->waiting;
  if (!all) return;
  s->waiting = NULL; /* what ends the program comes here again */
  shim_flush_print(s);
  memory_sync_registered(s, true);
  if (all->n == 1)
    kernel_simulate(s, &all->w[0].q, &all->w[0].launch, all->w[0].start);
  else if (all->n)
    run_all(s, all);
  for (unsigned i = 0; i < all->n; i++) {
    launch_free(&all->w[i].launch);
    free(all->w[i].packed);
  }
  free(all);
}

const struct shim_part together_part = { .settle = together_run };
