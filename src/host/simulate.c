#include "host/simulate.h"

#include <math.h>

#include "base/arith.h"
#include "func/run_source.h"
#include "host/simulator.h"
#include "host/surroundings.h"
#include "host/usage.h"
#include "time/gpu/gpu.h"
#include "time/machine/machine.h"

_Static_assert((int)SIM_MAX_GROUPS == (int)GPU_MAX_GROUPS, "room for all groups");

static void watch_nobody(struct simulator *s)
{
  static const struct run_watch nobody = {.max_cycles = 0};
  gpu_watch(s->gpu, &nobody, false);
}

/* GPUs of the machine that serve the one that runs, those that come later, too. */
static void watch_all(struct simulator *s, const struct run_watch *w)
{
  unsigned cursor = 0;
  if (s->around) s->around->woken = watch_nobody;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) watch_nobody(m);
  gpu_watch(s->gpu, w, false);
}

static void finish_others(struct simulator *s, enum run_end end)
{
  struct fault f;
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    if (m == s) continue;
    if (end != RUN_DONE) gpu_cut(m->gpu);
    gpu_finish(m->gpu, &f, NULL);
  }
  if (s->around) s->around->run = NULL;
}

/* To the end, with the stops that were asked for on the way. */
static bool run_machine(const struct simulator *s, const struct sim_options *o, struct sim_result *r, struct err *e)
{
  struct machine *m = simulator_machine(s);
  const uint64_t clock = params_clock_ps(s->params);
  for (; o->stops && r->stops < o->stops->n; r->stops++) {
    const unsigned long cycle = o->stops->cycle[r->stops];
    unsigned threads = 0;
    if (cycle > (SIM_LAST_START_PS - r->start_ps) / clock) break;
    if (machine_run(m, r->start_ps + cycle * clock) != MACHINE_REACHED) return true;
    TRY(o->stops->stop(o->stops->ctx, r->stops, (gpu_now(s->gpu) - r->start_ps) / clock, &threads, e));
    if (threads) machine_renew_threads(m, threads);
  }
  machine_run(m, TIME_NEVER);
  return true;
}

static bool run_timed(struct simulator *s, struct step_source *source, struct gmem *image,
                      const struct sim_options *o, const struct run_watch *w,
                      struct sim_result *r, struct err *e)
{
  struct gpu *gpu = simulator_gpu_at(s, o, o->start_ps, e);
  const struct gpu_launch l = {.source = source, .start = o->start_ps};

  if (!gpu) return false;
  r->start_ps = gpu_now(gpu);
  TRY(gpu_fits(gpu, &l, e));
  simulator_begin_observing(s, r->start_ps);
  simulator_send(s, source);
  if (o->usage) usage_begin(o->usage, gpu, r->start_ps, params_clock_ps(s->params), params_request_ps(s->params));
  simulator_begin(s, source, image);
  TRY(simulator_open(s, &l, e));
  watch_all(s, w);
  const bool ran = run_machine(s, o, r, e);
  if (!ran) gpu_cut(gpu);
  r->end = gpu_finish(gpu, &r->fault, o->report);
  finish_others(s, r->end);
  simulator_collect(s, gpu, &source->code, r);
  if (o->usage) usage_end(o->usage, gpu, r->time_ps);
  simulator_keep(s, r->end);
  return ran;
}

/* The clocks of a run without time that begins at start_ps. */
static struct run_watch clocks_from(const struct simulator *s, const struct run_watch *w, uint64_t start_ps)
{
  struct run_watch now = *w;
  now.clock_ps = (uint32_t)params_clock_ps(s->params);
  now.start_clock = div_up(start_ps, now.clock_ps) + s->params->launch_latency_cycles;
  return now;
}

