#include "host/live_gpu.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "host/simulator.h"
#include "time/machine/machine.h"
#include "time/msg.h"

struct live_slot {
  struct live_launch launch;
  struct gpu_launch gpu; /* as the GPU has it; source NULL: the slot is free */
  unsigned together;     /* launches that were there at the same time, and this one */
};

struct live {
  bool running;
  uint64_t skew;       /* ps: the GPU's clock is ahead of the program's by so much in this run */
  unsigned n_launches; /* of this run */
  unsigned n_open;
  struct live_slot slot[GPU_SLOTS];
  struct live_end ended[GPU_SLOTS]; /* by their end; those before `taken` are gone */
  unsigned n_ended, taken;
  struct sim_options options;
  struct sim_watcher watcher;
  struct run_watch watch;
  bool (*window)(void *ctx, uint64_t now_ps);
  void *window_ctx;
};

static struct live *live_of(struct simulator *s)
{
  if (!s->live) s->live = mem_zeroed(1, sizeof *s->live);
  return s->live;
}

unsigned live_count(const struct simulator *s)
{
  return s->live ? s->live->n_open + s->live->n_ended - s->live->taken : 0;
}

bool live_full(const struct simulator *s)
{
  return live_count(s) >= GPU_SLOTS;
}

uint64_t live_now(const struct simulator *s)
{
  return s->live && s->live->running ? gpu_now(s->gpu) - s->live->skew : 0;
}

void live_on_window(struct simulator *s, bool (*window)(void *ctx, uint64_t now_ps), void *ctx)
{
  struct live *v = live_of(s);
  v->window = window;
  v->window_ctx = ctx;
}

/* --- launches come ------------------------------------------------------------------------------ */

static bool behind_window(void *ctx, uint64_t now)
{
  const struct live *v = ((struct sim_watcher *)ctx)->s->live;
  return !v->window || v->window(v->window_ctx, now - v->skew);
}

static bool begin(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  struct live *v = s->live;
  const struct gpu_launch first = {.source = func_source(l->launch->func), .gang = l->launch->grid_barrier != 0};
  BUG_ON(!o->timed || o->hazards || o->cold || o->sample_ctas || o->first_ctas || o->usage);
  simulator_forget(s, first.source->code.isa);
  struct gpu *gpu = simulator_gpu_at(s, o, l->start_ps, e);
  if (!gpu || !gpu_fits(gpu, &first, e)) return false;
  v->options = *o;
  v->watcher = (struct sim_watcher){s, &v->options};
  v->watch = simulator_watch(&v->watcher);
  v->watch.window = behind_window;
  v->skew = gpu_now(gpu) - l->start_ps;
  v->n_launches = 0;
  v->running = true;
  simulator_begin_observing(s, gpu_now(gpu));
  gpu_begin(gpu, first.source, l->launch->params.image);
  return true;
}

static struct gpu_launch for_gpu(const struct simulator *s, const struct live_launch *l)
{
  return (struct gpu_launch){.source = func_source(l->launch->func),
                             .start = round_up(l->start_ps + s->live->skew, params_clock_ps(s->params)),
                             .beside = l->beside, .gang = l->launch->grid_barrier != 0, .priority = l->priority};
}

bool live_open(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  struct live *v = live_of(s);
  if (!v->running) TRY(begin(s, l, o, e));
  const struct gpu_launch g = for_gpu(s, l);
  BUG_ON(live_full(s));
  TRY(simulator_open(s, &g, e)); /* as the only one of a run it fits */
  struct live_slot *slot = &v->slot[s->open[s->n_open - 1]];
  for (unsigned i = 0; i < GPU_SLOTS; i++)
    if (v->slot[i].gpu.source) v->slot[i].together++;
  *slot = (struct live_slot){*l, g, v->n_open + 1};
  v->n_open++;
  v->n_launches++;
  return true;
}

/* --- and go -------------------------------------------------------------------------------------- */

static void count_traffic(const struct gpu *gpu, unsigned slot, struct sim_result *r)
{
  struct traffic t;
  gpu_traffic(gpu, slot, &t);
  r->l2_sectors = t.l2_read + t.l2_written;
  r->dram_bytes = SECTOR_BYTES * (t.dram_read + t.dram_written);
}

/* Instructions and operations of a launch that was not alone. */
static void count_insts(struct simulator *s, unsigned slot, struct sim_result *r)
{
  struct gpu_inst_profile p = gpu_profile(s->gpu, slot);
  const size_t n = s->isa->n_mnemonics();
  memset(s->mix, 0, n * sizeof *s->mix);
  memset(s->threads_by, 0, n * sizeof *s->threads_by);
  simulator_count_mix(s, &p, &s->live->slot[slot].gpu.source->code);
  gpu_profile_free(&p);
  r->work = s->isa->work(s->threads_by);
  for (size_t k = 0; k < n; k++) {
    r->warp_insts += s->mix[k];
    r->thread_insts += s->threads_by[k];
  }
}

