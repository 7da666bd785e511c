#include "time/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/gpu/gpu_stats.h"
#include "time/gpu/instances.h"
#include "time/gpu/netlist.h"
#include "time/dma/dma.h"
#include "time/link/hub_in.h"
#include "time/uvm/uvm.h"
#include "time/sm/warp_state.h"

/* No progress anywhere for this long is a deadlock: longer than any latency or sleep. */
enum { WATCHDOG_CYCLES = 20 * 1000 * 1000 };

/* Between two looks of the watcher: often enough for a progress line that is redrawn five times a second,
 * also when warps only wait. */
enum { POLL_INSTS = 50000, POLL_WINDOWS = 10000 };

_Static_assert((int)GPU_SLOTS == (int)GRID_SLOTS, "a slot of the GPU is one of all its blocks");

enum { REQUESTER_DMA, REQUESTER_HUB, GPU_REQUESTERS };

/* Of its domain. */
enum { PHASE_CORES, PHASE_MEMORY, PHASE_SERIAL, GPU_PHASES };

struct gpu_grid {
  bool open;
  bool counts;   /* it had a launch since the run began */
  uint8_t space; /* of that launch */
  struct arena arena; /* its books */
  struct occupancy occupancy;
};

/* What is known of a GPU that another process simulates. */
struct gpu_followed {
  uint64_t ctas_done;
  struct gpu_launch_report launch[GRID_SLOTS];
  uint64_t *books; /* of the launch that was asked for last */
};

/* What gpu_finish and gpu_count leave. */
struct gpu_count {
  struct gpu_stats stats;
  struct netlist_stats sum;
};

struct gpu {
  struct params params;
  struct gpu_followed *followed; /* NULL: it is simulated here */
  struct netlist net;
  struct domain *domain;
  struct arena arena; /* its requesters */
  struct dma *dma;    /* NULL: none */
  struct hub_in *home; /* NULL: no links */
  struct hub_out *outward;
  picos ahead; /* it may be ahead of others of its machine */
  struct requester *requester[GPU_REQUESTERS];
  struct link_port *port[LINK_PORT__N];
  struct gpu_grid grid[GRID_SLOTS];
  unsigned n_open;
  /* Since the run began. */
  struct gmem *image;
  bool cores_started, control_bits;
  picos started;
  struct netlist_stats before; /* counters then, or when the first launch came to copies */
  struct netlist_stats counters; /* behind the last window, where they have been summed up since: */
  bool summed;
  uint64_t summed_at; /* domain_windows */
  struct netlist_stats *begun; /* counters when the run began with a copy; NULL: it began with a launch */
  bool by_instance;            /* also of each instance alone: */
  struct gpu_instances instances_before;
  struct traffic moved_before[GRID_SLOTS + 1]; /* of each slot when its launch came; GRID_NONE: then */
  struct traffic moved_in[GPU_SPACES]; /* by address space: launches whose slot another one has now */
  uint64_t insts_before;       /* warp instructions then */
  uint64_t insts;              /* when a core ran last */
  unsigned const_spaces;       /* given out */
  struct occupancy first;      /* of its first launch */
  picos ended;                 /* the last of its launches that are closed */
  /* As it ended. */
  struct hazard *hazards; /* sum over SMs; NULL: not checked */
  struct gpu_count count;
  struct gpu_instances instances;
  const struct run_watch *watch;
  bool watch_ends;
  enum run_end stop;  /* why `between` ended the run */
  uint64_t next_poll; /* warp instructions */
  unsigned windows;   /* since the last poll */
};

static uint64_t all_insts(const struct gpu *g)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < g->net.n_cores; i++) n += *g->net.core[i]->insts;
  return n;
}

