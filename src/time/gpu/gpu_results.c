#include "time/gpu/gpu_inside.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/sm/warp_state.h"

/* --- counting ----------------------------------------------------------------------------------- */

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

/* Counters of all parts, ever, behind the last window. Runs of copies alone follow each other by the thousand, and have
 * hardly a window each. */
static const struct netlist_stats *counters_now(struct gpu *g)
{
  const uint64_t at = domain_windows(g->domain);
  if (!g->summed || g->summed_at != at) netlist_sum(&g->net, &g->counters);
  g->summed = true;
  g->summed_at = at;
  return &g->counters;
}

void gpu_begin_counting(struct gpu *g)
{
  g->insts = g->insts_before = gpu_all_insts(g);
  g->before = *counters_now(g);
  begin_instances(g);
  netlist_traffic(&g->net, GRID_NONE, &g->moved_before[GRID_NONE]);
}

const struct hazard *gpu_hazards(const struct gpu *g)
{
  return g->hazards;
}

/* The last CTA has ended and the last store is in L2. A fence stands behind each kernel (NVIDIA open-gpu-doc, compute
 * class clc6c0, QMD field CWD_MEMBAR_TYPE), which takes its time even when no store is on its way. */
picos gpu_end_of_grid(const struct gpu *g, unsigned slot)
{
  picos last = netlist_last_answer(&g->net, slot), done = g->net.dispatcher.grid[slot].last_done;
  if (g->net.dispatcher.grid[slot].done) done += (picos)g->params.membar_gpu_cycles * params_clock_ps(&g->params);
  return last > done ? last : done;
}

/* --- the end of a run --------------------------------------------------------------------------- */

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
  g->count.sum = *counters_now(g);
  netlist_since(&g->count.sum, &g->before);
  end_instances(g);
  picos clock = params_clock_ps(&g->params), time = end - g->started;
  g->count.stats = (struct gpu_stats){
      .cycles = time / clock,
      .launch_cycles = g->launch_cycles,
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

size_t gpu_count_bytes(void)
{
  return sizeof(struct gpu_count);
}

unsigned gpu_count_groups(void *count, struct stat_group out[GPU_MAX_GROUPS])
{
  struct gpu_count *c = count;
  return stats_groups(&c->stats, &c->sum, out);
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
  all = *counters_now(g);
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
    if (g->grid[i].open && gpu_end_of_grid(g, i) > last) last = gpu_end_of_grid(g, i);
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
  *end = gpu_end_of_grid(g, slot);
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

static struct core_books books_of(uint64_t *books, uint64_t n)
{
  const uint64_t n_states = n * WARP_STATE__N;
  return (struct core_books){.n_insts = n, .by_inst = books, .issued = books + n_states,
                             .threads = books + n_states + n, .sectors = books + n_states + 2 * n,
                             .passes = books + n_states + 3 * n, .conflicts = books + n_states + 4 * n,
                             .excess = books + n_states + 5 * n};
}

static struct core_books books_in(const struct gpu *g, unsigned slot, uint64_t *books)
{
  return books_of(books, code_count(&g->net.dispatcher.grid[slot].source->code));
}

size_t gpu_books_size(uint64_t n_insts)
{
  return (n_insts * WARP_STATE__N + 6 * n_insts + 1) * sizeof(uint64_t);
}

size_t gpu_books_bytes(const struct gpu *g, unsigned slot)
{
  return gpu_books_size(code_count(&g->net.dispatcher.grid[slot].source->code));
}

uint64_t *gpu_books(const struct gpu *g, unsigned slot, size_t *bytes)
{
  *bytes = gpu_books_bytes(g, slot);
  uint64_t *books = mem_zeroed(*bytes, 1);
  struct core_books b = books_in(g, slot, books);
  if (g->followed && g->followed->books) memcpy(books, g->followed->books, *bytes);
  for (unsigned i = 0; !g->followed && i < g->net.n_cores; i++)
    g->net.core[i]->ops->books_into(g->net.core[i], slot, &b);
  return books;
}

struct gpu_inst_profile gpu_profile(const struct gpu *g, unsigned slot)
{
  size_t bytes;
  return gpu_profile_of(gpu_books(g, slot, &bytes), code_count(&g->net.dispatcher.grid[slot].source->code));
}

/* The books are one block, freed as by_inst. */
struct gpu_inst_profile gpu_profile_of(uint64_t *books, uint64_t n_insts)
{
  const struct core_books b = books_of(books, n_insts);
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
