#include "host/live_gpu.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "host/simulator.h"
#include "host/surroundings.h"
#include "time/dma/dma.h"
#include "time/machine/machine.h"
#include "time/msg.h"

struct live_slot {
  struct live_launch launch;
  struct gpu_launch gpu; /* as the GPU has it; source NULL: the slot is free */
  unsigned together;     /* launches that were there at the same time, and this one */
};

struct copy_slot {
  void *who; /* NULL: the slot is free */
  uint64_t start_ps;
  uint32_t planes; /* that are not done */
  uint64_t begin, end; /* ps of the GPU's clock: of those that are */
  bool failed;
};

struct live {
  bool running;
  uint64_t skew;       /* ps: the GPU's clock is ahead of the program's by so much in this run */
  unsigned n_launches; /* of this run, since there was none */
  unsigned n_open;
  struct live_slot slot[GPU_SLOTS];
  struct copy_slot *copy; /* by ticket */
  uint32_t n_copy_slots, room_copies, n_copies; /* n_copies: that are there */
  struct live_end *ended; /* by their end; those before `taken` are gone */
  uint32_t n_ended, taken, room_ended;
  unsigned ended_launches; /* of those that are not taken */
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
  return s->live ? s->live->n_open + s->live->ended_launches : 0;
}

bool live_busy(const struct simulator *s)
{
  return live_count(s) || (s->live && (s->live->n_copies || s->live->n_ended > s->live->taken));
}

void live_free(struct simulator *s)
{
  if (!s->live) return;
  mem_free(s->live->copy);
  mem_free(s->live->ended);
  mem_free(s->live);
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
  const struct simulator *s = ((struct sim_watcher *)ctx)->s;
  const struct live *v = s->live;
  if (v->n_copies && gpu_dma(s->gpu)->n_done) return false;
  return !v->window || v->window(v->window_ctx, now - v->skew);
}

/* The run's launches are watched as the first of them is. */
static void watch_as(struct simulator *s, const struct sim_options *o)
{
  struct live *v = s->live;
  v->options = *o;
  v->watcher = (struct sim_watcher){s, &v->options};
  v->watch = simulator_watch(&v->watcher);
  v->watch.window = behind_window;
}

static void begin_run(struct simulator *s, uint64_t start_ps, const struct step_source *first, struct gmem *image)
{
  struct live *v = s->live;
  v->skew = gpu_now(s->gpu) - start_ps;
  v->n_launches = 0;
  v->running = true;
  if (s->around) surroundings_image(s->around, image);
  gpu_begin(s->gpu, first, image);
}

static bool begin(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  const struct gpu_launch first = {.source = func_source(l->launch->func), .gang = l->launch->grid_barrier != 0};
  BUG_ON(!o->timed || o->hazards || o->cold || o->sample_ctas || o->first_ctas || o->usage);
  simulator_forget(s, first.source->code.isa);
  struct gpu *gpu = simulator_gpu_at(s, o, l->start_ps, e);
  if (!gpu || !gpu_fits(gpu, &first, e)) return false;
  watch_as(s, o);
  simulator_begin_observing(s, gpu_now(gpu));
  begin_run(s, l->start_ps, first.source, l->launch->params.image);
  return true;
}

