#include "cuda/core/kernel_run.h"

#include <string.h>
#include <unistd.h>

#include "cuda/core/checked.h"
#include "cuda/core/debugged.h"
#include "cuda/core/device_queue.h"
#include "cuda/core/exec_report.h"
#include "cuda/core/graph_nested.h"
#include "cuda/core/kernel_fault.h"
#include "cuda/core/launch_watch.h"
#include "cuda/core/pages.h"
#include "cuda/core/profiled.h"
#include "cuda/core/sampling.h"
#include "cuda/core/save.h"
#include "cuda/core/shim.h"
#include "cuda/core/stalls.h"
#include "host/tracing.h"

/* A launch under way. */
struct running {
  const struct launch_request *q;
  struct launch *launch;
  uint64_t start;                 /* ps */
  struct snapshot *saved;         /* what it found; NULL: it is not captured */
  const struct device_grid *grid; /* what it queues; NULL: nothing */
  uint64_t parent;
  struct sample_group *group;     /* NULL: sampling does not decide about it */
};

/* Its end ---------------------------------------------------------------------------------------- */

/* Of launches that ran together traffic beyond L1 is told apart, other counters are not. */
static void count_traffic(struct launch_record *l, const struct sim_result *r)
{
  l->l2_sectors = r->l2_sectors;
  l->dram_bytes = r->dram_bytes;
  if (r->together > 1) return;
  l->l1_sectors = sim_counter(r, "l1_read_sectors") + sim_counter(r, "l1_write_sectors");
  l->l2_sectors = sim_counter(r, "l2_read_sectors") + sim_counter(r, "l2_write_sectors") +
                  sim_counter(r, "l2_strong_write_sectors");
  l->dram_bytes = sim_counter(r, "dram_read_bytes") + sim_counter(r, "dram_write_bytes");
}

/* estimate: cycles of a launch that was not timed, 0: none. */
static void keep_record(struct shim *s, const struct running *k, const struct sim_result *r, double estimate,
                        uint64_t end)
{
  const struct launch_request *q = k->q;
  struct launch_record l = {
      .kernel = q->function->kernel->name,
      .shared = q->shared,
      .stream = q->stream->id,
      .timed = r->timed,
      .together = r->together,
      .faulted = r->end != RUN_DONE,
      .estimated = estimate > 0,
      .cycles = estimate > 0 ? (uint64_t)estimate : r->cycles,
      .start_ps = k->start,
      .end_ps = end,
      .parent = k->parent,
      .warp_insts = r->warp_insts,
      .thread_insts = r->thread_insts,
      .work = r->work,
      .sampled_ctas = r->sampled_ctas,
      .error_cycles = r->error_cycles,
      .stalls = stalls_of(&s->preset.params, r, k->launch),
  };
  if (r->timed) count_traffic(&l, r);
  memcpy(l.grid, q->grid, sizeof l.grid);
  memcpy(l.block, q->block, sizeof l.block);
  record_add(&s->record, &l);
}

/* How it ended, apart from its record. */
static void keep_end(struct shim *s, const struct launch_request *q, const struct sim_result *r, uint64_t end)
{
  if (r->end == RUN_STOPPED) {
    kernel_fault_tell_where(q, r, "was stopped");
    interrupt_end(s);
  }
  /* Under the sanitizer, which has told the fault, the program goes on. */
  bool of_another = r->end == RUN_FAULT && (r->fault.kind == FAULT_NONE || s->checked);
  if (r->end != RUN_DONE && !of_another) kernel_fault_keep(s, q, r, end);
}

static uint64_t ctas(const struct launch_request *q)
{
  return (uint64_t)q->grid[0] * q->grid[1] * q->grid[2];
}

/* The kernel, and its CTAs, on the timeline. */
__attribute__((cold)) static void show(struct shim *s, const struct running *k, const struct sim_result *r,
                                       uint64_t end)
{
  const struct launch_request *q = k->q;
  const struct activity_kernel x = { .name = q->function->kernel->name, .stream = q->stream->id, .number = s->record.n,
                                     .begin = k->start, .end = end, .grid = q->grid, .block = q->block,
                                     .timed = r->timed, .cycles = r->cycles };
  activity_kernel(s->activity, &x);
  if (r->timed) activity_ran(s->activity, func_source(k->launch->func), x.name, x.number, end);
}

