#include "host/surroundings.h"

#include "base/host_memory.h"
#include "func/func.h"
#include "time/gpu/gpu.h"
#include "time/machine/machine.h"

enum { PS_PER_NS = 1000 };

struct surroundings *surroundings_new(const struct params *p)
{
  struct surroundings *x = mem_zeroed(1, sizeof *x);
  machine_of_gpu(p->name, p, &x->preset);
  x->topology = topology_new(&x->preset, &x->arena);
  x->socket = (uint16_t)topology_socket(x->topology, x->node);
  return x;
}

void surroundings_free(struct surroundings *x)
{
  if (!x) return;
  surroundings_clear(x);
  places_free(x->places);
  arena_free(&x->arena);
  machine_preset_free(&x->preset);
  mem_free(x);
}

void surroundings_clear(struct surroundings *x)
{
  fabric_free(x->fabric);
  x->fabric = NULL;
}

void surroundings_image(struct surroundings *x, struct gmem *image)
{
  for (unsigned i = 0; i < x->preset.n_sockets; i++) host_mem_image(&x->host[i], image);
}

/* Of the link by which the GPU reaches the host. */
static const struct link_params *host_link(const struct surroundings *x)
{
  const struct topology_hop hop = topology_next(x->topology, x->node, x->node, x->socket, 0);
  return &x->preset.link[x->preset.links[hop.link].group];
}

static void build_hosts(struct surroundings *x)
{
  const struct machine_preset *m = &x->preset;
  for (unsigned i = 0; i < m->n_sockets; i++) {
    host_mem_init(&x->host[i], m->memory_mbps, (picos)m->memory_latency_ns * PS_PER_NS, func_line_apply);
    fabric_serve(x->fabric, m->n_gpus + i, host_mem_serve, &x->host[i]);
  }
}

void surroundings_build(struct surroundings *x, const struct params *p, unsigned threads, struct gpu **gpu,
                        struct machine **machine)
{
  picos window[MACHINE_MAX_NODES] = {0};
  window[x->node] = params_request_ps(p);
  x->fabric = fabric_new(&x->preset, x->topology);
  *gpu = gpu_new_joined(p, NULL, &(struct gpu_join){.node = x->node, .sockets = (uint16_t)x->preset.n_gpus,
                                                    .reads = host_link(x)->reads, .apply = func_line_apply});
  fabric_join(x->fabric, x->node, gpu_ports(*gpu), LINK_PORT__N);
  build_hosts(x);
  x->part = (struct part){&fabric_ops, x->fabric, TIME_NEVER};
  *machine = machine_new(&(struct machine_config){.threads = threads, .domain = (struct domain *[]){gpu_domain(*gpu)},
                                                  .n_domains = 1, .epoch = fabric_epoch(x->fabric, window),
                                                  .part = &x->part, .n_parts = 1});
}

void surroundings_place(struct surroundings *x, uint64_t addr, uint64_t bytes, bool at_host)
{
  if (!x->places && !at_host) return;
  if (!x->places) x->places = places_new();
  places_set(x->places, addr, bytes, at_host ? x->socket : -1);
}

uint64_t surroundings_setup_ps(const struct surroundings *x, const struct params *p)
{
  uint64_t trip = topology_latency(x->topology, x->node, x->socket) +
                  topology_latency(x->topology, x->socket, x->node) + (uint64_t)x->preset.memory_latency_ns * PS_PER_NS;
  uint64_t whole = (uint64_t)p->pcie_latency_ns * PS_PER_NS;
  return whole > trip ? whole - trip : 0;
}