static void collect_shared(struct simulator *s, unsigned slot, struct sim_result *r)
{
  uint64_t start, end;
  bool ended = gpu_launch_times(s->gpu, slot, &start, &end);
  if (!ended) end = gpu_now(s->gpu);
  count_insts(s, slot, r);
  count_traffic(s->gpu, slot, r);
  r->start_ps = start;
  r->time_ps = end > start ? end - start : 0;
  r->cycles = r->time_ps / params_clock_ps(s->params);
  r->ctas_per_sm = gpu_occupancy(s->gpu, slot)->ctas;
  r->limiter = gpu_occupancy(s->gpu, slot)->limiter;
}

static void collect_alone(struct simulator *s, unsigned slot, struct sim_result *r)
{
  r->start_ps = s->live->slot[slot].gpu.start;
  r->mix = s->mix;
  r->thread_mix = s->threads_by;
  simulator_collect(s, s->gpu, &s->live->slot[slot].gpu.source->code, r);
  r->work = s->isa->work(s->threads_by);
}

/* A launch is over; how it ended is for the caller to say. */
static struct sim_result *collect(struct simulator *s, unsigned slot)
{
  struct live *v = s->live;
  struct live_slot *l = &v->slot[slot];
  struct live_end x = {.who = l->launch.who, .start_ps = l->launch.start_ps,
                       .result = {.timed = true, .together = l->together, .isa = s->isa, .where = &s->where}};
  if (v->n_launches == 1) collect_alone(s, slot, &x.result);
  else collect_shared(s, slot, &x.result);
  if (x.result.start_ps > v->skew + x.start_ps) x.start_ps = x.result.start_ps - v->skew;
  x.end_ps = x.start_ps + x.result.time_ps;
  unsigned at = v->n_ended++;
  for (; at > v->taken && v->ended[at - 1].end_ps > x.end_ps; at--) v->ended[at] = v->ended[at - 1];
  v->ended[at] = x;
  *l = (struct live_slot){0};
  v->n_open--;
  return &v->ended[at].result;
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
    collect(s, i)->end = RUN_DONE;
    if (s->live->running) close_slot(s, i);
  }
}

/* The run is over, well or not: all launches are. Those that have ended by themselves are done. */
static void end_run(struct simulator *s)
{
  struct live *v = s->live;
  struct fault fault = {0};
  enum run_end end = gpu_finish(s->gpu, &fault, v->options.report);
  v->running = false;
  collect_ended(s);
  for (unsigned i = 0; i < GPU_SLOTS; i++) {
    const struct step_source *source = v->slot[i].gpu.source;
    if (!source) continue;
    struct sim_result *r = collect(s, i);
    r->end = end;
    if (end == RUN_FAULT && (!fault.source || fault.source == source)) r->fault = fault;
  }
  positions_sort(&s->where);
  simulator_keep(s, end);
}

/* What is left on its way to memory, which nobody waits for. */
static void drain(struct simulator *s)
{
  struct live *v = s->live;
  v->watch.window = NULL;
  gpu_watch(s->gpu, &v->watch, false);
  machine_run(s->machine, TIME_NEVER);
}

/* Launches have ended, or the run has. */
static void take_stock(struct simulator *s, bool run_is_over)
{
  bool all = count_ended(s) == s->live->n_open;
  if (!run_is_over && !all) {
    collect_ended(s);
    return;
  }
  if (!run_is_over) drain(s);
  end_run(s);
}

enum live_stop live_run(struct simulator *s, uint64_t until)
{
  struct live *v = live_of(s);
  BUG_ON(v->n_ended != v->taken);
  v->n_ended = v->taken = 0;
  if (!v->running) return LIVE_REACHED;
  gpu_watch(s->gpu, &v->watch, true);
  enum machine_stop stop = machine_run(s->machine, until > TIME_NEVER - v->skew ? TIME_NEVER : until + v->skew);
  if (stop == MACHINE_REACHED) return LIVE_REACHED;
  bool over = stop != MACHINE_NOTICE || gpu_stopped(s->gpu) != RUN_DONE;
  if (over || count_ended(s)) take_stock(s, over);
  return v->n_ended ? LIVE_ENDED : LIVE_ASKED;
}

bool live_take(struct simulator *s, struct live_end *end)
{
  struct live *v = s->live;
  if (!v || v->taken == v->n_ended) return false;
  *end = v->ended[v->taken++];
  return true;
}
