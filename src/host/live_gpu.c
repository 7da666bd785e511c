#include "host/live_gpu.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "host/gpu_server.h"
#include "host/ranked.h"
#include "host/simulator.h"
#include "host/surroundings.h"
#include "host/usage.h"
#include "time/dma/dma.h"
#include "time/link/fabric.h"
#include "time/link/hub_out.h"
#include "time/machine/machine.h"
#include "time/mem/l2_rights.h"
#include "time/mem/outer_memory.h"
#include "time/msg.h"
#include "time/uvm/uvm_machine.h"

enum { GPU_LINKS = 2 * LINK_PORT_LANES };

struct live_slot {
  struct live_launch launch;
  struct gpu_launch gpu; /* as the GPU has it; source NULL: the slot is free */
  unsigned together;     /* launches that were there at the same time, and this one */
  picos link_taken[GPU_LINKS]; /* for how long the GPU's links had been taken when it came */
};

struct copy_slot {
  void *who; /* NULL: the slot is free */
  uint64_t start_ps;
  uint32_t planes; /* that are not done */
  uint64_t begin, end; /* ps of the GPU's clock: of those that are */
  uint64_t window; /* of the program's memory, where several processes have the machine (ranked.h); 0: none */
  bool failed;
};

struct live {
  struct live_clock clock; /* of a GPU that stands alone */
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
};

static struct live *live_of(struct simulator *s)
{
  if (!s->live) s->live = mem_zeroed(1, sizeof *s->live);
  return s->live;
}

static struct live_clock *clock_of(const struct simulator *s)
{
  return s->around ? &s->around->clock : &s->live->clock;
}

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

/* NULL: this process has all GPUs. */
static struct ranked *ranked(const struct simulator *s)
{
  return s->around ? s->around->ranked : NULL;
}

/* Whether its GPU is in this process. */
static bool is_here(const struct simulator *s)
{
  return ranked_mine(ranked(s), s->node);
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
  const struct live_clock *k = s->live ? clock_of(s) : NULL;
  if (!k || !k->running) return 0;
  const uint64_t now = has_others(s) ? machine_now(simulator_machine(s)) : gpu_now(s->gpu);
  return later(k->start, live_clock_program(k, now, k->stood));
}

uint64_t live_time(const struct simulator *s, uint64_t gpu_ps)
{
  const struct live_clock *k = clock_of(s);
  return later(k->start, live_clock_program_at(k, gpu_ps, false));
}

void live_stand(struct simulator *s, uint64_t from, uint64_t until)
{
  struct live_clock *k = clock_of(s);
  BUG_ON(!k->running || has_others(s) || (s->around && s->around->rights));
  if (until <= from) return;
  live_clock_stand(k, from, until);
  if (s->around && s->around->managed) uvm_machine_clock(s->around->managed, until, k->skew - k->stood);
}

void live_on_window(struct simulator *s, bool (*window)(void *ctx, uint64_t now_ps), void *ctx)
{
  live_of(s);
  clock_of(s)->window = window;
  clock_of(s)->window_ctx = ctx;
}

static struct uvm *managed(const struct simulator *s)
{
  return s->around && s->around->managed ? surroundings_driver(s->around, s) : NULL;
}

/* --- launches come ------------------------------------------------------------------------------ */

