#include "config/topology.h"

#include <string.h>

#include "base/bug.h"

enum { FAR = 1 << 30 };

/* Between GPUs only links for peers count. */
enum way { WAY_HOST, WAY_PEERS, WAY__N };

struct ways {
  uint32_t cost;
  uint32_t lanes; /* of all hops */
  uint16_t n;
  const struct topology_hop *hop;
};

struct topology {
  const struct machine_preset *m;
  unsigned n_nodes, n_ends; /* ends: GPUs and sockets */
  struct ways *ways;        /* [way][to][at] */
};

static const struct ways *ways_of(const struct topology *t, enum way w, unsigned at, unsigned to)
{
  return &t->ways[(w * t->n_ends + to) * t->n_nodes + at];
}

static enum way way_of(const struct topology *t, unsigned from, unsigned to)
{
  return from < t->m->n_gpus && to < t->m->n_gpus ? WAY_PEERS : WAY_HOST;
}

static uint32_t cost_of(const struct machine_preset *m, const struct machine_link *l, enum way w)
{
  static const uint8_t cost[LINK__N] = {[LINK_PCIE] = 4, [LINK_NVLINK] = 1, [LINK_C2C] = 1, [LINK_SOCKET] = 8};
  const struct link_params *p = &m->link[l->group];
  return w == WAY_PEERS && !p->peer ? FAR : cost[p->kind];
}

/* --- building ----------------------------------------------------------------------------------- */

/* Costs to one node, by relaxing all links until none does better: machines are small. */
static void find_costs(struct topology *t, enum way w, unsigned to)
{
  const struct machine_preset *m = t->m;
  struct ways *ways = &t->ways[(w * t->n_ends + to) * t->n_nodes];
  for (unsigned i = 0; i < t->n_nodes; i++) ways[i].cost = FAR;
  ways[to].cost = 0;
  for (bool better = true; better;) {
    better = false;
    for (unsigned i = 0; i < 2 * m->n_links; i++) {
      const struct machine_link *l = &m->links[i / 2];
      unsigned at = l->end[i % 2], next = l->end[1 - i % 2];
      uint32_t cost = ways[next].cost + cost_of(m, l, w);
      if ((next < m->n_gpus && next != to) || cost >= ways[at].cost || cost >= FAR) continue;
      ways[at].cost = cost;
      better = true;
    }
  }
}

static void find_hops(struct topology *t, enum way w, unsigned to, unsigned at, struct arena *a)
{
  const struct machine_preset *m = t->m;
  struct ways *x = &t->ways[(w * t->n_ends + to) * t->n_nodes + at];
  struct topology_hop found[MACHINE_MAX_LINKS];
  if (x->cost == 0 || x->cost >= FAR) return;
  for (unsigned i = 0; i < 2 * m->n_links; i++) {
    const struct machine_link *l = &m->links[i / 2];
    unsigned next = l->end[1 - i % 2];
    if (l->end[i % 2] != at || (next < m->n_gpus && next != to) || x->n == MACHINE_MAX_LINKS) continue;
    if (ways_of(t, w, next, to)->cost + cost_of(m, l, w) != x->cost) continue;
    found[x->n++] = (struct topology_hop){(uint16_t)(i / 2), (uint16_t)next, i % 2};
    x->lanes += m->link[l->group].lanes;
  }
  struct topology_hop *hop = ARENA_ARRAY(a, struct topology_hop, x->n);
  memcpy(hop, found, x->n * sizeof *hop);
  x->hop = hop;
}

struct topology *topology_new(const struct machine_preset *m, struct arena *a)
{
  struct topology *t = ARENA_NEW(a, struct topology);
  *t = (struct topology){.m = m, .n_nodes = machine_nodes(m), .n_ends = m->n_gpus + m->n_sockets};
  t->ways = ARENA_ARRAY(a, struct ways, (size_t)WAY__N * t->n_ends * t->n_nodes);
  for (enum way w = 0; w < WAY__N; w++)
    for (unsigned to = 0; to < t->n_ends; to++) {
      find_costs(t, w, to);
      for (unsigned at = 0; at < t->n_nodes; at++) find_hops(t, w, to, at, a);
    }
  return t;
}

/* --- ways --------------------------------------------------------------------------------------- */

bool topology_reaches(const struct topology *t, unsigned from, unsigned to)
{
  return ways_of(t, way_of(t, from, to), from, to)->cost < FAR;
}

unsigned topology_hops(const struct topology *t, unsigned from, unsigned at, unsigned to,
                       const struct topology_hop **hop)
{
  const struct ways *x = ways_of(t, way_of(t, from, to), at, to);
  *hop = x->hop;
  return x->n;
}

struct topology_hop topology_next(const struct topology *t, unsigned from, unsigned at, unsigned to, uint64_t hash)
{
  const struct ways *x = ways_of(t, way_of(t, from, to), at, to);
  BUG_ON(!x->n);
  if (x->n == 1) return x->hop[0];
  /* Fibonacci hashing: neighbours and strides alike go round all lanes. */
  uint32_t lane = (uint32_t)((hash * 0x9e3779b97f4a7c15u >> 32) * x->lanes >> 32);
  for (unsigned i = 0;; i++) {
    uint32_t lanes = t->m->link[t->m->links[x->hop[i].link].group].lanes;
    if (lane < lanes) return x->hop[i];
    lane -= lanes;
  }
}

