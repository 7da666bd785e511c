#include "time/gpu/gpu_inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/dma/dma.h"
#include "time/link/hub_in.h"
#include "time/uvm/uvm_machine.h"

/* No progress anywhere for this long is a deadlock: longer than any latency or sleep. */
enum { WATCHDOG_CYCLES = 20 * 1000 * 1000 };

/* Between two looks of the watcher: often enough for a progress line that is redrawn five times a second,
 * also when warps only wait. */
enum { POLL_INSTS = 50000, POLL_WINDOWS = 10000 };

/* Of its domain. */
enum { PHASE_CORES, PHASE_MEMORY, PHASE_SERIAL, GPU_PHASES };

static enum run_end watch(struct gpu *g, picos now, struct netlist_ran ran)
{
  const struct run_watch *w = g->watch;
  struct run_progress p = {.cycles = (now - g->started) / params_clock_ps(&g->params),
                           .ctas_done = g->net.dispatcher.done, .ctas_total = g->net.dispatcher.ctas};
  /* The grids are done: only what is on its way to memory is left. */
  if (p.ctas_done == p.ctas_total) return RUN_DONE;
  if (ran.cores) g->insts = gpu_all_insts(g);
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
  g->dma->mover = u->machine->mover;
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
  gpu_begin_counting(g);
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
  gpu_begin_counting(g);
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
                                .prepared = l->prepared,
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
  if (alone || g->const_spaces == 0) {
    g->first = o;
    g->launch_cycles = l->prepared ? g->params.launch_graph_cycles : g->params.launch_latency_cycles;
  }
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

void gpu_close(struct gpu *g, unsigned slot)
{
  struct gpu_grid *grid = &g->grid[slot];
  BUG_ON(!grid->open);
  if (gpu_end_of_grid(g, slot) > g->ended) g->ended = gpu_end_of_grid(g, slot);
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
