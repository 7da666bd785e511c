#include "host/surroundings.h"

#include "base/arith.h"
#include "base/host_memory.h"
#include "func/func.h"
#include "host/ranked.h"
#include "host/simulator.h"
#include "time/dma/dma.h"
#include "time/machine/machine.h"
#include "time/uvm/uvm_machine.h"

enum { PS_PER_NS = 1000 };

struct surroundings *surroundings_new(const struct machine_preset *m, const struct topology *t, const struct params *p)
{
  struct surroundings *x = mem_zeroed(1, sizeof *x);
  if (!m) machine_of_gpu(p->name, p, &x->own);
  x->preset = m ? m : &x->own;
  x->topology = m ? t : topology_new(&x->own, &x->arena);
  link_log_init(&x->links, 2 * x->preset->n_links);
  return x;
}

void surroundings_rank(struct surroundings *x, struct ranks *ranks, const struct ranked_output *output)
{
  struct ranked_member m[MACHINE_MAX_GPUS];
  unsigned n = 0, cursor = 0;
  for (const struct simulator *s; (s = surroundings_next_member(x, &cursor));)
    m[n++] = (struct ranked_member){s->node, &s->gpu, s->open, &s->n_open};
  x->ranked = ranked_new(ranks, m, n, output);
  x->program = &x->ranked->program;
}

void surroundings_free(struct surroundings *x)
{
  if (!x) return;
  surroundings_clear(x);
  ranked_free(x->ranked);
  live_clock_free(&x->clock);
  uvm_machine_free(x->managed);
  const unsigned own_places = x->places_of_another ? 0 : MACHINE_MAX_GPUS;
  for (unsigned i = own_places; i-- > 0;) places_free(x->places[i]); /* the first one last */
  link_log_free(&x->links);
  arena_free(&x->arena);
  if (x->preset == &x->own) machine_preset_free(&x->own);
  mem_free(x);
}

void surroundings_clear(struct surroundings *x)
{
  machine_free(x->machine);
  if (x->gate) host_gate_free(x->gate);
  mem_free(x->gate);
  x->gate = NULL;
  fabric_free(x->fabric);
  x->machine = NULL;
  x->fabric = NULL;
  x->run = NULL;
  for (unsigned k = 0; x->managed && k < x->managed->space.n_gpus; k++) uvm_connect(x->managed->of[k], NULL, NULL);
}

struct simulator *surroundings_next_member(const struct surroundings *x, unsigned *cursor)
{
  while (*cursor < x->preset->n_gpus)
    if (x->member[(*cursor)++]) return x->member[*cursor - 1];
  return NULL;
}

struct simulator *surroundings_next(const struct surroundings *x, unsigned *cursor)
{
  struct simulator *s;
  while ((s = surroundings_next_member(x, cursor)) && !s->gpu) continue;
  return s;
}

uint16_t surroundings_socket(const struct surroundings *x, unsigned node)
{
  return (uint16_t)topology_socket(x->topology, node);
}

/* Of the link by which the GPU reaches the host. */
static const struct link_params *host_link(const struct surroundings *x, unsigned node)
{
  const struct topology_hop hop = topology_next(x->topology, node, node, surroundings_socket(x, node), 0);
  return &x->preset->link[x->preset->links[hop.link].group];
}

/* Of the best link by which it reaches another one; 0: none. */
static uint32_t peer_reads(const struct surroundings *x, unsigned node)
{
  uint32_t most = 0;
  for (unsigned i = 0; i < x->preset->n_gpus; i++) {
    if (i == node || !topology_reaches(x->topology, node, i)) continue;
    const struct topology_hop hop = topology_next(x->topology, node, node, i, 0);
    most = (uint32_t)later(most, x->preset->link[x->preset->links[hop.link].group].reads);
  }
  return most;
}

static void build_hosts(struct surroundings *x)
{
  const struct machine_preset *m = x->preset;
  for (unsigned i = 0; i < m->n_sockets; i++) {
    host_mem_init(&x->host[i], m->memory_mbps, (picos)m->memory_latency_ns * PS_PER_NS, func_line_apply);
    host_mem_images(&x->host[i], x->image);
    host_mem_program(&x->host[i], x->program);
    x->host[i].written = x->written;
    fabric_serve(x->fabric, m->n_gpus + i, host_mem_serve, &x->host[i]);
  }
}