/* Its report, for the page. */
__attribute__((cold)) static void keep_page(struct shim *s, const struct running *k, const struct sim_result *r)
{
  const struct function *f = k->q->function;
  pages_add(s->pages, &(struct pages_launch){ .number = s->record.n, .gpu = s->options.gpu, .preset = &s->preset,
                                              .module = f->module->code.module, .kernel = f->kernel,
                                              .launch = k->launch, .result = r });
}

/* Its place in time, its record, its fault. */
static void finish(struct shim *s, const struct running *k, const struct sim_result *r, double estimate, uint64_t end)
{
  timeline_finish_kernel(&s->time, &k->q->stream->clock, ctas(k->q), end);
  keep_record(s, k, r, estimate, end);
  if (s->activity) show(s, k, r, end);
  if (s->pages) keep_page(s, k, r);
  keep_end(s, k->q, r, end);
}

void kernel_ended(struct shim *s, const struct launch_request *q, struct launch *l, const struct sim_result *r,
                  uint64_t start)
{
  const struct running k = { .q = q, .launch = l, .start = start };
  finish(s, &k, r, 0, start + r->time_ps);
}

static void stop_if_done(struct shim *s)
{
  if (!s->options.stop_after_timed || s->record.n < s->options.choice.last) return;
  exec_report(s);
  fflush(NULL);
  _exit(shim_status(s, 0));
}

/* Running ---------------------------------------------------------------------------------------- */

uint64_t kernel_start(const struct shim *s, const struct launch_request *q)
{
  return timeline_start_kernel(&s->time, &q->stream->clock, ctas(q));
}

/* Group of a launch that sampling decides about; NULL: it is timed, or not, as the options say. */
static struct sample_group *sample_of(struct shim *s, const struct launch_request *q, bool timed)
{
  struct sample_key key = { .kernel = q->function->kernel->name, .shared = q->shared };
  memcpy(key.grid, q->grid, sizeof key.grid);
  memcpy(key.block, q->block, sizeof key.block);
  return timed && s->options.sample ? sampling_group(&s->samples, &key) : NULL;
}

/* What the options of the program's run say of this launch. */
static struct sim_options options_of(struct shim *s, struct running *k)
{
  const struct exec_options *e = &s->options;
  struct sim_options o = { .threads = e->threads, .report = stderr, .slice = e->interleave, .max_cycles = e->max_cycles,
                           .max_insts = e->max_insts, .sample_ctas = e->sample_ctas, .start_ps = k->start,
                           .cold = e->cold, .observers = s->activity ? activity_observers(s->activity) : NULL };
  if (s->activity) activity_begin(s->activity, k->start);
  o.timed = exec_options_timed(e, s->record.n + 1, k->q->function->kernel->name);
  k->group = sample_of(s, k->q, o.timed);
  if (k->group) o.timed = sampling_next(k->group, e->sample);
  if (s->profile) o.timed = profiled_next(s, k->q);
  if (!o.timed) o.max_cycles = 0;
  if (o.timed) o.usage = pages_usage(s->pages);
  return o;
}

/* With a trace when the options say so. */
static bool simulate_or_trace(struct shim *s, const struct running *k, const struct sim_options *o,
                              struct sim_result *r, struct err *e)
{
  const struct function *f = k->q->function;
  if (!s->trace || !choice_has(&s->options.choice, s->record.n + 1, f->kernel->name))
    return simulate(s->simulator, k->launch, o, r, e);
  return traced_run(s->trace, s->simulator, k->launch, f->module->code.instance, f->kernel, k->q->stream->id, o, r, e);
}

/* False, said on stderr: it could not be simulated. */
static bool simulate_watched(struct shim *s, struct running *k, struct sim_result *r)
{
  struct launch_watch watch;
  if (debugged_run(s, k->q, k->launch, k->start, r)) return true;
  struct sim_options o = options_of(s, k);
  struct err e = {""};
  o.poll = launch_watch_poll;
  o.ctx = &watch;
  o.tap = checked_begin(s->checked, k->q->function->module->code.module, k->launch);
  launch_watch_start(&watch, s, k->q->function->kernel->name);
  bool ran = simulate_or_trace(s, k, &o, r, &e);
  launch_watch_end(&watch);
  if (s->checked) shim_flush_print(s);
  checked_end(s->checked, ran ? &r->fault : &(struct fault){0});
  if (ran) return true;
  if (s->trace && !s->lost) shim_cannot_write(s, &e);
  if (!s->trace) shim_say("%s", e.msg);
  return false;
}

