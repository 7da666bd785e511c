#include "host/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "host/usage.h"
#include "time/gpu/gpu.h"
#include "time/machine/machine.h"
#include "time/msg.h"

_Static_assert((int)SIM_MAX_GROUPS == (int)GPU_MAX_GROUPS, "room for all groups");

struct simulator {
  const struct params *params;
  struct gpu *gpu;         /* NULL: not needed yet, or the last kernel is still in it */
  struct machine *machine; /* of this one GPU */
  struct gpu *last;        /* counters of the last run, when it cannot run another kernel */
  unsigned n_open, open[GPU_SLOTS]; /* slots of the last run's launches, which are asked for until the next run */
  unsigned threads;
  enum sim_hazards hazards;
  const struct sim_observers *observers;
  const struct isa *isa;      /* of the last run */
  uint64_t *mix, *threads_by; /* warp and thread instructions by its mnemonics */
  struct gpu_inst_profile profile; /* of the last timed launch that ran alone */
  struct positions where;
};

struct simulator *simulator_new(const struct params *p)
{
  struct simulator *s = mem_zeroed(1, sizeof *s);
  s->params = p;
  return s;
}

static void free_machine(struct simulator *s)
{
  machine_free(s->machine);
  gpu_free(s->gpu);
  s->machine = NULL;
  s->gpu = NULL;
  s->n_open = 0;
}

static void close_launches(struct simulator *s)
{
  while (s->n_open) gpu_close(s->gpu, s->open[--s->n_open]);
}

void simulator_free(struct simulator *s)
{
  if (!s) return;
  free_machine(s);
  gpu_free(s->last);
  positions_free(&s->where);
  gpu_profile_free(&s->profile);
  mem_free(s->mix);
  mem_free(s->threads_by);
  mem_free(s);
}

/* What the watcher of a run needs. */
struct watcher {
  struct simulator *s;
  const struct sim_options *o;
};

static void note_resident(void *ctx, const struct step_cta *c)
{
  positions_add(&((struct watcher *)ctx)->s->where, c);
}

static bool poll(void *ctx, const struct run_progress *p)
{
  const struct sim_options *o = ((struct watcher *)ctx)->o;
  return o->poll(o->ctx, p);
}

static void window(void *ctx, uint64_t now)
{
  const struct watcher *w = ctx;
  usage_window(w->o->usage, w->s->gpu, now);
}

/* The GPU for this run: the one of the last run, unless its number of threads, its hazard mode or who observes is
 * another one (then the caches start cold). */
static struct gpu *gpu_for(struct simulator *s, const struct sim_options *o)
{
  bool same = s->threads == o->threads && s->hazards == o->hazards && s->observers == o->observers;
  if (s->gpu && !same) free_machine(s);
  if (s->gpu) return s->gpu;
  s->gpu = gpu_new(s->params);
  s->machine = machine_new(&(struct machine_config){
      .threads = o->threads, .domain = (struct domain *[]){gpu_domain(s->gpu)}, .n_domains = 1, .epoch = TIME_NEVER});
  if (o->hazards & SIM_HAZARDS_CHECK) gpu_check_hazards(s->gpu);
  if (o->hazards & SIM_HAZARDS_EMULATE) gpu_emulate_hazards(s->gpu);
  if (o->observers) gpu_observe(s->gpu, o->observers->of, o->observers->ctx);
  s->threads = o->threads;
  s->hazards = o->hazards;
  s->observers = o->observers;
  return s->gpu;
}

const uint64_t *sim_counters(const struct sim_result *r, const char *name, unsigned n)
{
  for (unsigned i = 0; i < r->n_groups; i++) {
    const struct stat_desc *d = stat_find(r->group[i], name);
    if (!d) continue;
    BUG_ON(d->count < n);
    return (const uint64_t *)(const void *)((const char *)r->group[i].data + d->offset);
  }
  BUG("no counter %s", name);
}

uint64_t sim_counter(const struct sim_result *r, const char *name)
{
  return *sim_counters(r, name, 1);
}

/* Instructions by mnemonic, from the counts per instruction. */
static void count_mix(struct simulator *s, const struct gpu_inst_profile *p, const struct code_view *code)
{
  for (uint64_t i = 0; i < p->n_insts; i++) {
    s->mix[code->inst[i].mnemonic] += p->issued[i];
    s->threads_by[code->inst[i].mnemonic] += p->threads[i];
  }
}

static void collect(struct simulator *s, struct gpu *gpu, const struct code_view *code,
                    struct sim_result *r)
{
  const struct occupancy *o = gpu_occupancy(gpu, s->open[0]);

