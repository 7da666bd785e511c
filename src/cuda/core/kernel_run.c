#include "cuda/core/kernel_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/core/checked.h"
#include "cuda/core/context_turns.h"
#include "cuda/core/debugged.h"
#include "cuda/core/device_work.h"
#include "cuda/core/exec_report.h"
#include "cuda/core/graph_nested.h"
#include "cuda/core/kernel_fault.h"
#include "cuda/core/kernel_turns.h"
#include "cuda/core/launch_watch.h"
#include "cuda/core/pages.h"
#include "cuda/core/profiled.h"
#include "cuda/core/residency.h"
#include "cuda/core/sampling.h"
#include "cuda/core/save.h"
#include "cuda/core/shim.h"
#include "cuda/core/stalls.h"
#include "cuda/core/task.h"
#include "host/live_gpu.h"
#include "host/scheduler_tally.h"
#include "host/tracing.h"

/* A launch under way. */
struct kernel_run {
  struct task *work;
  const struct launch_request *q; /* the work's */
  struct launch launch;
  uint64_t start;                 /* ps */
  struct snapshot *saved;         /* what it found; NULL: it is not captured */
  struct sample_group *group;     /* NULL: sampling does not decide about it */
  struct kernel_turn *turn;       /* NULL: it takes no turns */
  bool ran;                       /* of one that does, at its end: it could be simulated */
  struct sim_result result;       /* likewise */
  const struct sm_stay_list *stays; /* of one that was in another's GPU; NULL: none */
};

static struct board *board_for(const struct kernel_run *k)
{
  return k->q->function->module->board;
}

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
static void keep_record(struct shim *s, const struct kernel_run *k, const struct sim_result *r, double estimate,
                        uint64_t end)
{
  const struct launch_request *q = k->q;
  struct launch_record l = {
      .kernel = q->function->kernel->name,
      .shared = q->shared,
      .stream = q->stream_id,
      .timed = r->timed,
      .together = r->together,
      .faulted = r->end != RUN_DONE,
      .estimated = estimate > 0,
      .cycles = estimate > 0 ? (uint64_t)estimate : r->cycles,
      .start_ps = k->start,
      .end_ps = end,
      .parent = q->parent,
      .warp_insts = r->warp_insts,
      .thread_insts = r->thread_insts,
      .work = r->work,
      .sampled_ctas = r->sampled_ctas,
      .error_cycles = r->error_cycles,
      .stalls = stalls_of(&board_for(k)->preset.params, r, &k->launch),
      .gpu = board_for(k)->number,
      .links = r->links,
  };
  if (r->timed) count_traffic(&l, r);
  memcpy(l.grid, q->grid, sizeof l.grid);
  memcpy(l.block, q->block, sizeof l.block);
  record_keep(&s->record, q->number, &l);
}

/* How it ended, apart from its record. */
static void keep_end(struct shim *s, const struct launch_request *q, const struct sim_result *r, uint64_t end)
{
  /* Under the sanitizer, which has told the fault, the program goes on. */
  bool of_another = r->end == RUN_FAULT && (r->fault.kind == FAULT_NONE || s->checked);
  if (r->end != RUN_DONE && !of_another) kernel_fault_keep(s, q, r, end);
}

static uint64_t ctas(const struct launch_request *q)
{
  return (uint64_t)q->grid[0] * q->grid[1] * q->grid[2];
}

/* The kernel, and its CTAs, on the timeline. */
__attribute__((cold)) static void show(struct shim *s, const struct kernel_run *k, const struct sim_result *r,
                                       uint64_t end)
{
  const struct launch_request *q = k->q;
  const struct activity_kernel x = { .name = q->function->kernel->name, .gpu = board_for(k)->number,
                                     .stream = q->stream_id, .number = q->number, .begin = k->start, .end = end,
                                     .grid = q->grid, .block = q->block, .timed = r->timed, .cycles = r->cycles };
  activity_kernel(s->activity, &x);
  if (k->stays) activity_stayed(s->activity, k->stays, &x);
  else if (r->timed) activity_ran(s->activity, func_source(k->launch.func), &x);
}