/* l is NULL for a source that is no launch: the runner of any source takes it. */
static bool run_functional(struct simulator *s, struct launch *l, struct step_source *source, struct gmem *image,
                           const struct sim_options *o, const struct run_watch *w, struct sim_result *r, struct err *e)
{
  struct func_stats stats = { .mix = s->mix, .threads = s->threads_by };
  const struct run_watch watch = clocks_from(s, w, o->start_ps);

  r->start_ps = o->start_ps;
  if (l) r->end = func_run_watched(l->func, &watch, &stats, &r->fault);
  else r->end = run_source(source, image, &watch, &stats, &r->fault);
  if (r->end == RUN_REFUSED) return err_set(e, "clusters of this instruction set run with time only");
  r->warp_insts = stats.warp_insts;
  r->thread_insts = stats.thread_insts;
  r->time_ps = (watch.start_clock + r->warp_insts * FUNC_CYCLES_PER_INST) * watch.clock_ps - o->start_ps;
  return true;
}

/* CTAs to time, n_ctas: all. Fewer than three waves say nothing of how fast a full GPU is; of a grid that is little
 * larger than the sample, the rest may as well be timed. */
static uint64_t sample_of(const struct simulator *s, const struct launch *l, uint64_t wanted)
{
  const struct step_source *source = func_source(l->func);
  struct occupancy o;
  if (!wanted || l->grid_barrier || !occupancy_of(s->params, source, &o, NULL)) return source->n_ctas;
  uint64_t least = 3 * (uint64_t)o.ctas * s->params->gpu_sms + GPU_RATE_STEPS;
  if (wanted < least) wanted = least;
  wanted += step_cluster_ctas(source) - 1; /* whole clusters */
  wanted -= wanted % step_cluster_ctas(source);
  return wanted + wanted / 4 < source->n_ctas ? wanted : source->n_ctas;
}

/* The time of `more` CTAs behind those timed, from the rate of the batches and from `work`, what one of them executes
 * beside one that was timed; its error is that of the batches' mean (Student's t, 95 %, 7 degrees of freedom), and
 * half of what the work changed: time may follow instructions less or more than evenly. */
static void extrapolate(const struct simulator *s, const struct gpu *gpu, uint64_t more, double work,
                        struct sim_result *r)
{
  const double t95 = 2.365, n = GPU_RATE_STEPS;
  uint64_t batch[GPU_RATE_STEPS], ctas;
  double mean = 0, spread = 0;
  BUG_ON(!gpu_rate(gpu, s->open[0], batch, &ctas));
  for (unsigned i = 0; i < GPU_RATE_STEPS; i++) mean += (double)batch[i] / n;
  for (unsigned i = 0; i < GPU_RATE_STEPS; i++)
    spread += ((double)batch[i] - mean) * ((double)batch[i] - mean);
  double batches = (double)more / (double)ctas, clock = (double)params_clock_ps(s->params);
  double of_rate = t95 * sqrt(spread / (n - 1) / n) * work, of_work = mean * fabs(work - 1) / 2;
  r->time_ps += (uint64_t)(mean * work * batches);
  r->cycles += (uint64_t)(mean * work * batches / clock);
  r->error_cycles = (uint64_t)(hypot(of_rate, of_work) * batches / clock);
}

/* The CTAs that were not timed. Returns what one of them executed on average beside one that was. */
static double run_rest(struct simulator *s, struct launch *l, const struct run_watch *w,
                       struct sim_result *r)
{
  struct func_stats stats = { .warp_insts = r->warp_insts, .thread_insts = r->thread_insts,
                              .mix = s->mix, .threads = s->threads_by };
  double timed = (double)r->warp_insts / (double)r->sampled_ctas;
  double ctas = (double)(func_source(l->func)->n_ctas - r->sampled_ctas);
  const struct run_watch watch = clocks_from(s, w, r->start_ps + r->time_ps);
  r->end = func_run_from(l->func, r->sampled_ctas, &watch, &stats, &r->fault);
  double rest = (double)(stats.warp_insts - r->warp_insts) / ctas;
  r->warp_insts = stats.warp_insts;
  r->thread_insts = stats.thread_insts;
  return rest / timed;
}