/* 0 to 2 * links - 1, as fabric.h numbers wires; none: the number behind them. */
static unsigned find_link(const struct topology *t, unsigned at, unsigned next)
{
  const struct machine_link *l = t->m->links;
  unsigned i = 0;
  while (i < 2 * t->m->n_links && (l[i / 2].end[i % 2] != at || l[i / 2].end[1 - i % 2] != next)) i++;
  return i;
}

struct topology_hop topology_link(const struct topology *t, unsigned at, unsigned next)
{
  const unsigned i = find_link(t, at, next);
  BUG_ON(i == 2 * t->m->n_links);
  return (struct topology_hop){(uint16_t)(i / 2), (uint16_t)next, i % 2};
}

bool topology_multicasts(const struct topology *t, const unsigned *gpu, unsigned n)
{
  for (unsigned i = 0; i < n * n; i++) {
    const unsigned from = gpu[i / n], to = gpu[i % n];
    const struct topology_hop *hop;
    const unsigned hops = from == to ? 0 : topology_hops(t, from, from, to, &hop);
    if (from != to && !hops) return false;
    for (unsigned k = 0; k < hops; k++) {
      const unsigned node = hop[k].node;
      if (machine_node_kind(t->m, node) != NODE_SWITCH || !machine_switch(t->m, node)->multicast) return false;
      if (find_link(t, node, to) == 2 * t->m->n_links) return false;
    }
  }
  return n > 1;
}

/* --- looking at them ---------------------------------------------------------------------------- */

uint64_t link_payload_rate(const struct link_params *p, bool back)
{
  uint64_t raw = (uint64_t)(back ? p->back_mbps : p->mbps) * p->lanes * 1000000;
  return (uint64_t)((double)raw * p->copy_packet_bytes / (p->copy_packet_bytes + p->overhead_bytes));
}

/* Hops at a node are used at once; of the nodes behind them the first stands for all. */
uint64_t topology_rate(const struct topology *t, unsigned from, unsigned to)
{
  uint64_t least = UINT64_MAX, share = 1;
  for (unsigned at = from; at != to;) {
    const struct topology_hop *hop;
    unsigned n = topology_hops(t, from, at, to, &hop);
    uint64_t rate = 0;
    for (unsigned i = 0; i < n; i++)
      rate += link_payload_rate(&t->m->link[t->m->links[hop[i].link].group], hop[i].back);
    if (rate * share < least) least = rate * share;
    share *= n;
    at = hop[0].node;
  }
  return least;
}

uint64_t topology_latency(const struct topology *t, unsigned from, unsigned to)
{
  uint64_t ns = 0;
  for (unsigned at = from; at != to;) {
    const struct topology_hop *hop;
    topology_hops(t, from, at, to, &hop);
    ns += t->m->link[t->m->links[hop->link].group].latency_ns;
    at = hop->node;
    if (at != to && machine_node_kind(t->m, at) == NODE_SWITCH) ns += machine_switch(t->m, at)->latency_ns;
  }
  return ns * 1000;
}

uint32_t topology_atomics(const struct topology *t, unsigned from, unsigned to)
{
  uint32_t least = LINK_ATOMICS_ALL;
  for (unsigned at = from; at != to;) {
    const struct topology_hop hop = topology_next(t, from, at, to, 0);
    const uint32_t these = t->m->link[t->m->links[hop.link].group].atomics;
    if (these < least) least = these;
    at = hop.node;
  }
  return least;
}

unsigned topology_socket(const struct topology *t, unsigned gpu)
{
  unsigned best = t->m->n_gpus;
  for (unsigned i = t->m->n_gpus; i < t->n_ends; i++)
    if (ways_of(t, WAY_HOST, gpu, i)->cost < ways_of(t, WAY_HOST, gpu, best)->cost) best = i;
  return best;
}

/* NV: the lanes by which it leaves; else what lies between. Where peers have no way, the way there would be. */
const char *topology_label(const struct topology *t, unsigned from, unsigned to, char buf[16])
{
  enum way w = way_of(t, from, to);
  if (ways_of(t, w, from, to)->cost >= FAR) w = WAY_HOST;
  unsigned switches = 0, sockets = 0;
  const struct ways *first = ways_of(t, w, from, to);
  enum link_kind kind = t->m->link[t->m->links[first->hop->link].group].kind;
  for (unsigned at = from; at != to;) {
    at = ways_of(t, w, at, to)->hop->node;
    if (at == to) break;
    switches += machine_node_kind(t->m, at) == NODE_SWITCH;
    sockets += machine_node_kind(t->m, at) == NODE_SOCKET;
  }
  if (to >= t->m->n_gpus) sockets++;
  if (kind == LINK_NVLINK) snprintf(buf, 16, "NV%u", first->lanes);
  else if (kind == LINK_C2C) snprintf(buf, 16, "C2C");
  else snprintf(buf, 16, "%s", sockets > 1 ? "SYS" : sockets ? "PHB" : switches > 1 ? "PXB" : "PIX");
  return buf;
}