static void tell(struct shim *s, const struct kernel_run *k, uint64_t end)
{
  struct tracer *t = atomic_load(&s->tracer);
  if (t) t->kernel(t, k->q, k->start, end);
}

/* Its report, for the page. */
__attribute__((cold)) static void keep_page(struct shim *s, const struct kernel_run *k, const struct sim_result *r)
{
  const struct function *f = k->q->function;
  pages_add(s->pages, &(struct pages_launch){ .number = k->q->number, .gpu = board_preset_name(board_for(k)),
                                              .number_of_gpu = board_for(k)->number,
                                              .preset = &board_for(k)->preset,
                                              .module = f->module->code.module, .kernel = f->kernel,
                                              .launch = &k->launch, .result = r });
}

/* Its record, its fault. */
static void finish(struct shim *s, const struct kernel_run *k, const struct sim_result *r, double estimate,
                   uint64_t end)
{
  keep_record(s, k, r, estimate, end);
  if (s->activity) show(s, k, r, end);
  if (k->q->call.number) tell(s, k, end);
  if (s->pages) keep_page(s, k, r);
  keep_end(s, k->q, r, end);
}

static void stop_if_done(struct shim *s)
{
  if (!s->options.stop_after_timed || !record_has_all(&s->record, s->options.choice.last)) return;
  exec_report(s);
  fflush(NULL);
  _exit(shim_status(s, 0));
}

/* Running ---------------------------------------------------------------------------------------- */

/* Group of a launch that sampling decides about; NULL: it is timed, or not, as the options say. */
static struct sample_group *sample_of(struct shim *s, const struct launch_request *q, bool timed)
{
  struct sample_key key = { .kernel = q->function->kernel->name, .shared = q->shared };
  memcpy(key.grid, q->grid, sizeof key.grid);
  memcpy(key.block, q->block, sizeof key.block);
  return timed && s->options.sample ? sampling_group(&s->samples, &key) : NULL;
}

static const struct sim_observers *observers_of(const struct shim *s, const struct board *b)
{
  if (s->schedulers) return scheduler_tally_observers(s->schedulers);
  return board_observers(b);
}

/* What the options of the program's run say of this launch. */
static struct sim_options options_of(struct shim *s, struct kernel_run *k)
{
  const struct exec_options *e = &s->options;
  struct sim_options o = { .threads = e->threads, .report = stderr, .slice = e->interleave, .max_cycles = e->max_cycles,
                           .max_insts = e->max_insts, .sample_ctas = e->sample_ctas, .start_ps = k->start,
                           .cold = e->cold, .observers = observers_of(s, board_for(k)) };
  if (s->activity) activity_begin(s->activity, board_for(k)->number, k->start);
  o.timed = exec_options_timed(e, k->q->number, k->q->function->kernel->name);
  k->group = sample_of(s, k->q, o.timed);
  if (k->group) o.timed = sampling_next(k->group, e->sample);
  if (s->profile) o.timed = o.instances = profiled_next(s, k->q);
  if (!o.timed) o.max_cycles = 0;
  if (o.timed) o.usage = pages_usage(s->pages, board_for(k)->number);
  return o;
}

/* With a trace when the options say so. */
static bool simulate_or_trace(struct shim *s, struct kernel_run *k, const struct sim_options *o,
                              struct sim_result *r, struct err *e)
{
  const struct function *f = k->q->function;
  if (!s->trace || !choice_has(&s->options.choice, k->q->number, f->kernel->name))
    return simulate(board_for(k)->simulator, &k->launch, o, r, e);
  return traced_run(s->trace, board_for(k)->simulator, &k->launch, f->module->code.instance, f->kernel, k->q->stream_id,
                    o, r, e);
}