  r->n_groups = gpu_stats_groups(gpu, r->group);
  s->profile = gpu_profile(gpu, s->open[0]);
  count_mix(s, &s->profile, code);
  r->profile = &s->profile;
  r->ctas_per_sm = o->ctas;
  r->limiter = o->limiter;
  r->cycles = sim_counter(r, "cycles");
  r->time_ps = sim_counter(r, "time_ps");
  r->warp_insts = sim_counter(r, "warp_insts");
  r->thread_insts = sim_counter(r, "thread_insts");
  r->hazards = gpu_hazards(gpu);
}

/* The machine of this run, at its start. NULL with e filled: the options exclude each other. */
static struct gpu *gpu_at_start(struct simulator *s, const struct sim_options *o, uint64_t start, struct err *e)
{
  if (o->hazards && s->params->issue_dependence == DEPENDENCE_SCOREBOARD) {
    err_set(e, "hazards of control bits can only be checked or emulated with issue.dependence = "
               "control_bits or hybrid, not scoreboard");
    return NULL;
  }
  const struct params *p = s->params;
  if (o->hazards && (p->ideal_issue || p->ideal_stalls || p->ideal_divergence || p->ideal_local || p->ideal_barriers)) {
    err_set(e, "hazards of control bits are not checked or emulated with ideal.issue, ideal.stalls, ideal.divergence, "
               "ideal.local or ideal.barriers, which leave out what keeps instructions apart");
    return NULL;
  }
  if (o->cold) free_machine(s);
  struct gpu *gpu = gpu_for(s, o);
  close_launches(s);
  gpu_idle_until(gpu, start);
  return gpu;
}

/* After any end but RUN_DONE the machine is only good for its counters. */
static void keep_machine(struct simulator *s, enum run_end end)
{
  if (end == RUN_DONE) return;
  s->last = s->gpu;
  s->gpu = NULL;
  free_machine(s);
}

static bool open_launch(struct simulator *s, const struct gpu_launch *l, struct err *e)
{
  TRY(gpu_open(s->gpu, l, &s->open[s->n_open], e));
  s->n_open++;
  return true;
}

static void begin_observing(const struct simulator *s, uint64_t start_ps)
{
  if (s->observers && s->observers->begin)
    s->observers->begin(s->observers->ctx, start_ps / params_clock_ps(s->params));
}

static bool run_timed(struct simulator *s, struct step_source *source, struct gmem *image,
                      const struct sim_options *o, const struct run_watch *w,
                      struct sim_result *r, struct err *e)
{
  struct gpu *gpu = gpu_at_start(s, o, o->start_ps, e);
  const struct gpu_launch l = {.source = source, .start = o->start_ps};

  if (!gpu) return false;
  r->start_ps = gpu_now(gpu);
  TRY(gpu_fits(gpu, &l, e));
  begin_observing(s, r->start_ps);
  if (o->usage) usage_begin(o->usage, gpu, r->start_ps, params_clock_ps(s->params), params_request_ps(s->params));
  gpu_begin(gpu, source, image);
  TRY(open_launch(s, &l, e));
  gpu_watch(gpu, w, false);
  machine_run(s->machine, TIME_NEVER);
  r->end = gpu_finish(gpu, &r->fault, o->report);
  collect(s, gpu, &source->code, r);
  if (o->usage) usage_end(o->usage, gpu, r->time_ps);
  keep_machine(s, r->end);
  return true;
}

/* The clocks of a run without time that begins at start_ps. */
static struct run_watch clocks_from(const struct simulator *s, const struct run_watch *w, uint64_t start_ps)
{
  struct run_watch now = *w;
  now.clock_ps = (uint32_t)params_clock_ps(s->params);
  now.start_clock = div_up(start_ps, now.clock_ps) + s->params->launch_latency_cycles;
  return now;
}