/* Of the first socket. */
static void build_gate(struct surroundings *x)
{
  if (!x->rights || !x->rights_at_host) return;
  x->gate = mem_zeroed(1, sizeof *x->gate);
  host_gate_init(x->gate, &x->host[0], x->fabric, x->rights);
  fabric_serve(x->fabric, x->preset->n_gpus, host_gate_serve, x->gate);
}

static struct gpu *build_gpu(struct surroundings *x, unsigned node, const struct params *p)
{
  struct gpu *g = gpu_new_joined(p, NULL, &(struct gpu_join){.node = (uint16_t)node,
                                                             .sockets = (uint16_t)x->preset->n_gpus,
                                                             .reads = host_link(x, node)->reads,
                                                             .peer_reads = peer_reads(x, node),
                                                             .apply = func_line_apply,
                                                             .written = x->written,
                                                             .rights = x->rights_at_host ? NULL : x->rights,
                                                             .tables = x->tables,
                                                             .images = x->image});
  fabric_join(x->fabric, node, gpu_ports(g), LINK_PORT__N);
  return g;
}

/* How many members there are. */
static unsigned members(const struct surroundings *x)
{
  unsigned n = 0;
  for (unsigned i = 0; i < x->preset->n_gpus; i++) n += x->member[i] != NULL;
  return n;
}

static void make(struct surroundings *x, struct simulator *s)
{
  const struct params p = simulator_params(s, x->cold);
  s->gpu = build_gpu(x, s->node, &p);
  s->fresh = true;
  if (s->l2_aside || s->l2_fetch) simulator_tell_l2(s);
  if (x->managed) gpu_serve_faults(s->gpu, surroundings_driver(x, s));
  if (members(x) > 1) gpu_may_be_ahead(s->gpu, x->ahead);
}

/* Among those that are there, in the order of nodes. */
static unsigned number_of(const struct surroundings *x, const struct simulator *s)
{
  unsigned n = 0, cursor = 0;
  for (const struct simulator *m; (m = surroundings_next(x, &cursor)) && m != s;) n++;
  return n;
}

void surroundings_wake(struct surroundings *x, struct simulator *s)
{
  if (s->gpu) return;
  make(x, s);
  machine_add(x->machine, gpu_domain(s->gpu), number_of(x, s));
  if (!x->run) return;
  gpu_idle_until(s->gpu, x->begun);
  gpu_begin(s->gpu, NULL, x->image[s->node]);
  x->woken(s);
}

static void wake_node(void *ctx, unsigned node)
{
  struct surroundings *x = ctx;
  surroundings_wake(x, x->member[node]);
}

static void build_fabric(struct surroundings *x)
{
  picos window[MACHINE_MAX_NODES] = {0};
  x->fabric = fabric_new(x->preset, x->topology, func_line_reduce);
  fabric_log(x->fabric, &x->links);
  for (unsigned i = 0; i < x->preset->n_gpus; i++) {
    if (!x->member[i]) continue;
    window[i] = params_request_ps(x->member[i]->params);
    fabric_expect(x->fabric, i, wake_node, x);
  }
  x->ahead = fabric_epoch(x->fabric, window);
}

void surroundings_build(struct surroundings *x, struct simulator *s, unsigned threads, bool cold)
{
  x->cold = cold;
  build_fabric(x);
  if (x->ranked) ranked_watch(x->ranked, x->fabric);
  build_hosts(x);
  build_gate(x);
  make(x, s);
  unsigned n = 0;
  if (x->gate) {
    x->part[n] = (struct part){&host_gate_ops, x->gate, TIME_NEVER};
    x->gate->wake = &x->part[n++].next;
  }
  x->part[n++] = (struct part){&fabric_ops, x->fabric, TIME_NEVER};
  if (members(x) > 1) {
    x->part[n] = (struct part){&uvm_machine_ops, &x->managed, TIME_NEVER};
    x->drivers = &x->part[n++].next;
    if (x->managed) x->managed->next = x->drivers;
  }
  const picos epoch = x->epoch ? earlier(x->epoch, x->ahead) : x->ahead;
  x->machine = machine_new(&(struct machine_config){.threads = threads,
                                                    .domain = (struct domain *[]){gpu_domain(s->gpu)}, .n_domains = 1,
                                                    .epoch = epoch, .part = x->part, .n_parts = n, .in_turn = true,
                                                    .ranks = x->ranked ? &x->ranked->machine : NULL});
}