static enum run_end watch(struct gpu *g, picos now, struct netlist_ran ran)
{
  const struct run_watch *w = g->watch;
  struct run_progress p = {.cycles = (now - g->started) / params_clock_ps(&g->params),
                           .ctas_done = g->net.dispatcher.done, .ctas_total = g->net.dispatcher.ctas};
  /* The grids are done: only what is on its way to memory is left. */
  if (p.ctas_done == p.ctas_total) return RUN_DONE;
  if (ran.cores) g->insts = all_insts(g);
  p.insts = g->insts - g->insts_before;
  if (w->max_cycles && p.cycles >= w->max_cycles) return RUN_CYCLE_LIMIT;
  if (watch_insts(w, p.insts)) return RUN_INST_LIMIT;
  if (!w->poll || (p.insts < g->next_poll && ++g->windows < POLL_WINDOWS)) return RUN_DONE;
  g->next_poll = p.insts + POLL_INSTS;
  g->windows = 0;
  return w->poll(w->ctx, &p) ? RUN_DONE : RUN_STOPPED;
}

static bool any_ended(const struct gpu *g)
{
  for (unsigned i = 0, left = g->n_open; left; i++) {
    if (!g->grid[i].open) continue;
    if (netlist_grid_ended(&g->net, i)) return true;
    left--;
  }
  return false;
}

static bool between(void *ctx, picos now)
{
  struct gpu *g = ctx;
  const struct netlist_ran ran = {.cores = domain_first_run(g->domain, PHASE_CORES) < g->net.n_cores,
                                  .memory = domain_first_run(g->domain, PHASE_MEMORY) < netlist_memory_parts(&g->net)};
  netlist_share_ports(&g->net, now, ran);
  bool on = !g->watch->window || g->watch->window(g->watch->ctx, now);
  g->stop = netlist_fault(&g->net, ran) ? RUN_FAULT : watch(g, now, ran);
  return on && g->stop == RUN_DONE && !(g->watch_ends && any_ended(g));
}

struct gpu *gpu_new(const struct params *p)
{
  return gpu_new_of(p, NULL);
}

void gpu_cohere(struct gpu *g, struct coherence *c)
{
  BUG_ON(g->n_open);
  netlist_cohere(&g->net, c);
}

static bool grids_there(void *ctx)
{
  return ((const struct gpu *)ctx)->n_open > 0;
}

static unsigned join(struct gpu *g, const struct gpu_join *j)
{
  if (!j) return 0;
  g->dma = ARENA_NEW(&g->arena, struct dma);
  dma_init(g->dma, &g->arena,
           &(struct dma_config){.params = &g->params, .id = g->params.gpu_sms, .node = j->node, .sockets = j->sockets,
                                .lines = j->lines, .written = j->written, .others = grids_there, .ctx = g});
  g->home = ARENA_NEW(&g->arena, struct hub_in);
  hub_in_init(g->home, &g->arena, &g->params, g->params.gpu_sms + REQUESTER_HUB, j->apply, j->images);
  if (!j->lines) g->home->others = grids_there, g->home->ctx = g, g->home->memory = g->dma->memory; /* its rate */
  g->outward = ARENA_NEW(&g->arena, struct hub_out);
  hub_out_init(g->outward, &g->arena,
               &(struct hub_out_config){.params = &g->params, .node = j->node, .sockets = j->sockets,
                                        .reads = j->reads ? j->reads : 1,
                                        .peer_reads = j->peer_reads ? j->peer_reads : 1});
  g->requester[REQUESTER_DMA] = &g->dma->r;
  g->requester[REQUESTER_HUB] = &g->home->r;
  g->port[LINK_PORT_HOME] = &g->home->port;
  g->port[LINK_PORT_DMA] = &g->dma->port;
  g->port[LINK_PORT_CORES] = &g->outward->port;
  return GPU_REQUESTERS;
}

struct link_port *const *gpu_ports(struct gpu *g)
{
  return g->port;
}

struct dma *gpu_dma(struct gpu *g)
{
  return g->dma;
}

void gpu_serve_faults(struct gpu *g, struct uvm *u)
{
  g->outward->uvm = u;
  g->dma->moved_wake = g->outward->port.wake;
  uvm_connect(u, g->dma, g->outward->port.wake);
}

struct gpu *gpu_new_of(const struct params *p, const struct core_kind *const *kind)
{
  return gpu_new_joined(p, kind, NULL);
}