/* A launch of which some CTAs are timed, when that makes sense. */
static bool run_sampled(struct simulator *s, struct launch *l, const struct sim_options *o,
                        const struct run_watch *w, struct sim_result *r, struct err *e)
{
  struct step_source *source = func_source(l->func);
  uint64_t all = source->n_ctas;
  source->n_ctas = sample_of(s, l, o->sample_ctas);
  if (source->n_ctas < all) r->sampled_ctas = source->n_ctas;
  bool ran = run_timed(s, source, l->params.image, o, w, r, e);
  source->n_ctas = all;
  if (!ran || !r->sampled_ctas || r->end != RUN_DONE) return ran;
  double work = run_rest(s, l, w, r);
  extrapolate(s, s->gpu, all - r->sampled_ctas, work, r);
  return true;
}

static bool run_first(struct simulator *s, struct launch *l, const struct sim_options *o, const struct run_watch *w,
                      struct sim_result *r, struct err *e)
{
  struct step_source *source = func_source(l->func);
  uint64_t all = source->n_ctas;
  if (o->first_ctas < all) source->n_ctas = o->first_ctas;
  bool ran = run_timed(s, source, l->params.image, o, w, r, e);
  source->n_ctas = all;
  return ran;
}

/* A run of either kind; l is NULL for a source that is no launch. */
static bool run(struct simulator *s, struct launch *l, struct step_source *source,
                struct gmem *image, const struct sim_options *o, struct sim_result *r, struct err *e)
{
  struct sim_watcher ctx = { s, o };
  struct run_watch watch = simulator_watch(&ctx);

  simulator_forget(s, source->code.isa);
  *r = (struct sim_result){ .timed = o->timed, .together = 1, .isa = s->isa, .mix = s->mix,
                              .thread_mix = s->threads_by, .where = &s->where };
  if (!o->timed) TRY(run_functional(s, l, source, image, o, &watch, r, e));
  else if (l && o->sample_ctas) TRY(run_sampled(s, l, o, &watch, r, e));
  else if (l && o->first_ctas) TRY(run_first(s, l, o, &watch, r, e));
  else TRY(run_timed(s, source, image, o, &watch, r, e));
  r->work = s->isa->work(s->threads_by);
  positions_sort(&s->where);
  return true;
}

bool simulate(struct simulator *s, struct launch *l, const struct sim_options *o,
              struct sim_result *r, struct err *e)
{
  return run(s, l, func_source(l->func), l->params.image, o, r, e);
}

bool simulate_source(struct simulator *s, struct step_source *source, struct gmem *image,
                     const struct sim_options *o, struct sim_result *r, struct err *e)
{
  return run(s, NULL, source, image, o, r, e);
}

bool simulate_fits_at_once(const struct params *p, const struct launch *l, struct err *e)
{
  const struct step_source *s = func_source(l->func);
  struct occupancy o;

  TRY(occupancy_of(p, s, &o, e));
  uint64_t room = (uint64_t)o.ctas * (s->cores ? core_set_count(s->cores) : p->gpu_sms);
  return s->n_ctas <= room ||
         err_set(e, "cooperative launch of %llu CTAs, but only %llu are resident at once (limited by "
                 "%s)", (unsigned long long)s->n_ctas, (unsigned long long)room, o.limiter);
}

/* As many CTAs are resident as the GPU holds; function-only, one worker has them all. */
static void shape(struct device_config *c, const struct params *p, bool timed)
{
  unsigned workers = timed ? p->gpu_sms : 1, share = p->gpu_sms / workers;

  c->untimed = !timed;
  c->n_workers = workers;
  c->slots_per_worker = p->sm_max_ctas * share;
  c->warps_per_worker = p->sm_max_warps * share;
}

struct device_config device_config_for(const struct params *p, bool timed)
{
  struct device_config c = device_config_default(p->arch_sm);

  shape(&c, p, timed);
  c.page_bits = p->vm_page_bits;
  c.n_smids = p->gpu_sms;
  c.n_warpids = p->sm_max_warps;
  c.limits.threads_per_cta = p->sm_max_threads_per_cta;
  c.limits.shared_per_cta = p->sm_shared_per_cta_max;
  c.limits.regs_per_cta = p->sm_registers;
  return c;
}

void device_shape(struct device *d, const struct params *p, bool timed)
{
  shape(&d->config, p, timed);
}