/* What the way holds, and what waits in the meantime for DRAM and switches (guess: 2 us). */
uint64_t surroundings_window(const struct surroundings *x, unsigned from, unsigned to)
{
  const struct topology *t = x->topology;
  const uint64_t trip = topology_latency(t, from, to) + topology_latency(t, to, from) + 2000000;
  return topology_rate(t, from, to) / 1000000 * trip / 1000000 + DMA_BURST;
}

/* --- managed memory ----------------------------------------------------------------------------- */

static void make_places(struct surroundings *x)
{
  if (x->places[0]) return;
  x->places[0] = places_new();
  for (unsigned i = 1; i < x->preset->n_gpus; i++) x->places[i] = places_new_beside(x->places[0]);
}

void surroundings_place(struct surroundings *x, uint64_t addr, uint64_t bytes, int node)
{
  if (!x->places[0] && node < 0) return;
  make_places(x);
  for (unsigned i = 0; i < x->preset->n_gpus; i++) places_set(x->places[i], addr, bytes, node);
}

static struct uvm_link managed_link(const struct surroundings *x, uint64_t setup, unsigned from, unsigned to)
{
  return (struct uvm_link){.setup = setup, .window = surroundings_window(x, from, to),
                           .mbps = later(topology_rate(x->topology, from, to) / 1000000, 1)};
}

/* A GPU, and its ways to the host and to the others; `gpu` is the number of each by node. */
static struct uvm_config managed_gpu(const struct surroundings *x, const struct simulator *s, const uint8_t *gpu)
{
  const unsigned host = surroundings_socket(x, s->node);
  const uint64_t setup = surroundings_setup_ps(x, s->params, s->node);
  struct uvm_config c = {.params = s->params, .places = x->places[s->node], .node = (uint16_t)s->node,
                         .socket = (uint16_t)host,
                         .latency = members(x) > 1 ? topology_latency(x->topology, host, s->node) : 0,
                         .link = {[UVM_TO_GPU] = managed_link(x, setup, host, s->node),
                                  [UVM_TO_HOST] = managed_link(x, setup, s->node, host)}};
  unsigned cursor = 0;
  for (const struct simulator *m; (m = surroundings_next_member(x, &cursor));) {
    if (m == s || !topology_reaches(x->topology, s->node, m->node)) continue;
    c.reaches |= 1u << gpu[m->node];
    if (topology_atomics(x->topology, s->node, m->node) == LINK_ATOMICS_ALL) c.fast |= 1u << gpu[m->node];
    c.peer[gpu[m->node]] = managed_link(x, (uint64_t)s->params->dma_peer_ns * PS_PER_NS, s->node, m->node);
  }
  return c;
}

struct uvm_machine *surroundings_manage(struct surroundings *x)
{
  struct uvm_config c[MACHINE_MAX_GPUS];
  uint8_t gpu[MACHINE_MAX_GPUS] = {0};
  unsigned n = 0, cursor = 0;
  if (x->managed) return x->managed;
  make_places(x);
  for (const struct simulator *m; (m = surroundings_next_member(x, &cursor));) gpu[m->node] = (uint8_t)n++;
  cursor = n = 0;
  for (const struct simulator *m; (m = surroundings_next_member(x, &cursor));) c[n++] = managed_gpu(x, m, gpu);
  x->managed = uvm_machine_new(c, n, c[0].params->uvm_ats);
  x->managed->wake = wake_node;
  x->managed->wake_ctx = x;
  x->managed->next = x->drivers;
  uvm_machine_clock(x->managed, x->clock.start, x->clock.skew - x->clock.stood);
  cursor = 0;
  for (const struct simulator *m; (m = surroundings_next(x, &cursor));)
    gpu_serve_faults(m->gpu, surroundings_driver(x, m));
  return x->managed;
}

struct uvm *surroundings_driver(const struct surroundings *x, const struct simulator *s)
{
  return uvm_machine_at(x->managed, s->node);
}

uint64_t surroundings_setup_ps(const struct surroundings *x, const struct params *p, unsigned node)
{
  const unsigned socket = surroundings_socket(x, node);
  uint64_t trip = topology_latency(x->topology, node, socket) + topology_latency(x->topology, socket, node) +
                  (uint64_t)x->preset->memory_latency_ns * PS_PER_NS;
  uint64_t whole = (uint64_t)p->pcie_latency_ns * PS_PER_NS;
  return whole > trip ? whole - trip : 0;
}
