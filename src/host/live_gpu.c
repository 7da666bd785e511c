/* Runs of the GPU between two moments (host/live_gpu.h): its clock, where a run begins, goes on and ends. */
#include "host/live_parts.h"

#include "base/bug.h"
#include "host/gpu_server.h"
#include "host/usage.h"
#include "time/dma/dma.h"
#include "time/machine/machine.h"
#include "time/mem/l2_rights.h"
#include "time/mem/outer_memory.h"
#include "time/uvm/uvm_machine.h"

unsigned live_count(const struct simulator *s)
{
  if (s->served) return s->served->count(s->server);
  return s->live ? s->live->n_open + s->live->ended_launches : 0;
}

bool live_busy(const struct simulator *s)
{
  if (s->served) return s->served->busy(s->server);
  return live_count(s) || (s->live && (s->live->n_copies || s->live->n_ended > s->live->taken));
}

unsigned live_copies(const struct simulator *s)
{
  if (s->served) return s->served->copies(s->server);
  return s->live ? s->live->n_copies : 0;
}

uint64_t live_ctas_done(const struct simulator *s)
{
  if (s->served) return s->served->ctas_done(s->server);
  return s->gpu ? gpu_ctas_done(s->gpu) : 0;
}

void live_free(struct simulator *s)
{
  if (!s->live) return;
  live_clock_free(&s->live->clock);
  mem_free(s->live->copy);
  mem_free(s->live->ended);
  mem_free(s->live);
}

bool live_full(const struct simulator *s)
{
  return live_count(s) >= GPU_SLOTS;
}

static bool has_others(const struct simulator *s)
{
  return s->around && s->around->preset->n_gpus > 1;
}

uint64_t live_now(const struct simulator *s)
{
  if (s->served) return s->served->now(s->server);
  const struct live_clock *k = s->live ? live_clock_of(s) : NULL;
  if (!k || !k->running) return 0;
  const uint64_t now = has_others(s) ? machine_now(simulator_machine(s)) : gpu_now(s->gpu);
  return later(k->start, live_clock_program(k, now, k->stood));
}

uint64_t live_time(const struct simulator *s, uint64_t gpu_ps)
{
  const struct live_clock *k = live_clock_of(s);
  return later(k->start, live_clock_program_at(k, gpu_ps, false));
}

void live_stand(struct simulator *s, uint64_t from, uint64_t until)
{
  struct live_clock *k = live_clock_of(s);
  BUG_ON(!k->running || has_others(s) || (s->around && s->around->rights));
  if (until <= from) return;
  live_clock_stand(k, from, until);
  if (s->around && s->around->managed) uvm_machine_clock(s->around->managed, until, k->skew - k->stood);
}

void live_on_window(struct simulator *s, bool (*window)(void *ctx, uint64_t now_ps), void *ctx)
{
  live_of(s);
  live_clock_of(s)->window = window;
  live_clock_of(s)->window_ctx = ctx;
}

/* --- a run begins ------------------------------------------------------------------------------- */

static bool behind_window(void *ctx, uint64_t now)
{
  const struct simulator *s = ((struct sim_watcher *)ctx)->s;
  const struct live_clock *k = live_clock_of(s);
  if (s->live->options.usage && s->live->n_open) usage_window(s->live->options.usage, s->gpu, now);
  const struct uvm *u = live_managed(s);
  if (s->live->n_copies && (gpu_dma(s->gpu)->n_done || (u && u->buffer.n_done))) return false;
  return !k->window || k->window(k->window_ctx, live_clock_program(k, now, k->stood));
}

void live_watch_as(struct simulator *s, const struct sim_options *o)
{
  struct live *v = s->live;
  v->options = *o;
  v->watcher = (struct sim_watcher){s, &v->options};
  v->watch = simulator_watch(&v->watcher);
  v->watch.window = behind_window;
}

/* As live_watch_as, but for what is one GPU's alone. */
static void watch_beside(struct simulator *s, const struct sim_options *o)
{
  struct sim_options own = *o;
  own.usage = NULL;
  live_watch_as(s, &own);
}

/* A GPU comes into the run under way. */
static void woken(struct simulator *s)
{
  struct live *v = live_of(s);
  BUG_ON(v->n_ended != v->taken);
  v->n_launches = v->n_ended = v->taken = 0;
  watch_beside(s, &s->around->run->live->options);
  gpu_watch(s->gpu, &v->watch, true);
}

void live_begin_run(struct simulator *s, uint64_t start_ps, const struct step_source *first, struct gmem *image)
{
  struct live_clock *k = live_clock_of(s);
  unsigned cursor = 0;
  live_clock_begin(k, start_ps, gpu_now(s->gpu));
  if (s->around) s->around->links.skew = k->skew;
  if (s->around && s->around->rights) s->around->rights->skew = k->skew;
  if (s->around && s->around->managed) uvm_machine_clock(s->around->managed, start_ps, k->skew);
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    live_of(m)->n_launches = 0;
    if (m != s) watch_beside(m, &s->live->options);
  }
  if (s->around) s->around->woken = woken;
  simulator_begin(s, first, image);
}

/* --- and ends ----------------------------------------------------------------------------------- */

struct live_end *live_add_end(struct live *v, const struct live_end *x)
{
  v->ended = mem_more(v->ended, v->n_ended, &v->room_ended, sizeof *v->ended);
  uint32_t at = v->n_ended++;
  for (; at > v->taken && v->ended[at - 1].end_ps > x->end_ps; at--) v->ended[at] = v->ended[at - 1];
  v->ended[at] = *x;
  return &v->ended[at];
}

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

bool live_take(struct simulator *s, struct live_end *end)
{
  struct live *v = s->live;
  if (s->served) return s->served->take(s->server, end);
  if (!v || v->taken == v->n_ended) return false;
  *end = v->ended[v->taken++];
  v->ended_launches -= !end->copy;
  return true;
}