static void save(struct shim *s, struct running *k, const struct sim_result *r)
{
  if (k->saved && k->grid && k->grid->first) {
    shim_say("launch %llu launches kernels, which cannot be replayed without its program: not captured",
             (unsigned long long)s->record.n + 1);
    snapshot_free(k->saved);
    k->saved = NULL;
  }
  save_after(s, k->saved, r);
}

/* Adds a timed launch to its group. The cycles that one which was not timed would have taken, 0: not known. */
static double sample(struct sample_group *g, const struct sim_result *r)
{
  if (!g || r->end != RUN_DONE) return 0;
  if (!r->timed) return sampling_guess(g, r->warp_insts);
  sampling_add(g, r->warp_insts, r->cycles);
  return 0;
}

/* Nominal times add up to hours, which the timing model's clock has not: where it is used they end at half of that. */
static uint64_t end_of(const struct shim *s, const struct sim_result *r, double estimate, uint64_t start)
{
  const uint64_t limit = SIM_LAST_START_PS / 2;
  if (estimate > 0) return start + (uint64_t)estimate * params_clock_ps(&s->preset.params);
  if (r->timed || !s->options.timed || start + r->time_ps < limit) return start + r->time_ps;
  return start > limit ? start : limit;
}

static CUresult run(struct shim *s, struct running *k)
{
  struct sim_result r;
  if (!simulate_watched(s, k, &r)) {
    snapshot_free(k->saved);
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  memory_sync_registered(s, false);
  if (s->profile && r.timed) profiled_keep(s, k->q, k->launch, &r);
  save(s, k, &r);
  double estimate = sample(k->group, &r);
  finish(s, k, &r, estimate, end_of(s, &r, estimate, k->start));
  stop_if_done(s);
  return CUDA_SUCCESS;
}

CUresult kernel_simulate(struct shim *s, const struct launch_request *q, struct launch *l, uint64_t start)
{
  return run(s, &(struct running){ .q = q, .launch = l, .start = start });
}

/* For the simulator ------------------------------------------------------------------------------- */

static struct launch_desc description(struct shim *s, const struct launch_request *q, struct device_grid *grid)
{
  const struct module_kernel *k = q->function->kernel;
  struct launch_desc desc = {
    .code = q->function->module->code.instance, .kernel = k, .shared_dynamic = q->shared,
    .stack_bytes = (uint32_t)context_current(s)->limit[LIMIT_STACK_SIZE], .params = q->packed,
    .param_bytes = k->param_bytes, .runtime = grid ? &grid->calls : NULL, .graph = graph_current(s),
  };
  memcpy(desc.grid, q->grid, sizeof desc.grid);
  memcpy(desc.block, q->block, sizeof desc.block);
  memcpy(desc.cluster, q->cluster, sizeof desc.cluster);
  return desc;
}

static bool build(struct shim *s, const struct launch_desc *desc, struct launch *l)
{
  struct err e = {""};
  if (launch_init(l, &s->device, desc, &e)) return true;
  *l = (struct launch){0};
  shim_say("%s", e.msg);
  return false;
}

bool kernel_build(struct shim *s, const struct launch_request *q, struct launch *l)
{
  module_refresh_constants(q->function->module->code.instance);
  struct launch_desc desc = description(s, q, NULL);
  return build(s, &desc, l);
}

CUresult kernel_run(struct shim *s, const struct launch_request *q, struct device_grid *grid, uint64_t parent)
{
  struct launch l;
  shim_flush_print(s);
  if (s->fault.code != CUDA_SUCCESS) return CUDA_SUCCESS; /* nothing runs behind a fault */
  module_refresh_constants(q->function->module->code.instance);
  struct launch_desc desc = description(s, q, grid);
  memory_sync_registered(s, true);
  struct running k = { .q = q, .launch = &l, .grid = grid, .parent = parent,
                       .saved = save_before(s, q->function->module, &desc) };
  if (!build(s, &desc, &l)) {
    snapshot_free(k.saved);
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  k.start = kernel_start(s, q);
  CUresult r = run(s, &k);
  launch_free(&l);
  return r;
}