/* A launch that finds copies alone on the GPU. */
static void begin_launches(struct simulator *s, const struct live_launch *l, const struct sim_options *o)
{
  s->live->n_launches = 0;
  simulator_forget(s, func_source(l->launch->func)->code.isa);
  watch_as(s, o);
  simulator_begin_observing(s, gpu_now(s->gpu));
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
  else if (!v->n_open) begin_launches(s, l, o);
  simulator_send(s, func_source(l->launch->func));
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

/* --- copies come -------------------------------------------------------------------------------- */

static void begin_with_copy(struct simulator *s, uint64_t start_ps, struct gmem *image, const struct sim_options *o)
{
  struct err e;
  BUG_ON(!simulator_gpu_at(s, o, start_ps, &e)); /* without hazards it is always there */
  watch_as(s, o);
  begin_run(s, start_ps, NULL, image);
}

static uint32_t new_copy(struct live *v, const struct live_copy *c, uint32_t planes)
{
  uint32_t i = 0;
  while (i < v->n_copy_slots && v->copy[i].who) i++;
  if (i == v->n_copy_slots) {
    v->copy = mem_more(v->copy, v->n_copy_slots, &v->room_copies, sizeof *v->copy);
    v->n_copy_slots++;
  }
  v->copy[i] = (struct copy_slot){.who = c->who, .start_ps = c->start_ps, .planes = planes, .begin = TIME_NEVER};
  v->n_copies++;
  return i;
}

/* Planes that follow each other as their rows do are one. */
static struct live_copy flat(const struct live_copy *c)
{
  struct live_copy f = *c;
  bool even = (f.fill || f.src.slice == f.height * f.src.pitch) && f.dst.slice == f.height * f.dst.pitch;
  if (f.height == 1) f.height = f.depth, f.dst.pitch = f.dst.slice, f.src.pitch = f.src.slice, f.depth = 1;
  else if (even) f.height *= f.depth, f.depth = 1;
  return f;
}

static uint16_t node_of(const struct simulator *s, enum live_place p)
{
  return p == LIVE_DEVICE ? (uint16_t)DMA_HERE : s->around->socket;
}

static uint64_t setup_of(const struct simulator *s, const struct live_copy *c)
{
  if (c->engine != LIVE_INSIDE) return surroundings_setup_ps(s->around, s->params);
  return (uint64_t)s->params->launch_latency_cycles * params_clock_ps(s->params);
}

static struct dma_copy for_dma(const struct simulator *s, const struct live_copy *c, uint32_t ticket)
{
  return (struct dma_copy){
      .ticket = ticket, .arrive = c->start_ps + s->live->skew, .dst = c->dst.addr, .src = c->src.addr,
      .bytes = c->width, .rows = c->height, .dst_pitch = c->dst.pitch, .src_pitch = c->src.pitch,
      .setup = setup_of(s, c), .staging_mbps = c->staging_mbps, .dst_node = node_of(s, c->dst.place),
      .src_node = node_of(s, c->src.place), .engine = (uint8_t)c->engine, .fill = c->fill,
      .program = c->dst.place == LIVE_PROGRAM || c->src.place == LIVE_PROGRAM};
}

void live_copy(struct simulator *s, const struct live_copy *c, struct gmem *image, const struct sim_options *o)
{
  struct live *v = live_of(s);
  const struct live_copy f = flat(c);
  BUG_ON(!s->around || f.depth > UINT32_MAX);
  if (!v->running) begin_with_copy(s, c->start_ps, image, o);
  struct dma_copy d = for_dma(s, &f, new_copy(v, c, (uint32_t)f.depth));
  for (uint64_t z = 0; z < f.depth; z++) {
    dma_post(gpu_dma(s->gpu), &d);
    d.setup = 0;
    d.dst += f.dst.slice;
    d.src += f.fill ? 0 : f.src.slice;
  }
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
  if (s->live->running) gpu_count(s->gpu); /* copies go on */
  r->start_ps = s->live->slot[slot].gpu.start;
  r->mix = s->mix;
  r->thread_mix = s->threads_by;
  simulator_collect(s, s->gpu, &s->live->slot[slot].gpu.source->code, r);
  r->work = s->isa->work(s->threads_by);
}

static struct live_end *add_end(struct live *v, const struct live_end *x)
{
  v->ended = mem_more(v->ended, v->n_ended, &v->room_ended, sizeof *v->ended);
  uint32_t at = v->n_ended++;
  for (; at > v->taken && v->ended[at - 1].end_ps > x->end_ps; at--) v->ended[at] = v->ended[at - 1];
  v->ended[at] = *x;
  return &v->ended[at];
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
  *l = (struct live_slot){0};
  v->n_open--;
  v->ended_launches++;
  return &add_end(v, &x)->result;
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

static void end_copy(struct live *v, struct copy_slot *c)
{
  const uint64_t begin = later(c->start_ps, c->begin - v->skew);
  add_end(v, &(struct live_end){.who = c->who, .copy = true, .failed = c->failed, .start_ps = begin,
                                .end_ps = later(begin, c->end - v->skew)});
  *c = (struct copy_slot){0};
  v->n_copies--;
}

static void collect_copies(struct simulator *s)
{
  struct live *v = s->live;
  for (struct dma_done d; v->n_copies && dma_take_done(gpu_dma(s->gpu), &d);) {
    struct copy_slot *c = &v->copy[d.ticket];
    c->begin = earlier(c->begin, d.begin);
    c->end = later(c->end, d.at);
    c->failed |= d.failed;
    if (--c->planes == 0) end_copy(v, c);
  }
}

/* What was on its way when a launch failed. */
static void cut_copies(struct simulator *s)
{
  struct live *v = s->live;
  for (uint32_t i = 0; i < v->n_copy_slots; i++) {
    struct copy_slot *c = &v->copy[i];
    if (!c->who) continue;
    c->begin = earlier(c->begin, gpu_now(s->gpu));
    c->end = gpu_now(s->gpu);
    end_copy(v, c);
  }
}

/* The run is over, well or not: all launches are. Those that have ended by themselves are done. */
static void end_run(struct simulator *s)
{
  struct live *v = s->live;
  struct fault fault = {0};
  enum run_end end = gpu_finish(s->gpu, &fault, v->options.report);
  v->running = false;
  collect_copies(s);
  cut_copies(s);
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
  collect_copies(s);
  bool all = count_ended(s) == s->live->n_open && !s->live->n_copies;
  if (!run_is_over && !all) {
    collect_ended(s);
    return;
  }
  if (!run_is_over) drain(s);
  end_run(s);
}

static bool copies_done(const struct simulator *s)
{
  return s->live->n_copies && gpu_dma(s->gpu)->n_done;
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
  if (over || count_ended(s) || copies_done(s)) take_stock(s, over);
  return v->n_ended ? LIVE_ENDED : LIVE_ASKED;
}

bool live_take(struct simulator *s, struct live_end *end)
{
  struct live *v = s->live;
  if (!v || v->taken == v->n_ended) return false;
  *end = v->ended[v->taken++];
  v->ended_launches -= !end->copy;
  return true;
}