static bool behind_window(void *ctx, uint64_t now)
{
  const struct simulator *s = ((struct sim_watcher *)ctx)->s;
  const struct live_clock *k = clock_of(s);
  if (s->live->options.usage && s->live->n_open) usage_window(s->live->options.usage, s->gpu, now);
  if (s->live->n_copies && (gpu_dma(s->gpu)->n_done || (managed(s) && managed(s)->buffer.n_done))) return false;
  return !k->window || k->window(k->window_ctx, live_clock_program(k, now, k->stood));
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

/* … but for what is one GPU's alone. */
static void watch_beside(struct simulator *s, const struct sim_options *o)
{
  struct sim_options own = *o;
  own.usage = NULL;
  watch_as(s, &own);
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

static void begin_run(struct simulator *s, uint64_t start_ps, const struct step_source *first, struct gmem *image)
{
  struct live_clock *k = clock_of(s);
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

static bool begin(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  const struct gpu_launch first = {.source = func_source(l->launch->func), .gang = l->launch->grid_barrier != 0};
  BUG_ON(!o->timed || o->hazards || o->cold || o->sample_ctas || o->first_ctas);
  simulator_forget(s, first.source->code.isa);
  struct gpu *gpu = simulator_gpu_at(s, o, l->start_ps, e);
  if (!gpu || !gpu_fits(gpu, &first, e)) return false;
  watch_as(s, o);
  simulator_begin_observing(s, gpu_now(gpu));
  begin_run(s, l->start_ps, first.source, l->image ? l->image : l->launch->params.image);
  return true;
}

/* A launch that finds copies alone on the GPU. */
static void begin_launches(struct simulator *s, const struct live_launch *l, const struct sim_options *o)
{
  if (s->around) surroundings_wake(s->around, s);
  s->live->n_launches = 0;
  simulator_forget(s, func_source(l->launch->func)->code.isa);
  if (s->fresh) simulator_gpu(s, o);
  watch_as(s, o);
  simulator_begin_observing(s, gpu_now(s->gpu));
}

static struct gpu_launch for_gpu(const struct simulator *s, const struct live_launch *l)
{
  return (struct gpu_launch){.source = func_source(l->launch->func),
                             .start = round_up(live_clock_gpu(clock_of(s), l->start_ps), params_clock_ps(s->params)),
                             .prepared = l->prepared, .beside = l->beside,
                             .gang = l->launch->grid_barrier != 0, .priority = l->priority};
}

/* All processes that have GPUs of the machine do the same. */
static void note_launch(const struct simulator *s, const struct live_launch *l)
{
  const struct func_params *p = &l->launch->params;
  struct ranks *r = ranked(s)->ranks;
  const uint64_t what[] = {s->node, l->start_ps, (uint64_t)(int64_t)l->priority, l->beside, l->prepared, p->entry_pc,
                           p->code_bytes, p->shared_dynamic};
  ranks_note(r, p->grid, sizeof p->grid);
  ranks_note(r, p->block, sizeof p->block);
  ranks_note(r, what, sizeof what);
  ranks_note(r, p->kernel_name, strlen(p->kernel_name));
  ranks_note(r, p->bank[0], p->bank_bytes[0]);
}

bool live_open(struct simulator *s, const struct live_launch *l, const struct sim_options *o, struct err *e)
{
  if (s->served) return s->served->open(s->server, s->params, l, o, e);
  struct live *v = live_of(s);
  if (ranked(s)) note_launch(s, l);
  if (!clock_of(s)->running) TRY(begin(s, l, o, e));
  else if (!v->n_open) begin_launches(s, l, o);
  simulator_send(s, func_source(l->launch->func));
  const struct gpu_launch g = for_gpu(s, l);
  BUG_ON(live_full(s));
  TRY(simulator_open(s, &g, e)); /* as the only one of a run it fits */
  struct live_slot *slot = &v->slot[s->open[s->n_open - 1]];
  for (unsigned i = 0; i < GPU_SLOTS; i++)
    if (v->slot[i].gpu.source) v->slot[i].together++;
  *slot = (struct live_slot){.launch = *l, .gpu = g, .together = v->n_open + 1};
  if (s->around) fabric_taken(s->around->fabric, s->node, slot->link_taken, GPU_LINKS);
  if (!v->n_open && o->usage)
    usage_begin(o->usage, s->gpu, g.start, params_clock_ps(s->params), params_request_ps(s->params));
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

static uint16_t node_of(const struct simulator *s, const struct live_side *x)
{
  if (x->place == LIVE_DEVICE) return DMA_HERE;
  return x->place == LIVE_PEER ? x->node : surroundings_socket(s->around, s->node);
}

static uint64_t setup_of(const struct simulator *s, const struct live_copy *c)
{
  if (c->engine == LIVE_TO_DEVICE || c->engine == LIVE_TO_HOST)
    return surroundings_setup_ps(s->around, s->params, s->node);
  if (c->engine == LIVE_TO_PEER) return (uint64_t)s->params->dma_peer_ns * 1000;
  const uint64_t launch = s->params->launch_latency_cycles + s->params->membar_gpu_cycles; /* of a kernel that copies */
  return launch * params_clock_ps(s->params);
}

static uint64_t window_of(const struct simulator *s, const struct live_copy *c)
{
  const bool out = c->src.place == LIVE_DEVICE;
  const uint16_t other = node_of(s, out ? &c->dst : &c->src);
  if (other == DMA_HERE) return 0;
  return out ? surroundings_window(s->around, s->node, other) : surroundings_window(s->around, other, s->node);
}

static struct dma_copy for_dma(const struct simulator *s, const struct live_copy *c, uint32_t ticket)
{
  return (struct dma_copy){
      .ticket = ticket, .arrive = live_clock_gpu(clock_of(s), c->start_ps), .dst = c->dst.addr, .src = c->src.addr,
      .bytes = c->width, .rows = c->height, .dst_pitch = c->dst.pitch, .src_pitch = c->src.pitch,
      .setup = setup_of(s, c), .window = window_of(s, c),
      .staging_mbps = c->staging_mbps, .dst_node = node_of(s, &c->dst),
      .src_node = node_of(s, &c->src), .engine = (uint8_t)c->engine, .fill = c->fill,
      .priority = c->priority,
      .program = c->dst.place == LIVE_PROGRAM || c->src.place == LIVE_PROGRAM};
}

/* Without addresses of the program, which differ from process to process; where no buffer is between, not how they lie
 * in bursts. */
static uint64_t address_alike(const struct live_side *s, bool buffered)
{
  return s->place != LIVE_PROGRAM ? s->addr : buffered ? 0 : s->addr % RANKED_PAGE;
}

static void note_copy(const struct simulator *s, const struct live_copy *c)
{
  const struct live_side *d = &c->dst, *f = &c->src;
  const bool buffered = c->staging_mbps;
  const uint64_t what[] = {s->node, c->width, c->height, c->depth, c->fill, c->engine, c->start_ps,
                           (uint64_t)c->priority,
                           address_alike(d, buffered), d->pitch, d->slice, d->place, d->node,
                           address_alike(f, buffered), f->pitch, f->slice, f->place, f->node};
  ranks_note(ranked(s)->ranks, what, sizeof what);
}

/* Where several processes have the machine: the program's memory by the name that it has in all of them. */
static uint64_t name_program(const struct simulator *s, struct live_copy *c)
{
  struct live_side *x = c->dst.place == LIVE_PROGRAM ? &c->dst : &c->src;
  note_copy(s, c);
  if (x->place != LIVE_PROGRAM) return 0;
  const uint64_t bytes = (c->depth - 1) * x->slice + (c->height - 1) * x->pitch + c->width;
  const unsigned offset = c->staging_mbps ? 0 : (unsigned)(x->addr % RANKED_PAGE);
  return x->addr = ranked_open_window(ranked(s), x->addr, bytes, offset);
}

void live_copy(struct simulator *s, const struct live_copy *c, struct gmem *image, const struct sim_options *o)
{
  if (s->served) {
    s->served->copy(s->server, c);
    return;
  }
  struct live *v = live_of(s);
  struct live_copy f = flat(c);
  BUG_ON(!s->around || f.depth > UINT32_MAX);
  const uint64_t window = ranked(s) ? name_program(s, &f) : 0;
  if (!clock_of(s)->running) begin_with_copy(s, c->start_ps, image, o);
  surroundings_wake(s->around, s);
  const uint32_t ticket = new_copy(v, c, (uint32_t)f.depth);
  v->copy[ticket].window = window;
  if (!is_here(s)) return;
  struct dma_copy d = for_dma(s, &f, ticket);
  for (uint64_t z = 0; z < f.depth; z++) {
    dma_post(gpu_dma(s->gpu), &d);
    d.setup = 0;
    d.dst += f.dst.slice;
    d.src += f.fill ? 0 : f.src.slice;
  }
}

void live_prefetch(struct simulator *s, const struct live_prefetch *p, struct gmem *image, const struct sim_options *o)
{
  if (s->served) {
    s->served->prefetch(s->server, p);
    return;
  }
  struct live *v = live_of(s);
  BUG_ON(!managed(s));
  if (!clock_of(s)->running) begin_with_copy(s, p->start_ps, image, o);
  surroundings_wake(s->around, s);
  const uint32_t ticket = new_copy(v, &(struct live_copy){.who = p->who, .start_ps = p->start_ps}, 1);
  uvm_prefetch(managed(s), p->addr, p->bytes, p->to_host ? UVM_TO_HOST : UVM_TO_GPU,
               live_clock_gpu(clock_of(s), p->start_ps), ticket);
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

static struct link_use links_of(const struct simulator *s, unsigned slot, uint64_t time)
{
  const struct hub_out_stats *of_cores = gpu_links_of_run(s->gpu);
  struct link_use u = {0};
  if (!of_cores || !s->around || !time) return u;
  const picos *before = s->live->slot[slot].link_taken;
  picos now[GPU_LINKS], most = 0;
  const unsigned n = fabric_taken(s->around->fabric, s->node, now, GPU_LINKS);
  for (unsigned i = 0; i < n; i++) most = later(most, now[i] - before[i]);
  u.taken = most < time ? (double)most / (double)time : 1;
  u.requests = of_cores->requests;
  u.reads = of_cores->reads;
  u.read_wait_ps = of_cores->read_wait;
  return u;
}

static void collect_alone(struct simulator *s, unsigned slot, struct sim_result *r)
{
  r->start_ps = s->live->slot[slot].gpu.start;
  r->mix = s->mix;
  r->thread_mix = s->threads_by;
  simulator_collect(s, s->gpu, &s->live->slot[slot].gpu.source->code, r);
  r->links = links_of(s, slot, r->time_ps);
  if (s->live->options.usage) usage_end(s->live->options.usage, s->gpu, r->time_ps);
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
  const bool alone = v->n_launches == 1;
  if (alone && clock_of(s)->running) gpu_count(s->gpu); /* copies go on, or other GPUs */
  if (ranked(s)) ranked_share_launch(ranked(s), s->node, slot, alone);
  if (alone) collect_alone(s, slot, &x.result);
  else collect_shared(s, slot, &x.result);
  const struct live_clock *k = clock_of(s);
  const uint64_t start = x.result.start_ps, before = live_clock_stood_at(k, start, false);
  x.start_ps = later(x.start_ps, live_clock_program(k, start, before));
  x.end_ps = x.start_ps + x.result.time_ps + live_clock_stood_at(k, start + x.result.time_ps, true) - before;
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
    if (clock_of(s)->running) close_slot(s, i);
  }
}

static void end_copy(struct simulator *s, struct copy_slot *c)
{
  struct live *v = s->live;
  const struct live_clock *k = clock_of(s);
  const uint64_t begin = later(c->start_ps, live_clock_program_at(k, c->begin, false));
  add_end(v, &(struct live_end){.who = c->who, .copy = true, .failed = c->failed, .start_ps = begin,
                                .end_ps = later(begin, live_clock_program_at(k, c->end, true))});
  if (c->window) ranked_close_window(ranked(s), c->window);
  *c = (struct copy_slot){0};
  v->n_copies--;
}

static void end_plane(struct simulator *s, uint64_t ticket, picos begin, picos end, bool failed)
{
  struct copy_slot *c = &s->live->copy[ticket];
  c->begin = earlier(c->begin, begin);
  c->end = later(c->end, end);
  c->failed |= failed;
  if (--c->planes == 0) end_copy(s, c);
}

static void collect_copies(struct simulator *s)
{
  struct live *v = s->live;
  for (struct dma_done d; v->n_copies && dma_take_done(gpu_dma(s->gpu), &d);)
    end_plane(s, d.ticket, d.begin, d.at, d.failed);
  for (struct uvm_job_done d; v->n_copies && managed(s) && fault_buffer_take_done(&managed(s)->buffer, &d);)
    end_plane(s, d.ticket, d.begin, d.at, false);
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
    end_copy(s, c);
  }
}

/* Of a GPU whose run is over: launches that have ended by themselves are done, others as `end` says. */
static void collect_rest(struct simulator *s, enum run_end end, const struct fault *fault)
{
  struct live *v = s->live;
  collect_copies(s);
  cut_copies(s);
  collect_ended(s);
  for (unsigned i = 0; i < GPU_SLOTS; i++) {
    const struct step_source *source = v->slot[i].gpu.source;
    if (!source) continue;
    struct sim_result *r = collect(s, i);
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
  ranked_share_finish(ranked(s), s->node, &x, &s->where);
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
    if (is_here(m)) end = gpu_finish(m->gpu, &f, m->live->options.report);
    if (ranked(m)) end = finish_ranked(m, end, &f);
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
  if (ranked(s)) ranked_share_ends(ranked(s));
  enum run_end end = finish_all(s, &failed, &fault);
  unsigned cursor = 0;
  clock_of(s)->running = false;
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
    collect_copies(m);
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
  if (ranked(s)) ranked_share_ends(ranked(s));
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
  const struct live_clock *k = (live_of(s), clock_of(s));
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
  if (!clock_of(s)->running) return;
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
