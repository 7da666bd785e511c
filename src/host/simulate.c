#include "host/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "func/run_source.h"
#include "host/simulator.h"
#include "host/surroundings.h"
#include "host/usage.h"
#include "time/gpu/gpu.h"
#include "time/machine/machine.h"
#include "time/mem/outer_memory.h"

_Static_assert((int)SIM_MAX_GROUPS == (int)GPU_MAX_GROUPS, "room for all groups");

struct simulator *simulator_new(const struct params *p)
{
  struct simulator *s = mem_zeroed(1, sizeof *s);
  s->params = p;
  return s;
}

void simulator_set_memory(struct simulator *s, const struct outer_port *outside)
{
  BUG_ON(s->gpu || s->around);
  s->outside = outside;
}

bool simulator_answer(struct simulator *s, uint64_t id, uint64_t at_ps)
{
  struct outer_memory *o = s->gpu ? gpu_outer_memory(s->gpu) : NULL;
  return o && outer_memory_answer(o, id, at_ps);
}

uint64_t simulator_now(const struct simulator *s)
{
  return s->gpu ? gpu_now(s->gpu) : 0;
}

void simulator_join(struct simulator *s, struct surroundings *x, unsigned node, struct gmem *image)
{
  BUG_ON(s->gpu || s->around || x->member[node]);
  s->around = x;
  s->node = node;
  x->member[node] = s;
  x->image[node] = image;
}

void simulator_surround(struct simulator *s)
{
  simulator_join(s, surroundings_new(NULL, NULL, s->params), 0, NULL);
  s->alone_there = true;
}

void simulator_place(struct simulator *s, uint64_t addr, uint64_t bytes, int node)
{
  struct surroundings *x = s->around;
  if (!x || (!x->places && node < 0)) return;
  if (!x->places) x->places = places_new();
  places_set(x->places, addr, bytes, node);
}

void simulator_place_at_host(struct simulator *s, uint64_t addr, uint64_t bytes)
{
  if (s->around) simulator_place(s, addr, bytes, surroundings_socket(s->around, s->node));
}

struct uvm *simulator_manage(struct simulator *s)
{
  return s->around ? surroundings_manage(s->around, s) : NULL;
}

void simulator_set_program(struct simulator *s, const struct program_memory *program)
{
  if (s->around) s->around->program = program;
}

void simulator_set_rights(struct simulator *s, struct l2_rights *rights, bool at_host)
{
  if (!s->around) return;
  s->around->rights = rights;
  s->around->rights_at_host = at_host;
}

void simulator_set_tables(struct simulator *s, struct page_tables *tables)
{
  if (s->around) s->around->tables = tables;
}

void simulator_set_written(struct simulator *s, struct span_list *written)
{
  if (s->around) s->around->written = written;
}

void simulator_send(const struct simulator *s, struct step_source *source)
{
  if (!s->around) return;
  source->places = s->around->places;
  source->node = (uint16_t)s->node;
  source->apart = s->around->ranked != NULL;
}

struct machine *simulator_machine(const struct simulator *s)
{
  return s->around ? s->around->machine : s->machine;
}

void simulator_renew_threads(struct simulator *s, unsigned threads)
{
  unsigned cursor = 0;
  if (simulator_next_member(s, &cursor) != s || !simulator_machine(s)) return;
  machine_renew_threads(simulator_machine(s), threads);
}

struct simulator *simulator_next(struct simulator *s, unsigned *cursor)
{
  if (s->around) return surroundings_next(s->around, cursor);
  return (*cursor)++ ? NULL : s;
}

struct simulator *simulator_next_member(struct simulator *s, unsigned *cursor)
{
  if (s->around) return surroundings_next_member(s->around, cursor);
  return (*cursor)++ ? NULL : s;
}

static void free_gpu(struct simulator *s)
{
  gpu_free(s->gpu);
  s->gpu = NULL;
  s->observers = NULL;
  s->n_open = 0;
}

/* With those of others in its machine. */
static void free_machine(struct simulator *s)
{
  unsigned cursor = 0;
  if (s->around) surroundings_clear(s->around);
  machine_free(s->machine);
  s->machine = NULL;
  for (struct simulator *m; (m = simulator_next_member(s, &cursor));) free_gpu(m);
}

static void simulator_close_launches(struct simulator *s)
{
  while (s->n_open) gpu_close(s->gpu, s->open[--s->n_open]);
}

void simulator_free(struct simulator *s)
{
  if (!s) return;
  free_machine(s);
  gpu_free(s->last);
  if (s->around) s->around->member[s->node] = NULL;
  if (s->alone_there) surroundings_free(s->around);
  positions_free(&s->where);
  gpu_profile_free(&s->profile);
  live_free(s);
  mem_free(s->mix);
  mem_free(s->threads_by);
  mem_free(s);
}

static void note_resident(void *ctx, const struct step_cta *c)
{
  positions_add(&((struct sim_watcher *)ctx)->s->where, c);
}

static bool poll(void *ctx, const struct run_progress *p)
{
  const struct sim_options *o = ((struct sim_watcher *)ctx)->o;
  return o->poll(o->ctx, p);
}

static bool window(void *ctx, uint64_t now)
{
  const struct sim_watcher *w = ctx;
  usage_window(w->o->usage, w->s->gpu, now);
  return true;
}

