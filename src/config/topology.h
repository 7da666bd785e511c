/* Ways through a machine: which link a message takes at each node on its way from one node to another.
 *
 *   ways   the cheapest: an NVLink or C2C costs 1, PCI Express 4, a link between sockets 8. GPUs pass nothing on.
 *          What goes from one GPU to another takes only links that peers may use (machine_preset.h)
 *   hash   several of equal cost share the traffic, by their lanes and a hash of what is addressed: a static route
 */
#ifndef WS_CONFIG_TOPOLOGY_H
#define WS_CONFIG_TOPOLOGY_H

#include "config/machine_preset.h"

struct topology;

struct topology_hop {
  uint16_t link; /* of the preset's links */
  uint16_t node; /* where it leads */
  bool back;     /* from its second end to its first */
};

/* The preset lives as long as the arena. */
struct topology *topology_new(const struct machine_preset *, struct arena *);

/* Whether anything that `from` sends reaches `to`, both GPUs or sockets. */
bool topology_reaches(const struct topology *, unsigned from, unsigned to);

/* The next hop, at node `at`, of what goes from `from` to `to`, which it reaches from there. */
struct topology_hop topology_next(const struct topology *, unsigned from, unsigned at, unsigned to, uint64_t hash);

/* The link from one node to the next; there is one. */
struct topology_hop topology_link(const struct topology *, unsigned at, unsigned next);

/* Whether each of these GPUs reaches the others by switches that send to several (machine_preset.h) and have a link to
 * every one of them. */
bool topology_multicasts(const struct topology *, const unsigned *gpu, unsigned n);

/* All hops of equal cost there, and how many: for those who show them. */
unsigned topology_hops(const struct topology *, unsigned from, unsigned at, unsigned to, const struct topology_hop **);

/* Bytes of payload per second that way, at most; latency of links and switches on it, one way, ps. */
uint64_t topology_rate(const struct topology *, unsigned from, unsigned to);
uint64_t topology_latency(const struct topology *, unsigned from, unsigned to);

/* What atomics pass the weakest link of that way: enum link_atomics. */
uint32_t topology_atomics(const struct topology *, unsigned from, unsigned to);

/* The socket whose memory is nearest. */
unsigned topology_socket(const struct topology *, unsigned gpu);

/* How two GPUs or a GPU and a socket are joined, by the names of nvidia-smi topo: NV and the number of links; C2C; PIX
 * (one PCI Express switch at most), PXB (several), PHB (a socket), SYS (several sockets). */
const char *topology_label(const struct topology *, unsigned from, unsigned to, char buf[16]);

/* Of a group of links, with all its lanes, one way: payload of full packets per second. */
uint64_t link_payload_rate(const struct link_params *, bool back);

#endif