static struct gpu *build(const struct params *p, const struct core_kind *const *kind, const struct gpu_join *j,
                         const struct outer_port *outside)
{
  struct gpu *g = mem_zeroed(1, sizeof *g);
  g->params = *p;
  unsigned n = join(g, j);
  netlist_build(&g->net, &g->params, kind, g->requester, n, g->outward,
                j && p->l2_partitions == 1 ? j->rights : NULL);
  if (outside) netlist_replace_memory(&g->net, &g->params, outside);
  if (j && j->tables) netlist_walk(&g->net, &g->params, j->tables);
  g->net.written = g->net.commit.written = j ? j->written : NULL;
  if (g->dma) g->dma->port.wake = g->dma->r.wake;
  if (g->home) g->home->port.wake = g->home->r.wake;
  g->domain = domain_new(&(struct domain_config){
      .window = params_request_ps(p),
      .phase = {[PHASE_CORES] = {.part = g->net.core_part, .n = g->net.n_cores + g->net.n_requesters},
                [PHASE_MEMORY] = {.part = g->net.partition_part, .n = netlist_memory_parts(&g->net)},
                [PHASE_SERIAL] = {.part = g->net.serial, .n = netlist_serial_parts(&g->net), .serial = true}},
      .n_phases = GPU_PHASES,
      .watchdog_windows = WATCHDOG_CYCLES / p->noc_request_latency,
      .between = between,
      .ctx = g,
  });
  return g;
}

struct gpu *gpu_new_joined(const struct params *p, const struct core_kind *const *kind, const struct gpu_join *j)
{
  return build(p, kind, j, NULL);
}

struct gpu *gpu_new_outside(const struct params *p, const struct outer_port *port)
{
  return build(p, NULL, NULL, port);
}

struct outer_memory *gpu_outer_memory(struct gpu *g)
{
  return g->net.outer;
}

struct domain *gpu_domain(struct gpu *g)
{
  return g->domain;
}

void gpu_free(struct gpu *g)
{
  if (!g) return;
  domain_free(g->domain);
  netlist_free(&g->net);
  if (g->dma) dma_free(g->dma);
  if (g->home) hub_in_free(g->home);
  if (g->outward) hub_out_free(g->outward);
  arena_free(&g->arena);
  instances_free(&g->instances_before);
  instances_free(&g->instances);
  mem_free(g->begun);
  if (g->followed) mem_free(g->followed->books);
  mem_free(g->followed);
  for (unsigned i = 0; i < GRID_SLOTS; i++) arena_free(&g->grid[i].arena);
  mem_free(g);
}

/* --- launches ---------------------------------------------------------------------------------- */

static void begin_instances(struct gpu *g)
{
  instances_free(&g->instances_before);
  instances_free(&g->instances);
  if (g->by_instance) g->instances_before = instances_now(&g->net);
}

static void end_instances(struct gpu *g)
{
  if (!g->by_instance) return;
  instances_free(&g->instances);
  g->instances = instances_now(&g->net);
  instances_since(&g->instances, &g->instances_before);
}

void gpu_count_instances(struct gpu *g, bool on)
{
  g->by_instance = on;
}

const struct gpu_instances *gpu_instances_of_run(const struct gpu *g)
{
  return g->instances.n_sms ? &g->instances : NULL;
}

/* Runs of copies alone follow each other by the thousand, and have hardly a window each. */
static const struct netlist_stats *counters(struct gpu *g)
{
  const uint64_t at = domain_windows(g->domain);
  if (!g->summed || g->summed_at != at) netlist_sum(&g->net, &g->counters);
  g->summed = true;
  g->summed_at = at;
  return &g->counters;
}

static void begin_counting(struct gpu *g)
{
  g->insts = g->insts_before = all_insts(g);
  g->before = *counters(g);
  begin_instances(g);
  netlist_traffic(&g->net, GRID_NONE, &g->moved_before[GRID_NONE]);
}

static void start_cores(struct gpu *g, const struct step_source *first)
{
  g->control_bits = first->caps & STEP_CAP_CONTROL;
  g->cores_started = true;
  netlist_start_cores(&g->net, g->image, g->control_bits);
}

