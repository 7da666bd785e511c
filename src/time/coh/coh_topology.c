#include "time/coh/coh_topology.h"

#include <stdbool.h>

#include "base/arith.h"
#include "base/bug.h"

/* Links are numbered by node and direction. */
enum { OUT, IN, PER_NODE_STAR };
enum { UPWARDS, DOWNWARDS, PER_NODE_RING };
enum { EAST, WEST, SOUTH, NORTH, PER_NODE_MESH };

uint32_t coh_topology_links(const struct coh_topology *t)
{
  switch (t->kind) {
  case COH_CROSSBAR: return t->n_nodes * PER_NODE_STAR;
  case COH_RING: return t->n_nodes * PER_NODE_RING;
  case COH_MESH: return (uint32_t)div_up(t->n_nodes, t->width) * t->width * PER_NODE_MESH;
  case COH_CLUSTERS: return t->n_nodes * PER_NODE_STAR + t->n_clusters * t->n_clusters;
  }
  BUG_ON(true);
}

static uint32_t apart(uint32_t a, uint32_t b)
{
  return a < b ? b - a : a - b;
}

uint32_t coh_topology_hops(const struct coh_topology *t, uint32_t from, uint32_t to)
{
  if (from == to) return 0;
  uint32_t d = apart(from, to);
  switch (t->kind) {
  case COH_CROSSBAR: return 1;
  case COH_RING: return d < t->n_nodes - d ? d : t->n_nodes - d;
  case COH_MESH: return apart(from % t->width, to % t->width) + apart(from / t->width, to / t->width);
  case COH_CLUSTERS: return t->cluster[from] == t->cluster[to] ? 1 : 2;
  }
  BUG_ON(true);
}

static uint32_t star_route(const struct coh_topology *t, uint32_t from, uint32_t to, uint32_t *link)
{
  uint32_t n = 0;
  link[n++] = from * PER_NODE_STAR + OUT;
  if (t->kind == COH_CLUSTERS && t->cluster[from] != t->cluster[to])
    link[n++] = t->n_nodes * PER_NODE_STAR + t->cluster[from] * t->n_clusters + t->cluster[to];
  link[n++] = to * PER_NODE_STAR + IN;
  return n;
}

static uint32_t ring_route(const struct coh_topology *t, uint32_t from, uint32_t to, uint32_t *link)
{
  uint32_t upwards = (to + t->n_nodes - from) % t->n_nodes, n = 0;
  bool up = upwards <= t->n_nodes - upwards;
  for (uint32_t at = from; at != to; at = (at + (up ? 1 : t->n_nodes - 1)) % t->n_nodes)
    link[n++] = at * PER_NODE_RING + (up ? UPWARDS : DOWNWARDS);
  return n;
}

static uint32_t mesh_route(const struct coh_topology *t, uint32_t from, uint32_t to, uint32_t *link)
{
  uint32_t x = from % t->width, y = from / t->width, n = 0;
  for (; x != to % t->width; x += x < to % t->width ? 1u : -1u)
    link[n++] = (y * t->width + x) * PER_NODE_MESH + (x < to % t->width ? EAST : WEST);
  for (; y != to / t->width; y += y < to / t->width ? 1u : -1u)
    link[n++] = (y * t->width + x) * PER_NODE_MESH + (y < to / t->width ? SOUTH : NORTH);
  return n;
}

uint32_t coh_topology_route(const struct coh_topology *t, uint32_t from, uint32_t to, uint32_t *link)
{
  if (from == to) return 0;
  if (t->kind == COH_RING) return ring_route(t, from, to, link);
  return t->kind == COH_MESH ? mesh_route(t, from, to, link) : star_route(t, from, to, link);
}