static void take_turns(const struct shim *s, struct kernel_turn *t, struct sim_options *o, struct launch_watch *watch)
{
  t->watch = watch;
  o->poll = kernel_turn_poll;
  o->poll_insts = s->patient ? PATIENT_TURN : TURN_INSTS;
  o->ctx = t;
  o->threads = 1;
  if (!o->slice && !s->patient) o->slice = TURN_SLICE;
}

/* False, said on stderr: it could not be simulated. */
static bool simulate_watched(struct shim *s, struct kernel_run *k, struct sim_result *r)
{
  struct launch_watch watch;
  if (debugged_run(s, k->q, &k->launch, k->start, r)) return true;
  struct sim_options o = options_of(s, k);
  struct err e = {""};
  o.poll = launch_watch_poll;
  o.ctx = &watch;
  if (k->turn) take_turns(s, k->turn, &o, &watch);
  o.tap = checked_begin(s->checked, k->q->function->module->code.module, &k->launch);
  launch_watch_start(&watch, s, k->q->function->kernel->name, k->q->number);
  bool ran = simulate_or_trace(s, k, &o, r, &e);
  launch_watch_end(&watch);
  if (s->checked) shim_flush_print(s);
  checked_end(s->checked, ran ? &r->fault : &(struct fault){0});
  if (ran) return true;
  if (s->trace && !s->lost) shim_cannot_write(s, &e);
  if (!s->trace) shim_say("%s", e.msg);
  return false;
}