static void run_functional(struct simulator *s, struct launch *l, const struct sim_options *o,
                           const struct run_watch *w, struct sim_result *r)
{
  struct func_stats stats = { .mix = s->mix, .threads = s->threads_by };
  const struct run_watch watch = clocks_from(s, w, o->start_ps);

  r->start_ps = o->start_ps;
  r->end = func_run_watched(l->func, &watch, &stats, &r->fault);
  r->warp_insts = stats.warp_insts;
  r->thread_insts = stats.thread_insts;
  r->time_ps = (watch.start_clock + r->warp_insts * FUNC_CYCLES_PER_INST) * watch.clock_ps - o->start_ps;
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

static struct run_watch watch_of(struct watcher *w)
{
  const struct sim_options *o = w->o;
  return (struct run_watch){ .max_cycles = o->max_cycles, .max_insts = o->max_insts,
                             .poll = o->poll ? poll : NULL, .resident = note_resident,
                             .window = o->usage ? window : NULL,
                             .ctx = w, .tap = o->tap, .threads = o->threads, .slice = o->slice };
}

static void count_for(struct simulator *s, const struct isa *isa)
{
  const size_t n = isa->n_mnemonics() + 1u;
  if (s->isa == isa) {
    memset(s->mix, 0, n * sizeof *s->mix);
    memset(s->threads_by, 0, n * sizeof *s->threads_by);
    return;
  }
  mem_free(s->mix);
  mem_free(s->threads_by);
  s->isa = isa;
  s->mix = mem_zeroed(n, sizeof *s->mix);
  s->threads_by = mem_zeroed(n, sizeof *s->threads_by);
}

/* What comes is of this instruction set. */
static void forget_last(struct simulator *s, const struct isa *isa)
{
  gpu_free(s->last);
  s->last = NULL;
  count_for(s, isa);
  s->where.n = 0;
  gpu_profile_free(&s->profile);
}

/* A run of either kind; l is NULL for a source that is no launch. */
static bool run(struct simulator *s, struct launch *l, struct step_source *source,
                struct gmem *image, const struct sim_options *o, struct sim_result *r, struct err *e)
{
  struct watcher ctx = { s, o };
  struct run_watch watch = watch_of(&ctx);

  forget_last(s, source->code.isa);
  *r = (struct sim_result){ .timed = o->timed, .together = 1, .isa = s->isa, .mix = s->mix,
                              .thread_mix = s->threads_by, .where = &s->where };
  if (!o->timed) run_functional(s, l, o, &watch, r);
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

/* Launches at the same time --------------------------------------------------------------------- */

/* A run of several launches. Those that find no free slot come when an earlier one has gone. */
struct together {
  unsigned n, n_opened;
  struct gpu_launch *launch;
  unsigned *slot;
  bool *collected;
  struct gmem *image;
  struct sim_result *result;
};

/* The GPU's clock is ahead of the jobs' while it is behind an earlier run. */
static struct together together_of(const struct sim_job *job, unsigned n, uint64_t late, uint64_t clock,
                                   struct sim_result *r)
{
  struct together t = { .n = n, .image = job[0].launch->params.image, .result = r,
                        .launch = mem_zeroed(n, sizeof *t.launch), .slot = mem_zeroed(n, sizeof *t.slot),
                        .collected = mem_zeroed(n, sizeof *t.collected) };
  for (unsigned i = 0; i < n; i++)
    t.launch[i] = (struct gpu_launch){ .source = func_source(job[i].launch->func),
                                       .start = round_up(job[i].start_ps + late, clock),
                                       .beside = n > 1, .gang = job[i].launch->grid_barrier != 0 };
  return t;
}

static void together_free(struct together *t)
{
  mem_free(t->launch);
  mem_free(t->slot);
  mem_free(t->collected);
}

static uint64_t earliest_start(const struct sim_job *job, unsigned n)
{
  uint64_t first = UINT64_MAX;
  for (unsigned i = 0; i < n; i++)
    if (job[i].start_ps < first) first = job[i].start_ps;
  return first;
}

static void count_traffic(const struct gpu *gpu, unsigned slot, struct sim_result *r)
{
  struct traffic t;
  gpu_traffic(gpu, slot, &t);
  r->l2_sectors = t.l2_read + t.l2_written;
  r->dram_bytes = SECTOR_BYTES * (t.dram_read + t.dram_written);
}

/* What launch number i did; s->mix has the sum of those before. */
static void collect_one(struct simulator *s, struct together *t, unsigned i)
{
  struct sim_result *r = &t->result[i];
  size_t n = s->isa->n_mnemonics();
  uint64_t *before = mem_zeroed(2 * n + 1, sizeof *before), start, end;
  memcpy(before, s->mix, n * sizeof *before);
  memcpy(before + n, s->threads_by, n * sizeof *before);
  memset(s->threads_by, 0, n * sizeof *s->threads_by);
  struct gpu_inst_profile p = gpu_profile(s->gpu, t->slot[i]);
  count_mix(s, &p, &t->launch[i].source->code);
  gpu_profile_free(&p);
  r->work = s->isa->work(s->threads_by);
  for (size_t k = 0; k < n; k++) {
    r->warp_insts += s->mix[k] - before[k];
    r->thread_insts += s->threads_by[k];
    s->threads_by[k] += before[n + k];
  }
  mem_free(before);
  if (gpu_launch_times(s->gpu, t->slot[i], &start, &end)) r->end = RUN_DONE;
  if (r->end != RUN_DONE) end = gpu_now(s->gpu);
  r->start_ps = start;
  r->time_ps = end > start ? end - start : 0;
  r->cycles = r->time_ps / params_clock_ps(s->params);
  r->ctas_per_sm = gpu_occupancy(s->gpu, t->slot[i])->ctas;
  r->limiter = gpu_occupancy(s->gpu, t->slot[i])->limiter;
  count_traffic(s->gpu, t->slot[i], r);
  t->collected[i] = true;
}

/* Launches that have ended give their slots to others. */
static void close_ended(struct simulator *s, struct together *t)
{
  uint64_t start, end;
  for (unsigned i = 0; i < t->n_opened; i++) {
    if (t->collected[i] || !gpu_launch_times(s->gpu, t->slot[i], &start, &end)) continue;
    collect_one(s, t, i);
    gpu_close(s->gpu, t->slot[i]);
    unsigned k = 0;
    while (s->open[k] != t->slot[i]) k++;
    s->open[k] = s->open[--s->n_open];
  }
}

static void open_more(struct simulator *s, struct together *t)
{
  struct err e = {0};
  for (; t->n_opened < t->n && !gpu_full(s->gpu); t->n_opened++) {
    if (!open_launch(s, &t->launch[t->n_opened], &e)) BUG("%s", e.msg); /* all fit */
    t->slot[t->n_opened] = s->open[s->n_open - 1];
  }
}

static enum run_end run_together(struct simulator *s, struct together *t, const struct run_watch *w, struct fault *f,
                                 FILE *report)
{
  enum machine_stop stop;
  begin_observing(s, gpu_now(s->gpu));
  gpu_begin(s->gpu, t->launch[0].source, t->image);
  do {
    close_ended(s, t);
    open_more(s, t);
    gpu_watch(s->gpu, w, t->n_opened < t->n);
    stop = machine_run(s->machine, TIME_NEVER);
  } while (stop == MACHINE_NOTICE && gpu_stopped(s->gpu) == RUN_DONE);
  return gpu_finish(s->gpu, f, report);
}

static void collect_all(struct simulator *s, struct together *t, enum run_end end, const struct fault *f)
{
  uint64_t insts = 0;
  for (unsigned i = 0; i < t->n; i++) {
    struct sim_result *r = &t->result[i];
    if (!t->collected[i]) r->end = end;
    if (!t->collected[i] && i < t->n_opened) collect_one(s, t, i);
    if (end == RUN_FAULT && (!f->source || f->source == t->launch[i].source)) r->fault = *f;
    r->n_groups = gpu_stats_groups(s->gpu, r->group);
    insts += r->warp_insts;
  }
  BUG_ON(insts != sim_counter(&t->result[0], "warp_insts")); /* every instruction is one launch's */
  positions_sort(&s->where);
}

static bool all_fit(const struct simulator *s, const struct together *t, struct err *e)
{
  for (unsigned i = 0; i < t->n; i++) TRY(gpu_fits(s->gpu, &t->launch[i], e));
  return true;
}

bool simulate_together(struct simulator *s, const struct sim_job *job, unsigned n, const struct sim_options *o,
                       struct sim_result *r, struct err *e)
{
  struct watcher ctx = { s, o };
  struct run_watch watch = watch_of(&ctx);
  struct fault fault = {0};
  uint64_t first = earliest_start(job, n);

  BUG_ON(!o->timed || o->hazards || o->sample_ctas || o->usage);
  forget_last(s, job[0].launch->params.code.isa);
  struct gpu *gpu = gpu_at_start(s, o, first, e);
  struct together t = together_of(job, n, gpu_now(gpu) - first, params_clock_ps(s->params), r);
  for (unsigned i = 0; i < n; i++)
    r[i] = (struct sim_result){ .timed = true, .together = n, .isa = s->isa, .mix = s->mix,
                              .thread_mix = s->threads_by, .where = &s->where };
  bool fit = all_fit(s, &t, e);
  if (fit) {
    enum run_end end = run_together(s, &t, &watch, &fault, o->report);
    collect_all(s, &t, end, &fault);
    keep_machine(s, end);
  }
  together_free(&t);
  return fit;
}

bool simulate_source(struct simulator *s, struct step_source *source, struct gmem *image,
                     const struct sim_options *o, struct sim_result *r, struct err *e)
{
  BUG_ON(!o->timed);
  return run(s, NULL, source, image, o, r, e);
}

bool simulate_fits_at_once(const struct params *p, const struct launch *l, struct err *e)
{
  const struct step_source *s = func_source(l->func);
  struct occupancy o;

  TRY(occupancy_of(p, s, &o, e));
  uint64_t room = (uint64_t)o.ctas * p->gpu_sms;
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