/* Profilers flush the caches before they run a kernel, but they run it several times and save its memory before that:
 * its pages are known. */
struct params simulator_params(const struct simulator *s, bool cold)
{
  struct params p = *s->params;
  if (cold) p.tlb_walk_cycles = 0;
  return p;
}

void simulator_tell_l2(const struct simulator *s)
{
  gpu_set_l2(s->gpu, s->l2_aside, s->l2_fetch ? s->l2_fetch : s->params->l2_fetch_bytes);
}

void simulator_set_l2(struct simulator *s, uint64_t aside_bytes, unsigned fetch_bytes)
{
  s->l2_aside = aside_bytes;
  s->l2_fetch = fetch_bytes;
  if (s->gpu) simulator_tell_l2(s);
}

void simulator_reset_residency(struct simulator *s)
{
  if (s->gpu) gpu_reset_residency(s->gpu);
}

static void build(struct simulator *s, const struct sim_options *o)
{
  const struct params p = simulator_params(s, o->cold);
  if (s->around) {
    if (s->around->machine) surroundings_wake(s->around, s);
    else surroundings_build(s->around, s, o->threads, o->cold);
    return;
  }
  s->gpu = s->outside ? gpu_new_outside(&p, s->outside) : gpu_new(&p);
  if (s->l2_aside || s->l2_fetch) simulator_tell_l2(s);
  s->machine = machine_new(&(struct machine_config){
      .threads = o->threads, .domain = (struct domain *[]){gpu_domain(s->gpu)}, .n_domains = 1, .epoch = TIME_NEVER});
}

struct gpu *simulator_gpu(struct simulator *s, const struct sim_options *o)
{
  bool same = s->threads == o->threads && s->hazards == o->hazards && s->observers == o->observers;
  if (s->gpu && !same && !s->fresh) free_machine(s);
  if (s->gpu && !s->fresh) return s->gpu;
  if (!s->gpu) build(s, o);
  s->fresh = false;
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

void simulator_count_mix(struct simulator *s, const struct gpu_inst_profile *p, const struct code_view *code)
{
  for (uint64_t i = 0; i < p->n_insts; i++) {
    s->mix[code->inst[i].mnemonic] += p->issued[i];
    s->threads_by[code->inst[i].mnemonic] += p->threads[i];
  }
}

void simulator_collect(struct simulator *s, struct gpu *gpu, const struct code_view *code,
                    struct sim_result *r)
{
  const struct occupancy *o = gpu_occupancy(gpu, s->open[0]);

  r->n_groups = gpu_stats_groups(gpu, r->group);
  r->instances = gpu_instances_of_run(gpu);
  s->profile = gpu_profile(gpu, s->open[0]);
  simulator_count_mix(s, &s->profile, code);
  r->profile = &s->profile;
  r->ctas_per_sm = o->ctas;
  r->limiter = o->limiter;
  r->cycles = sim_counter(r, "cycles");
  r->time_ps = sim_counter(r, "time_ps");
  r->warp_insts = sim_counter(r, "warp_insts");
  r->thread_insts = sim_counter(r, "thread_insts");
  r->hazards = gpu_hazards(gpu);
}

struct gpu *simulator_gpu_at(struct simulator *s, const struct sim_options *o, uint64_t start, struct err *e)
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
  struct gpu *gpu = simulator_gpu(s, o);
  gpu_count_instances(gpu, o->instances);
  simulator_close_launches(s);
  unsigned cursor = 0;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) start = later(start, gpu_now(m->gpu));
  gpu_idle_until(gpu, start);
  return gpu;
}

void simulator_begin(struct simulator *s, const struct step_source *first, struct gmem *image)
{
  unsigned cursor = 0;
  if (s->around) s->around->image[s->node] = image;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    if (m == s) continue;
    simulator_close_launches(m);
    gpu_idle_until(m->gpu, gpu_now(s->gpu));
    gpu_begin(m->gpu, NULL, m->around->image[m->node]);
  }
  if (s->around) s->around->run = s, s->around->begun = gpu_now(s->gpu);
  gpu_begin(s->gpu, first, image);
}

void simulator_keep(struct simulator *s, enum run_end end)
{
  unsigned cursor = 0;
  if (end == RUN_DONE) return;
  for (struct simulator *m; (m = simulator_next(s, &cursor));) {
    gpu_free(m->last);
    m->last = m->gpu;
    m->gpu = NULL;
  }
  free_machine(s);
}

bool simulator_open(struct simulator *s, const struct gpu_launch *l, struct err *e)
{
  TRY(gpu_open(s->gpu, l, &s->open[s->n_open], e));
  s->n_open++;
  return true;
}

void simulator_begin_observing(const struct simulator *s, uint64_t start_ps)
{
  if (s->observers && s->observers->begin)
    s->observers->begin(s->observers->ctx, start_ps / params_clock_ps(s->params));
}

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

struct run_watch simulator_watch(struct sim_watcher *w)
{
  const struct sim_options *o = w->o;
  return (struct run_watch){ .max_cycles = o->max_cycles, .max_insts = o->max_insts,
                             .poll = o->poll ? poll : NULL, .resident = note_resident,
                             .window = o->usage ? window : NULL,
                             .ctx = w, .poll_insts = o->poll_insts, .tap = o->tap, .threads = o->threads,
                             .slice = o->slice };
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

void simulator_forget(struct simulator *s, const struct isa *isa)
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
