/* Runs of the GPU between two moments (host/live_gpu.h): how they go on and end. */
#include "host/live_parts.h"

#include "base/bug.h"
#include "host/gpu_server.h"
#include "time/machine/machine.h"
#include "time/mem/outer_memory.h"

static bool has_ended(const struct simulator *s, unsigned slot)
{
  uint64_t start, end;
  return s->live->slot[slot].gpu.source && gpu_launch_times(s->gpu, slot, &start, &end);
}

static unsigned count_ended(const struct simulator *s)
{
  unsigned n = 0;
  for (unsigned i = 0; i < GPU_SLOTS; i++) n += has_ended(s, i);
  return n;
}

/* The run goes on without this launch. */
static void close_slot(struct simulator *s, unsigned slot)
{
  unsigned k = 0;
  while (s->open[k] != slot) k++;
  s->open[k] = s->open[--s->n_open];
  gpu_close(s->gpu, slot);
}

static void collect_ended(struct simulator *s)
{
  for (unsigned i = 0; i < GPU_SLOTS; i++) {
    if (!has_ended(s, i)) continue;
    live_collect(s, i)->end = RUN_DONE;
    if (live_clock_of(s)->running) close_slot(s, i);
  }
}

/* Of a GPU whose run is over: launches that have ended by themselves are done, others as `end` says. */
static void collect_rest(struct simulator *s, enum run_end end, const struct fault *fault)
{
  struct live *v = s->live;
  live_collect_copies(s);
  live_cut_copies(s);
  collect_ended(s);
  for (unsigned i = 0; i < GPU_SLOTS; i++) {
    const struct step_source *source = v->slot[i].gpu.source;
    if (!source) continue;
    struct sim_result *r = live_collect(s, i);
    r->end = end;
    if (end == RUN_FAULT && (!fault->source || fault->source == source)) r->fault = *fault;
  }
  positions_sort(&s->where);
}

static bool any_failed(struct simulator *s)
{
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next(s, &cursor));)
    if (gpu_stopped(m->gpu) != RUN_DONE) return true;
  return false;
}

/* As it ended where the GPU is. */
static enum run_end finish_ranked(struct simulator *s, enum run_end end, struct fault *f)
{
  struct ranked_finish x = {.end = end, .slot = GPU_SLOTS, .fault = *f};
  for (unsigned i = 0; f->source && i < GPU_SLOTS; i++)
    if (s->live->slot[i].gpu.source == f->source) x.slot = i;
  x.fault.source = NULL; /* an address here */
  ranked_share_finish(live_ranked(s), s->node, &x, &s->where);
  *f = x.fault;
  f->source = x.slot < GPU_SLOTS ? s->live->slot[x.slot].gpu.source : NULL;
  return (enum run_end)x.end;
}

/* How the run ended: as on the first GPU with a fault, or on the first where it did not do well. What is under way on
 * others is cut. */
static enum run_end finish_all(struct simulator *s, struct simulator **failed, struct fault *fault)
{
  const bool cut = any_failed(s);
  enum run_end all = RUN_DONE;
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    struct fault f = {0};
    if (cut && domain_state(gpu_domain(m->gpu)) != DOMAIN_IDLE) gpu_cut(m->gpu);
    enum run_end end = RUN_DONE;
    if (live_is_here(m)) end = gpu_finish(m->gpu, &f, m->live->options.report);
    if (live_ranked(m)) end = finish_ranked(m, end, &f);
    if (end != RUN_DONE && (all == RUN_DONE || (all != RUN_FAULT && end == RUN_FAULT)))
      all = end, *failed = m, *fault = f;
  }
  return all;
}

/* The run is over, well or not: all launches are. */
static void end_run(struct simulator *s)
{
  struct simulator *failed = NULL;
  struct fault fault = {0};
  static const struct fault none = {0};
  if (live_ranked(s)) ranked_share_ends(live_ranked(s));
  enum run_end end = finish_all(s, &failed, &fault);
  unsigned cursor = 0;
  live_clock_of(s)->running = false;
  if (s->around) s->around->run = NULL;
  for (struct simulator *m; (m = simulator_next(s, &cursor));)
    collect_rest(m, end, m == failed || !failed ? &fault : &none);
  simulator_keep(s, end);
}

/* Memory outside of a GPU alone may answer what is asked for before `to` when the GPU stands there. */
static void wait_until(struct simulator *s, picos to)
{
  struct outer_memory *o = s->outside ? gpu_outer_memory(s->gpu) : NULL;
  if (o) o->horizon = to;
}

/* What is left on its way to memory, which nobody waits for. */
static void drain(struct simulator *s)
{
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    m->live->watch.window = NULL;
    gpu_watch(m->gpu, &m->live->watch, false);
  }
  wait_until(s, TIME_NEVER);
  machine_run(simulator_machine(s), TIME_NEVER);
}

/* Whether a launch or a copy has ended on some GPU; *all: nothing is there any more that has not. */
static bool any_ended(struct simulator *s, bool *all)
{
  bool any = false;
  unsigned cursor = 0;
  *all = true;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    const unsigned ended = count_ended(m);
    live_collect_copies(m);
    any |= ended || m->live->n_ended;
    *all &= ended == m->live->n_open && !m->live->n_copies;
  }
  return any;
}

/* Launches have ended, or the run has. */
static void take_stock(struct simulator *s, bool run_is_over)
{
  bool all;
  unsigned cursor = 0;
  if (live_ranked(s)) ranked_share_ends(live_ranked(s));
  if (!any_ended(s, &all) && !run_is_over) return;
  if (!run_is_over && !all) {
    for (struct simulator *m; (m = simulator_next(s, &cursor));) collect_ended(m);
    return;
  }
  if (!run_is_over) drain(s);
  end_run(s);
}

static bool any_taken(struct simulator *s)
{
  bool any = false;
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next_member(s, &cursor));) any |= live_of(m)->n_ended > 0;
  return any;
}

enum live_stop live_run(struct simulator *s, uint64_t until)
{
  const struct live_clock *k = (live_of(s), live_clock_of(s));
  if (s->served) return (enum live_stop)s->served->run(s->server, until, k->window, k->window_ctx);
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next_member(s, &cursor));) {
    struct live *v = live_of(m);
    BUG_ON(v->n_ended != v->taken);
    v->n_ended = v->taken = 0;
    if (k->running && m->gpu) gpu_watch(m->gpu, &v->watch, true);
  }
  if (!k->running) return LIVE_REACHED;
  const uint64_t to = until > TIME_NEVER - k->skew ? TIME_NEVER : live_clock_gpu(k, until);
  wait_until(s, to);
  enum machine_stop stop = machine_run(simulator_machine(s), to);
  if (stop == MACHINE_REACHED) return LIVE_REACHED;
  take_stock(s, stop != MACHINE_NOTICE || any_failed(s));
  return any_taken(s) ? LIVE_ENDED : LIVE_ASKED;
}

void live_cut(struct simulator *s)
{
  unsigned cursor = 0;
  if (s->served) {
    s->served->cut(s->server);
    return;
  }
  live_of(s); /* the clock of a GPU that stands alone is in there */
  if (!live_clock_of(s)->running) return;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    live_of(m)->n_ended = live_of(m)->taken = 0;
    gpu_cut(m->gpu);
  }
  end_run(s);
}