static void save(struct shim *s, struct kernel_run *k, const struct sim_result *r)
{
  if (k->saved && device_work_waits(k->work->grid)) {
    shim_say("launch %llu launches kernels, which cannot be replayed without its program: not captured",
             (unsigned long long)k->q->number);
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
static uint64_t end_of(const struct shim *s, const struct kernel_run *k, const struct sim_result *r, double estimate)
{
  const uint64_t limit = SIM_LAST_START_PS / 2, start = k->start;
  if (estimate > 0) return start + (uint64_t)estimate * params_clock_ps(&board_for(k)->preset.params);
  if (r->timed || !s->options.timed || start + r->time_ps < limit) return start + r->time_ps;
  return start > limit ? start : limit;
}

/* Behind the run of one that had the GPU to itself. Returns when it ended. */
static uint64_t end_alone(struct shim *s, struct kernel_run *k, const struct sim_result *r)
{
  memory_sync_registered(s, false);
  if (s->profile && r->timed) profiled_keep(s, k->q, &k->launch, r);
  save(s, k, r);
  k->saved = NULL;
  const double estimate = sample(k->group, r);
  const uint64_t end = end_of(s, k, r, estimate);
  board_for(k)->time.now = s->time.now;
  timeline_kernel_end(&board_for(k)->time, ctas(k->q), end);
  finish(s, k, r, estimate, end);
  if (r->end == RUN_STOPPED && !s->end.cut) interrupt_end(s);
  stop_if_done(s);
  return end;
}

/* False: it could not be simulated. */
static bool run_alone(struct shim *s, struct kernel_run *k, uint64_t *end)
{
  struct sim_result r;
  if (!simulate_watched(s, k, &r)) return false;
  *end = end_alone(s, k, &r);
  return true;
}

/* For the simulator ------------------------------------------------------------------------------- */

static struct launch_desc description(const struct task *w)
{
  const struct launch_request *q = &w->op.kernel.q;
  const struct module_kernel *k = q->function->kernel;
  struct launch_desc desc = {
    .code = q->function->module->code.instance, .kernel = k, .shared_dynamic = q->shared,
    .stack_bytes = (uint32_t)q->stack_bytes, .params = q->packed,
    .param_bytes = k->param_bytes, .runtime = device_work_calls(w->grid), .graph = graph_current(q->run),
    .window = residency_window(&q->window), .cores = kernel_cores(q),
    .not_cooperative = !q->cooperative,
    .shared_share = (uint8_t)kernel_shared_share(q->function, q->shared_share),
  };
  memcpy(desc.grid, q->grid, sizeof desc.grid);
  memcpy(desc.block, q->block, sizeof desc.block);
  memcpy(desc.cluster, q->cluster, sizeof desc.cluster);
  return desc;
}

/* The launch as its stream finds memory now. NULL, said on stderr: it does not fit. */
static struct kernel_run *prepare(struct task *w, uint64_t start)
{
  struct shim *s = w->shim;
  struct kernel_run *k = shim_alloc(sizeof *k);
  struct err e = {""};
  *k = (struct kernel_run){ .work = w, .q = &w->op.kernel.q, .start = start };
  shim_flush_print(s);
  module_refresh_constants(k->q->function->module->code.instance);
  memory_sync_registered(s, true);
  struct launch_desc desc = description(w);
  if (w->command.place == COMMAND_ALONE) k->saved = save_before(s, k->q->function->module, &desc, k->q->number);
  if (s->ranks && desc.runtime) err_set(&e, "%s: code that launches kernels is not served with --ranks",
                                        k->q->function->kernel->name);
  else if (launch_init(&k->launch, &board_for(k)->device, &desc, &e)) return w->kernel = k;
  shim_say("%s", e.msg);
  snapshot_free(k->saved);
  free(k);
  return NULL;
}

static void let_go(struct kernel_run *k)
{
  k->work->kernel = NULL;
  launch_free(&k->launch);
  snapshot_free(k->saved);
  free(k);
}

/* Nobody is there to be told by the call that gave it. */
static enum command_way cannot_run(struct task *w, uint64_t now)
{
  w->shim->fault.code = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  w->shim->fault.when = now;
  return COMMAND_LASTS;
}

static enum command_way begin_alone(struct task *w, uint64_t now, uint64_t *end)
{
  struct shim *s = w->shim;
  const struct launch_request *q = &w->op.kernel.q;
  uint64_t start = timeline_kernel_start(&q->function->module->board->time, now, ctas(q));
  struct kernel_run *k = prepare(w, start);
  if (!k) return cannot_run(w, now);
  w->command.begin = start;
  bool ran = run_alone(s, k, end);
  let_go(k);
  if (!ran) return cannot_run(w, now);
  return device_work_end(w, *end) ? COMMAND_GOES : COMMAND_LASTS;
}

/* Taking turns with those of other GPUs, or with the host --------------------------------------------- */

static void run_in_turns(void *task)
{
  struct kernel_run *k = ((struct task *)task)->kernel;
  k->ran = simulate_watched(k->work->shim, k, &k->result);
}

static enum command_way begin_turns(struct task *w, uint64_t now)
{
  const struct launch_request *q = &w->op.kernel.q;
  struct board *b = q->function->module->board;
  const uint64_t start = timeline_kernel_start(&b->time, now, ctas(q));
  struct kernel_run *k = prepare(w, start);
  if (!k) return cannot_run(w, now);
  w->command.begin = start;
  k->turn = kernel_turn_begin(b, w, start, run_in_turns);
  return COMMAND_GOES;
}

/* As *how says, at *end. */
static enum command_way end_turn(struct task *w, bool cut, enum run_end *how, uint64_t *end)
{
  struct shim *s = w->shim;
  struct kernel_run *k = w->kernel;
  *end = k->start;
  if (cut && k->ran && k->result.end == RUN_STOPPED && !s->end.cut) {
    k->result.end = RUN_FAULT;
    k->result.fault = (struct fault){ .kind = FAULT_NONE };
  }
  *how = k->ran ? k->result.end : RUN_FAULT;
  if (k->ran) *end = end_alone(s, k, &k->result);
  else cannot_run(w, *end);
  let_go(k);
  return device_work_end(w, *end) ? COMMAND_GOES : COMMAND_LASTS;
}

enum run_end kernel_turn_ended(struct task *w, bool cut)
{
  enum run_end how;
  uint64_t end;
  const enum command_way way = end_turn(w, cut, &how, &end);
  boards_keep_pages(w->shim);
  if (way == COMMAND_LASTS) front_end(&w->shim->front, &w->command, end);
  return how;
}

/* Most end in this call. */
static enum command_way begin_patiently(struct task *w, uint64_t now, uint64_t *end)
{
  struct board *b = w->op.kernel.q.function->module->board;
  enum run_end how;
  const enum command_way way = begin_turns(w, now);
  if (way != COMMAND_GOES) return way;
  b->turn->stops = PATIENCE;
  return kernel_turn_resume(b->turn) ? end_turn(w, false, &how, end) : COMMAND_GOES;
}

/* Sharing the GPU ----------------------------------------------------------------------------------- */

/* Kernels beside it in its graph, or more than one stream of the program's own: shared memory is left for neighbours
 * (time/gpu/gpu.c). */
static bool has_neighbours(const struct shim *s, const struct launch_request *q)
{
  const struct board *b = q->function->module->board;
  unsigned streams = 0;
  if (q->run) return board_launches(b) || front_kernels_ready(&s->front, b->number);
  for (const struct stream *st = s->streams.first; st && streams < 2; st = st->next) streams += st->board == b;
  return q->stream_id && streams == 2;
}

static enum command_way begin_shared(struct task *w, uint64_t now)
{
  struct shim *s = w->shim;
  struct board *b = w->op.kernel.q.function->module->board;
  struct kernel_run *k = prepare(w, now);
  struct err e = {""};
  if (!k) return cannot_run(w, now);
  struct simulator *on = context_turns_place(b, k->q->context);
  const bool seen = on == b->simulator; /* who looks at SMs, or at their use over time, sees those of the first lane */
  const struct sim_options o = { .timed = true, .threads = s->options.threads, .report = stderr,
                                 .poll = launch_watch_poll, .ctx = &b->watch,
                                 .observers = seen ? board_observers(b) : NULL,
                                 .usage = seen ? pages_usage(s->pages, b->number) : NULL };
  const struct live_launch l = { .launch = &k->launch, .start_ps = now, .priority = w->command.priority,
                                 .prepared = k->q->prepared, .beside = has_neighbours(s, k->q), .who = w };
  const bool first = !board_launches(b);
  if (first) {
    launch_watch_start(&b->watch, s, k->q->function->kernel->name, k->q->number);
    if (s->activity) activity_begin_live(s->activity, b->number, b->simulator);
  }
  if (live_open(on, &l, &o, &e)) {
    if (first) boards_keep_pages(s);
    return COMMAND_GOES;
  }
  shim_say("%s", e.msg);
  let_go(k);
  return cannot_run(w, now);
}

void kernel_ended(struct task *w, const struct live_end *e)
{
  struct shim *s = w->shim;
  struct kernel_run *k = w->kernel;
  struct board *b = board_for(k);
  if (!board_launches(b)) {
    boards_keep_pages(s);
    launch_watch_end(&b->watch);
  }
  memory_sync_registered(s, false);
  k->start = e->start_ps;
  k->stays = e->stays;
  finish(s, k, &e->result, 0, e->end_ps);
  let_go(k);
  stop_if_done(s);
  if (!device_work_end(w, e->end_ps)) front_end(&s->front, &w->command, e->end_ps);
}

/* Both ---------------------------------------------------------------------------------------------- */

enum command_place kernel_place(struct shim *s, const struct launch_request *q)
{
  bool timed = exec_options_timed(&s->options, q->number, q->function->kernel->name);
  return s->shared && timed ? COMMAND_SHARES : COMMAND_ALONE;
}

enum command_way kernel_begin(struct task *w, uint64_t now, uint64_t *end)
{
  device_work_begin(w);
  if (w->command.place == COMMAND_SHARES) return begin_shared(w, now);
  if (!w->shim->patient && !w->shim->turns) return begin_alone(w, now, end);
  const enum command_way way = w->shim->patient ? begin_patiently(w, now, end) : begin_turns(w, now);
  if (w->op.kernel.q.function->module->board->turn) boards_keep_pages(w->shim);
  return way;
}
