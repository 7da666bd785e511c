#include "time/cpu/cpu_complex.h"

#include "base/host_memory.h"

enum { WATCHDOG_WINDOWS = 1000000 };

static uint8_t *clusters(const struct cpu_params *p, struct arena *a)
{
  uint8_t *c = ARENA_ARRAY(a, uint8_t, COH_MAX_NODES);
  for (uint32_t i = 0; i < COH_MAX_NODES; i++) c[i] = i >= p->cores;
  return c;
}

/* fs for a byte at so many MB/s. */
static uint64_t femtos(uint64_t mbps)
{
  return 1000000000 / mbps;
}

static struct coh_system_config coherent(const struct cpu_complex_config *cfg, struct cpu_complex *x)
{
  static const enum coh_topology_kind kind[CPU_TOPOLOGY__N] = {
    [CPU_TOPOLOGY_CROSSBAR] = COH_CROSSBAR, [CPU_TOPOLOGY_RING] = COH_RING, [CPU_TOPOLOGY_MESH] = COH_MESH,
    [CPU_TOPOLOGY_CLUSTERS] = COH_CLUSTERS};
  const struct cpu_params *p = cfg->params;
  const picos period = x->core->period, l2 = p->l2_cycles * period, home = p->home_cycles * period,
              hop = p->hop_cycles * period;
  return (struct coh_system_config){
    .protocol = cpu_protocol_name[p->protocol], .n_cpus = p->cores, .n_homes = p->homes,
    .cpu = {.sets = p->l2_sets, .ways = p->l2_ways, .misses = p->l2_misses, .period = period, .latency = l2,
            .hold = p->reservation_cycles * period, .atomic = cfg->ops->atomic},
    .home = {.sets = p->home_sets, .ways = p->home_ways, .period = period, .latency = home,
             .memory_latency = (picos)cfg->memory_latency_ns * 1000,
             .femtos_per_byte = femtos(cfg->memory_mbps) * p->homes, .memory = cfg->memory, .ctx = cfg->ctx},
    .net = {.topology = {.kind = kind[p->topology], .width = p->mesh_width, .n_clusters = 2,
                         .cluster = clusters(p, &x->arena)},
            .hop = hop, .femtos_per_byte = femtos(p->link_mbps)},
    .places = p->queue_places, .window = hop, .agent = x->agent, .l2_agent = x->asking, .n_l2 = x->n_askers,
    .l2 = {.sets = p->gpu_sets, .ways = p->gpu_ways, .stripes = x->n_askers, .misses = p->gpu_misses, .period = period,
           .latency = p->gpu_cycles * period, .atomic = cfg->ops->atomic, .memory = cfg->memory,
           .memory_ctx = cfg->ctx}};
}

/* The GPU looks at rights while the CPU stands. */
static enum l2_right right_of(void *ctx, uint64_t line)
{
  const struct cpu_complex *x = ctx;
  return coh_asker_right(coh_system_cache(x->coherence, x->n_cores + (uint32_t)(line % x->n_askers)), line);
}

static void add_askers(struct cpu_complex *x, const struct cpu_complex_config *cfg)
{
  if (!cfg->rights || !cfg->params->gpu_ports) return;
  x->n_askers = cfg->params->gpu_ports;
  x->asker = ARENA_ARRAY(&x->arena, struct coh_asker, x->n_askers);
  x->asking = ARENA_ARRAY(&x->arena, struct coh_agent, x->n_askers);
  for (uint32_t i = 0; i < x->n_askers; i++) x->asking[i] = coh_asker_agent(&x->asker[i]);
  x->rights = cfg->rights;
  x->rights->right = right_of;
  x->rights->ctx = x;
}

struct cpu_complex *cpu_complex_new(const struct cpu_complex_config *cfg, struct err *e)
{
  struct cpu_complex *x = mem_zeroed(1, sizeof *x);
  x->n_cores = cfg->params->cores;
  x->core = ARENA_ARRAY(&x->arena, struct cpu_core, x->n_cores);
  x->agent = ARENA_ARRAY(&x->arena, struct coh_agent, x->n_cores);
  for (uint32_t i = 0; i < x->n_cores; i++) {
    cpu_core_init(&x->core[i], cfg->params, cfg->ops, cfg->hart[i], &x->arena);
    x->agent[i] = (struct coh_agent){cpu_core_cycle, cpu_core_busy, &x->core[i]};
  }
  add_askers(x, cfg);
  const struct coh_system_config c = coherent(cfg, x);
  x->coherence = coh_system_new(&c, e);
  if (x->coherence) return x;
  cpu_complex_free(x);
  return NULL;
}

void cpu_complex_free(struct cpu_complex *x)
{
  if (!x) return;
  coh_system_free(x->coherence);
  for (uint32_t i = 0; i < x->n_askers; i++) coh_asker_free(&x->asker[i]);
  arena_free(&x->arena);
  mem_free(x);
}

struct domain_config cpu_complex_domain(struct cpu_complex *x, struct part *os)
{
  struct domain_config d = coh_system_domain(x->coherence);
  d.phase[d.n_phases++] = (struct phase){.part = os, .n = 1, .serial = true};
  d.watchdog_windows = WATCHDOG_WINDOWS;
  return d;
}

void cpu_complex_run(struct cpu_complex *x, uint32_t i, uint64_t pc, picos at)
{
  cpu_core_run(&x->core[i], pc, at);
  coh_system_wake(x->coherence, i, x->core[i].at);
}

static void hear(void *ctx, const struct l2_ask *a)
{
  struct cpu_complex *x = ctx;
  const uint32_t i = (uint32_t)(a->line % x->n_askers);
  coh_asker_push(&x->asker[i], a);
  coh_system_wake(x->coherence, x->n_cores + i, a->at);
}

void cpu_complex_hear(struct cpu_complex *x)
{
  if (x->rights) l2_rights_take(x->rights, hear, x);
}

void cpu_complex_tell(struct cpu_complex *x)
{
  for (uint32_t i = 0; i < x->n_askers; i++) coh_asker_tell(&x->asker[i], x->rights);
}

struct coh_cache_stats cpu_complex_gpu_stats(const struct cpu_complex *x)
{
  struct coh_cache_stats all = {0};
  for (uint32_t i = 0; i < x->n_askers; i++) {
    const struct coh_cache_stats *s = &coh_system_cache(x->coherence, x->n_cores + i)->stats;
    all.ops += s->ops;
    all.hits += s->hits;
    all.misses += s->misses;
    all.forwards += s->forwards;
    all.writebacks += s->writebacks;
  }
  return all;
}

void cpu_complex_dump(const struct cpu_complex *x, FILE *out)
{
  for (uint32_t i = 0; i < x->n_cores; i++) cpu_core_dump(&x->core[i], out);
  coh_system_dump(x->coherence, out);
}