void gpu_begin(struct gpu *g, const struct step_source *first, struct gmem *image)
{
  BUG_ON(g->n_open || domain_state(g->domain) != DOMAIN_IDLE);
  g->image = image;
  g->cores_started = false;
  mem_free(g->begun);
  g->begun = NULL;
  g->started = domain_now(g->domain);
  g->const_spaces = 0;
  g->ended = 0;
  memset(g->moved_in, 0, sizeof g->moved_in);
  for (unsigned i = 0; i < GRID_SLOTS; i++) g->grid[i].counts = false;
  begin_counting(g);
  netlist_start(&g->net, image, g->started);
  if (first) start_cores(g, first);
}

/* A launch that reaches an idle GPU does so now at the earliest. One that comes to a busy GPU, which is ahead of the
 * caller by up to a window, keeps its time: its first CTA comes launch.latency_cycles later. */
static picos start_of(const struct gpu *g, const struct gpu_launch *l)
{
  bool busy = g->n_open || (g->dma && !dma_idle(g->dma)) || g->ahead;
  picos now = domain_now(g->domain), ahead = busy ? params_request_ps(&g->params) + g->ahead : 0;
  return l->start + ahead > now ? l->start : now;
}

/* A launch finds no other one, but copies, or a run of other GPUs' launches: for its counters a run begins. */
static bool comes_alone(const struct gpu *g)
{
  return !g->cores_started || (!g->n_open && g->const_spaces && g->dma);
}

/* What was done so far is not of the launch, but the laws between blocks want all of it. L1 and the caches of
 * instructions and constants are empty unless code of the launch before is still on its way to them. */
static void begin_with_launch(struct gpu *g, const struct gpu_launch *l)
{
  if (!g->begun) {
    g->begun = mem_alloc(sizeof *g->begun);
    *g->begun = g->before;
  }
  begin_counting(g);
  g->ended = 0;
  g->started = start_of(g, l);
  if (g->cores_started && !netlist_cores_idle(&g->net)) return;
  g->const_spaces = 0;
  start_cores(g, l->source);
}

/* How many CTAs of a launch an SM holds, and what they take. A lone grid gets as much shared memory as its CTAs need;
 * where there are several, each asks for what never limits its CTAs, whatever the size of its grid (NVIDIA Volta Tuning
 * Guide: the driver avoids shared memory as an occupancy bottleneck and lets kernels run at the same time where
 * possible). */
static struct dispatch_grid grid_of(const struct gpu *g, const struct gpu_launch *l, const struct occupancy *o)
{
  return (struct dispatch_grid){.source = l->source,
                                .n_ctas = l->source->n_ctas,
                                .start = start_of(g, l),
                                .per_sm = o->most,
                                .cta = o->cta,
                                .carveout = l->beside ? o->most_carveout : o->carveout,
                                .gang = l->gang,
                                .cores = l->source->cores,
                                .priority = l->priority};
}

static unsigned free_slot(const struct gpu *g)
{
  unsigned slot = 0;
  while (slot < GRID_SLOTS && g->grid[slot].open) slot++;
  return slot;
}

bool gpu_full(const struct gpu *g)
{
  return g->n_open == GRID_SLOTS;
}

static bool fits(const struct gpu *g, const struct gpu_launch *l, struct occupancy *o, struct err *e)
{
  TRY(occupancy_of(&g->params, l->source, o, e));
  uint64_t room = (uint64_t)o->most * (l->source->cores ? core_set_count(l->source->cores) : g->net.n_cores);
  return !l->gang || l->source->n_ctas <= room ||
         err_set(e, "cooperative launch of %llu CTAs, but only %llu are resident at once",
                 (unsigned long long)l->source->n_ctas, (unsigned long long)room);
}

bool gpu_fits(const struct gpu *g, const struct gpu_launch *l, struct err *e)
{
  struct occupancy o;
  return fits(g, l, &o, e);
}

/* A slot gets another launch: what the one before moved goes to its address space. */
static void recount(struct gpu *g, unsigned slot, unsigned space)
{
  struct gpu_grid *grid = &g->grid[slot];
  struct traffic t;
  gpu_traffic(g, slot, &t);
  if (grid->counts) traffic_add(&g->moved_in[grid->space], &t);
  grid->counts = true;
  grid->space = (uint8_t)space;
  netlist_traffic(&g->net, slot, &g->moved_before[slot]);
}

