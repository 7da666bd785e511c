#include "time/gpu/gpu.h"

#include <stdlib.h>

#include "base/bug.h"
#include "time/engine.h"
#include "time/gpu/gpu_stats.h"
#include "time/gpu/netlist.h"

/* No progress anywhere for this long is a deadlock: longer than any latency or sleep. */
enum { WATCHDOG_CYCLES = 20 * 1000 * 1000 };

struct gpu {
  struct params params;
  struct netlist net;
  struct engine *engine;
  struct arena kernel_arena; /* profile books of the running kernel */
  picos now;
  struct occupancy occupancy;
  struct hazard *hazards; /* sum over SMs; NULL: not checked */
  struct gpu_stats stats;
  struct netlist_stats sum;
  const struct gpu_progress *progress;
  picos started;
  uint64_t next_report;
};

static uint64_t total_insts(const struct gpu *g)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < g->net.n_sms; i++) n += g->net.sm[i].stats.warp_insts;
  return n;
}

static bool between(void *ctx, picos now)
{
  struct gpu *g = ctx;
  if (netlist_fault(&g->net)) return false;
  if (!g->progress) return true;
  uint64_t insts = total_insts(g);
  if (insts >= g->next_report) {
    g->next_report = insts + g->progress->interval_insts;
    g->progress->fn(g->progress->ctx, (now - g->started) / params_clock_ps(&g->params),
                    g->net.dispatcher.done, g->net.dispatcher.n_ctas, insts);
  }
  return true;
}

struct gpu *gpu_new(const struct params *p, unsigned threads)
{
  struct gpu *g = calloc(1, sizeof *g);
  BUG_ON(!g);
  g->params = *p;
  netlist_build(&g->net, &g->params);
  picos window = p->noc_request_latency * params_clock_ps(p);
  g->engine = engine_new(&(struct engine_config){
      .window = window,
      .threads = threads,
      .parallel = g->net.sm_part,
      .n_parallel = g->net.n_sms,
      .second = g->net.partition_part,
      .n_second = g->net.n_partitions,
      .serial = g->net.serial,
      .n_serial = SERIAL__N,
      .watchdog_windows = WATCHDOG_CYCLES / p->noc_request_latency,
      .between = between,
      .ctx = g,
  });
  return g;
}

void gpu_free(struct gpu *g)
{
  if (!g) return;
  engine_free(g->engine);
  netlist_free(&g->net);
  arena_free(&g->kernel_arena);
  free(g);
}

static void start(struct gpu *g, struct step_source *source, struct gmem *image)
{
  arena_free(&g->kernel_arena);
  uint64_t l1_bytes = g->params.l1_bytes - g->occupancy.carveout;
  for (unsigned i = 0; i < g->net.n_sms; i++) {
    sm_start(&g->net.sm[i], source, image, g->occupancy.ctas, l1_bytes, &g->kernel_arena);
    g->net.sm_part[i].next = TIME_NEVER;
  }
  netlist_start_memory(&g->net, image);
  dispatcher_start(&g->net.dispatcher, source->n_ctas, g->occupancy.ctas, g->now);
  g->net.serial[SERIAL_DISPATCHER].next = g->now;
  g->started = g->now;
}

void gpu_check_hazards(struct gpu *g)
{
  if (g->hazards) return;
  g->hazards = hazard_new(&g->net.arena, &g->params);
  netlist_check_hazards(&g->net, &g->params);
}

const struct hazard *gpu_hazards(const struct gpu *g)
{
  return g->hazards;
}

static void collect_hazards(struct gpu *g)
{
  hazard_start(g->hazards);
  for (unsigned i = 0; i < g->net.n_sms; i++)
    for (unsigned c = 0; c < g->params.sm_sub_cores; c++)
      hazard_merge(g->hazards, g->net.sm[i].sub_core[c].hazard);
}

static void collect(struct gpu *g)
{
  if (g->hazards) collect_hazards(g);
  netlist_sum(&g->net, &g->sum);
  picos clock = params_clock_ps(&g->params), time = g->net.dispatcher.last_done - g->started;
  g->stats = (struct gpu_stats){
      .cycles = time / clock,
      .launch_cycles = g->params.launch_latency_cycles,
      .time_ps = time,
      .sms = g->net.n_sms,
      .ctas_per_sm = g->occupancy.ctas,
      .warps_per_sm = g->occupancy.warps,
      .shared_bytes_per_cta = g->occupancy.shared_per_cta,
      .warp_insts = g->sum.sm.warp_insts,
  };
}

static void check_laws(struct gpu *g)
{
  struct stat_group group[GPU_MAX_GROUPS];
  struct err e = {0};
  unsigned n = gpu_stats_groups(g, group);
  for (unsigned i = 0; i < n; i++)
    if (!stat_check_laws(group[i], &e)) BUG("%s", e.msg);
  if (!netlist_check_laws(&g->net, &g->sum, &e)) BUG("%s", e.msg);
}

enum gpu_end gpu_run(struct gpu *g, struct step_source *source, struct gmem *image,
                     const struct gpu_progress *progress, struct fault *fault, FILE *report,
                     struct err *e)
{
  if (!occupancy_of(&g->params, source, &g->occupancy, e)) return GPU_REFUSED;
  g->progress = progress;
  g->next_report = progress ? progress->interval_insts : 0;
  start(g, source, image);
  enum engine_end end = engine_run(g->engine, &g->now);
  collect(g);
  if (end == ENGINE_DONE) {
    check_laws(g);
    return GPU_DONE;
  }
  *fault = (struct fault){.kind = FAULT_DEADLOCK};
  if (end == ENGINE_STOPPED)
    *fault = *netlist_fault(&g->net);
  else if (report)
    engine_dump(g->engine, report);
  if (end == ENGINE_DEADLOCK)
    snprintf(fault->text, sizeof fault->text,
             "deadlock: nothing can run any more (%llu of %llu CTAs done)",
             (unsigned long long)g->net.dispatcher.done, (unsigned long long)source->n_ctas);
  return GPU_FAULT;
}

unsigned gpu_stats_groups(struct gpu *g, struct stat_group out[GPU_MAX_GROUPS])
{
  unsigned n = 0;
  out[n++] = gpu_stats_group("gpu", &g->stats);
  out[n++] = sm_stats_group("sm", &g->sum.sm);
  out[n++] = noc_stats_group("noc", &g->sum.noc);
  out[n++] = l2_stats_group("l2", &g->sum.l2);
  out[n++] = dram_stats_group("dram", &g->sum.dram);
  return n;
}

const struct occupancy *gpu_occupancy(const struct gpu *g)
{
  return &g->occupancy;
}

struct gpu_inst_profile gpu_profile(const struct gpu *g)
{
  const struct ledger *first = &g->net.sm[0].ledger;
  struct gpu_inst_profile p = {
      .n_insts = first->n_insts, .n_states = WARP_STATE__N, .state_name = warp_state_name};
  p.by_inst = calloc(p.n_insts * WARP_STATE__N + 1, sizeof *p.by_inst);
  p.issued = calloc(p.n_insts + 1, sizeof *p.issued);
  BUG_ON(!p.by_inst || !p.issued);
  for (unsigned s = 0; s < g->net.n_sms; s++) {
    const struct ledger *l = &g->net.sm[s].ledger;
    for (uint64_t i = 0; i < p.n_insts * WARP_STATE__N; i++) p.by_inst[i] += l->by_inst[i];
    for (uint64_t i = 0; i < p.n_insts; i++) p.issued[i] += l->issued[i];
  }
  return p;
}
