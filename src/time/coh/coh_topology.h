/* Where the nodes of coherent memory stand, and by which links they reach each other.
 *
 *   crossbar  one switch between all: 1 hop
 *   ring      both ways round, the shorter one; with equal ways, upwards: min(d, n - d) hops
 *   mesh      rows of `width`, first along the row, then along the column: |dx| + |dy| hops
 *   clusters  a crossbar for each; between two of them one link more: 1 hop or 2
 *
 * A node reaches itself in 0 hops. A link is one direction of one. */
#ifndef WS_TIME_COH_COH_TOPOLOGY_H
#define WS_TIME_COH_COH_TOPOLOGY_H

#include <stdint.h>

#include "base/arena.h"

#define COH_TOPOLOGY_LIST(X) X(CROSSBAR, "crossbar") X(RING, "ring") X(MESH, "mesh") X(CLUSTERS, "clusters")

enum coh_topology_kind {
#define X(id, name) COH_##id,
  COH_TOPOLOGY_LIST(X)
#undef X
};

struct coh_topology {
  enum coh_topology_kind kind;
  uint32_t n_nodes, width;  /* width: of a mesh, >= 1 */
  uint32_t n_clusters;
  const uint8_t *cluster;   /* of each node, below n_clusters; of COH_CLUSTERS */
};

uint32_t coh_topology_links(const struct coh_topology *);
uint32_t coh_topology_hops(const struct coh_topology *, uint32_t from, uint32_t to);
/* The links of the way, in order, into `link`, which has room for coh_topology_links of them. Returns how many. */
uint32_t coh_topology_route(const struct coh_topology *, uint32_t from, uint32_t to, uint32_t *link);

#endif