bool gpu_open(struct gpu *g, const struct gpu_launch *l, unsigned *slot, struct err *e)
{
  struct occupancy o;
  TRY(fits(g, l, &o, e));
  BUG_ON(gpu_full(g) || !g->image);
  const bool alone = comes_alone(g);
  if (alone) begin_with_launch(g, l);
  BUG_ON(g->control_bits != !!(l->source->caps & STEP_CAP_CONTROL));
  if (alone || g->const_spaces == 0) g->first = o;
  l->source->free_barriers = g->params.ideal_barriers;
  *slot = free_slot(g);
  struct gpu_grid *grid = &g->grid[*slot];
  struct dispatch_grid d = grid_of(g, l, &o);
  recount(g, *slot, l->source->space);
  grid->occupancy = o;
  if (g->followed) g->followed->launch[*slot] = (struct gpu_launch_report){0};
  grid->open = true;
  g->n_open++;
  netlist_open_grid(&g->net, *slot, l->source, &d, g->const_spaces++, &grid->arena);
  return true;
}

/* The last CTA has ended and the last store is in L2. A fence stands behind each kernel (NVIDIA open-gpu-doc, compute
 * class clc6c0, QMD field CWD_MEMBAR_TYPE), which takes its time even when no store is on its way. */
static picos end_of_grid(const struct gpu *g, unsigned slot)
{
  picos last = netlist_last_answer(&g->net, slot), done = g->net.dispatcher.grid[slot].last_done;
  if (g->net.dispatcher.grid[slot].done) done += (picos)g->params.membar_gpu_cycles * params_clock_ps(&g->params);
  return last > done ? last : done;
}

void gpu_close(struct gpu *g, unsigned slot)
{
  struct gpu_grid *grid = &g->grid[slot];
  BUG_ON(!grid->open);
  if (end_of_grid(g, slot) > g->ended) g->ended = end_of_grid(g, slot);
  netlist_close_grid(&g->net, slot);
  arena_free(&grid->arena);
  grid->open = false;
  g->n_open--;
}

void gpu_set_l2(struct gpu *g, uint64_t aside_bytes, unsigned fetch_bytes)
{
  netlist_set_l2(&g->net, &g->params, aside_bytes, fetch_bytes);
}

void gpu_reset_residency(struct gpu *g)
{
  netlist_reset_residency(&g->net);
}

void gpu_watch(struct gpu *g, const struct run_watch *w, bool ends)
{
  g->watch = w;
  g->watch_ends = ends;
  g->stop = RUN_DONE;
  g->next_poll = POLL_INSTS;
  g->windows = 0;
}

void gpu_may_be_ahead(struct gpu *g, picos of)
{
  g->ahead = of;
}

void gpu_cut(struct gpu *g)
{
  if (g->stop == RUN_DONE) g->stop = RUN_STOPPED;
}

enum run_end gpu_stopped(const struct gpu *g)
{
  return g->stop;
}

uint64_t gpu_ctas_done(const struct gpu *g)
{
  return g->followed ? g->followed->ctas_done : g->net.dispatcher.done;
}

uint64_t gpu_now(const struct gpu *g)
{
  return domain_now(g->domain);
}

void gpu_idle_until(struct gpu *g, uint64_t when)
{
  picos clock = params_clock_ps(&g->params);
  BUG_ON(g->n_open);
  domain_idle_until(g->domain, round_up(when, clock));
}

void gpu_check_hazards(struct gpu *g)
{
  if (g->hazards) return;
  g->hazards = hazard_new(&g->net.arena, &g->params);
  for (unsigned i = 0; i < g->net.n_cores; i++) {
    struct core *c = g->net.core[i];
    if (c->ops->check_hazards) c->ops->check_hazards(c, &g->net.arena);
  }
}

void gpu_emulate_hazards(struct gpu *g)
{
  for (unsigned i = 0; i < g->net.n_cores; i++) {
    struct core *c = g->net.core[i];
    if (c->ops->emulate_hazards) c->ops->emulate_hazards(c, &g->net.arena);
  }
}

void gpu_observe(struct gpu *g, struct observer *(*of)(void *ctx, unsigned core), void *ctx)
{
  for (unsigned i = 0; i < g->net.n_cores; i++) {
    struct core *c = g->net.core[i];
    struct observer *o = c->ops->observe ? of(ctx, i) : NULL;
    if (o) c->ops->observe(c, o);
  }
}

const struct hazard *gpu_hazards(const struct gpu *g)
{
  return g->hazards;
}

static void collect_hazards(struct gpu *g)
{
  hazard_start(g->hazards);
  for (unsigned i = 0; i < g->net.n_cores; i++) {
    const struct core *c = g->net.core[i];
    if (c->ops->hazards_into) c->ops->hazards_into(c, g->hazards);
  }
}

/* `end`: of the kernel, or of what there was of it. */
static void collect(struct gpu *g, picos end)
{
  if (g->hazards) collect_hazards(g);
  g->count.sum = *counters(g);
  netlist_since(&g->count.sum, &g->before);
  end_instances(g);
  picos clock = params_clock_ps(&g->params), time = end - g->started;
  g->count.stats = (struct gpu_stats){
      .cycles = time / clock,
      .launch_cycles = g->params.launch_latency_cycles,
      .time_ps = time,
      .sms = g->net.n_cores,
      .ctas_per_sm = g->first.ctas,
      .warps_per_sm = g->first.warps,
      .shared_bytes_per_cta = g->first.shared_per_cta,
      .warp_insts = g->count.sum.sm.warp_insts,
  };
}

static unsigned stats_groups(struct gpu_stats *gpu, struct netlist_stats *sum, struct stat_group out[GPU_MAX_GROUPS])
{
  unsigned n = 0;
  out[n++] = gpu_stats_group("gpu", gpu);
  out[n++] = sm_stats_group("sm", &sum->sm);
  out[n++] = noc_stats_group("noc", &sum->noc);
  out[n++] = l2_stats_group("l2", &sum->l2);
  out[n++] = dram_stats_group("dram", &sum->dram);
  return n;
}

unsigned gpu_stats_groups(struct gpu *g, struct stat_group out[GPU_MAX_GROUPS])
{
  return stats_groups(&g->count.stats, &g->count.sum, out);
}

const struct hub_out_stats *gpu_links_of_run(const struct gpu *g)
{
  return g->outward ? &g->count.sum.outward : NULL;
}

static void check_laws_of(struct gpu *g, struct netlist_stats *sum)
{
  struct stat_group group[GPU_MAX_GROUPS];
  struct err e = {0};
  unsigned n = stats_groups(&g->count.stats, sum, group);
  for (unsigned i = 0; i < n; i++)
    if (!stat_check_laws(group[i], &e)) BUG("%s", e.msg);
  if (!netlist_check_laws(&g->net, sum, &e)) BUG("%s", e.msg);
}

static void check_laws(struct gpu *g)
{
  struct netlist_stats all;
  if (!g->begun) {
    check_laws_of(g, &g->count.sum);
    return;
  }
  all = *counters(g);
  netlist_since(&all, g->begun);
  check_laws_of(g, &all);
}

static void show_residents(const struct gpu *g)
{
  for (unsigned i = 0; g->watch->resident && i < g->net.n_cores; i++)
    g->net.core[i]->ops->residents(g->net.core[i], g->watch->resident, g->watch->ctx);
}

static void place_in(const uint32_t size[3], uint64_t linear, uint32_t out[3])
{
  out[0] = (uint32_t)(linear % size[0]);
  out[1] = (uint32_t)(linear / size[0] % size[1]);
  out[2] = (uint32_t)(linear / size[0] / size[1]);
}

/* The first warp of this CTA that is not done, and what it waits in, unless one of an earlier CTA is to blame already:
 * a path that waits has left its instruction behind. */
static void blame(void *ctx, const struct step_cta *c)
{
  struct fault *f = ctx;
  for (unsigned k = 0; k < c->n_warps && !f->source; k++) {
    const struct step_paths *paths = &c->warp[k]->paths;
    if (!paths->n) continue;
    const struct step_path *p = &paths->p[0];
    unsigned lane = p->mask ? (unsigned)__builtin_ctzll(p->mask) : 0;
    f->pc = p->wait ? code_previous(&c->source->code, p->pc) : p->pc;
    f->source = c->source;
    place_in(c->source->grid, c->id, f->cta);
    place_in(c->source->block, (uint64_t)k * c->source->lanes + lane, f->thread);
  }
}

static void deadlock(const struct gpu *g, struct fault *fault, FILE *report)
{
  *fault = (struct fault){.kind = FAULT_DEADLOCK};
  for (unsigned i = 0; i < g->net.n_cores; i++) g->net.core[i]->ops->residents(g->net.core[i], blame, fault);
  if (report) domain_dump(g->domain, report);
  snprintf(fault->text, sizeof fault->text,
           "deadlock: nothing can run any more (%llu of %llu CTAs done)",
           (unsigned long long)g->net.dispatcher.done,
           (unsigned long long)g->net.dispatcher.ctas);
}

static picos end_of_all(const struct gpu *g)
{
  picos last = g->ended;
  for (unsigned i = 0; i < GRID_SLOTS; i++)
    if (g->grid[i].open && end_of_grid(g, i) > last) last = end_of_grid(g, i);
  return last;
}

bool gpu_launch_times(const struct gpu *g, unsigned slot, uint64_t *start, uint64_t *end)
{
  if (g->followed) {
    const struct gpu_launch_report *l = &g->followed->launch[slot];
    *start = l->start, *end = l->end;
    return l->ended;
  }
  *start = g->net.dispatcher.grid[slot].start;
  *end = end_of_grid(g, slot);
  return netlist_grid_ended(&g->net, slot);
}

void gpu_count(struct gpu *g)
{
  if (g->followed) return;
  collect(g, later(end_of_all(g), g->started));
}

enum run_end gpu_finish(struct gpu *g, struct fault *fault, FILE *report)
{
  bool stuck = g->stop == RUN_DONE && domain_state(g->domain) == DOMAIN_STUCK, done = g->stop == RUN_DONE && !stuck;
  BUG_ON(done && domain_state(g->domain) != DOMAIN_IDLE);
  collect(g, done ? later(end_of_all(g), g->started) : domain_now(g->domain));
  if (done) {
    check_laws(g);
    return RUN_DONE;
  }
  show_residents(g);
  if (stuck) deadlock(g, fault, report);
  else if (g->stop == RUN_FAULT) *fault = *netlist_fault(&g->net, (struct netlist_ran){true, true});
  return stuck ? RUN_FAULT : g->stop;
}

_Static_assert((int)GPU_RATE_STEPS == (int)DISPATCH_MARKS - 1, "a batch between two marks");

bool gpu_rate(const struct gpu *g, unsigned slot, uint64_t batch_ps[GPU_RATE_STEPS], uint64_t *ctas)
{
  const struct dispatch_grid *d = &g->net.dispatcher.grid[slot];
  if (d->n_marks < DISPATCH_MARKS) return false;
  for (unsigned i = 0; i < GPU_RATE_STEPS; i++) batch_ps[i] = d->mark[i + 1] - d->mark[i];
  *ctas = d->mark_step;
  return true;
}

void gpu_counters(const struct gpu *g, struct netlist_stats *now)
{
  netlist_sum(&g->net, now);
}

void gpu_flow(const struct gpu *g, struct netlist_flow *now)
{
  netlist_flow(&g->net, now);
}

void gpu_traffic(const struct gpu *g, unsigned slot, struct traffic *t)
{
  if (g->followed) {
    memcpy(t, g->followed->launch[slot].moved, sizeof *t);
    return;
  }
  netlist_traffic(&g->net, slot, t);
  traffic_since(t, &g->moved_before[slot]);
}

void gpu_space_traffic(const struct gpu *g, unsigned space, struct traffic *t)
{
  struct traffic one;
  *t = g->moved_in[space];
  for (unsigned i = 0; i < GRID_SLOTS; i++) {
    if (!g->grid[i].counts || g->grid[i].space != space) continue;
    gpu_traffic(g, i, &one);
    traffic_add(t, &one);
  }
}

const struct occupancy *gpu_occupancy(const struct gpu *g, unsigned slot)
{
  return &g->grid[slot].occupancy;
}

static size_t books_words(const struct gpu *g, unsigned slot)
{
  const uint64_t n = code_count(&g->net.dispatcher.grid[slot].source->code);
  return n * WARP_STATE__N + 6 * n + 1;
}

static struct core_books books_in(const struct gpu *g, unsigned slot, uint64_t *books)
{
  const uint64_t n = code_count(&g->net.dispatcher.grid[slot].source->code), n_states = n * WARP_STATE__N;
  return (struct core_books){.n_insts = n, .by_inst = books, .issued = books + n_states,
                             .threads = books + n_states + n, .sectors = books + n_states + 2 * n,
                             .passes = books + n_states + 3 * n, .conflicts = books + n_states + 4 * n,
                             .excess = books + n_states + 5 * n};
}

size_t gpu_books_bytes(const struct gpu *g, unsigned slot)
{
  return books_words(g, slot) * sizeof(uint64_t);
}

uint64_t *gpu_books(const struct gpu *g, unsigned slot, size_t *bytes)
{
  uint64_t *books = mem_zeroed(books_words(g, slot), sizeof *books);
  struct core_books b = books_in(g, slot, books);
  *bytes = books_words(g, slot) * sizeof *books;
  if (g->followed && g->followed->books) memcpy(books, g->followed->books, *bytes);
  for (unsigned i = 0; !g->followed && i < g->net.n_cores; i++)
    g->net.core[i]->ops->books_into(g->net.core[i], slot, &b);
  return books;
}

struct gpu_inst_profile gpu_profile(const struct gpu *g, unsigned slot)
{
  size_t bytes;
  uint64_t *books = gpu_books(g, slot, &bytes); /* one block, freed as by_inst */
  const struct core_books b = books_in(g, slot, books);
  return (struct gpu_inst_profile){.n_insts = b.n_insts, .n_states = WARP_STATE__N, .state_name = warp_state_name,
                                   .by_inst = b.by_inst, .issued = b.issued, .threads = b.threads,
                                   .sectors = b.sectors, .excess = b.excess, .passes = b.passes,
                                   .conflicts = b.conflicts};
}

void gpu_profile_free(struct gpu_inst_profile *p)
{
  mem_free(p->by_inst);
  *p = (struct gpu_inst_profile){0};
}

/* --- a GPU that another process simulates ------------------------------------------------------- */

struct gpu_report gpu_report(const struct gpu *g)
{
  return (struct gpu_report){.domain = domain_report(g->domain), .ctas_done = gpu_ctas_done(g), .stopped = g->stop};
}

void gpu_follow(struct gpu *g, const struct gpu_report *r)
{
  if (!g->followed) g->followed = mem_zeroed(1, sizeof *g->followed);
  g->followed->ctas_done = r->ctas_done;
  g->stop = (enum run_end)r->stopped;
  domain_follow(g->domain, &r->domain);
  for (unsigned i = 0; i < LINK_PORT__N; i++) link_port_drop(g->port[i]);
}

struct gpu_launch_report gpu_launch_report(const struct gpu *g, unsigned slot)
{
  struct gpu_launch_report r = {0};
  struct traffic t;
  r.ended = gpu_launch_times(g, slot, &r.start, &r.end);
  gpu_traffic(g, slot, &t);
  _Static_assert(sizeof t == sizeof r.moved, "all that a launch moves");
  memcpy(r.moved, &t, sizeof t);
  return r;
}

void gpu_follow_launch(struct gpu *g, unsigned slot, const struct gpu_launch_report *r)
{
  BUG_ON(!g->followed);
  g->followed->launch[slot] = *r;
}

const void *gpu_count_report(struct gpu *g, size_t *bytes)
{
  *bytes = sizeof g->count;
  return &g->count;
}

void gpu_follow_count(struct gpu *g, const void *count)
{
  memcpy(&g->count, count, sizeof g->count);
}

void gpu_follow_books(struct gpu *g, unsigned slot, const uint64_t *books)
{
  const size_t words = books_words(g, slot);
  BUG_ON(!g->followed);
  g->followed->books = mem_resize(g->followed->books, words, sizeof *books);
  memcpy(g->followed->books, books, words * sizeof *books);
}
