/* The network between caches and homes of coherent memory; a part of the serial phase.
 *
 *   in/out   queues of the nodes' ports (coh_msg.h), six networks of which none keeps another
 *   time     per hop `hop` and, on each link of the way, the bytes of the message at a rate that all share, in the
 *            order in which messages leave. The head goes on while the tail follows: one time of the bytes in all
 *   order    messages of one network from one node to another keep theirs
 *   room     a message leaves when its receiver has room for it; one that has none keeps those behind it
 *   shake    extra time of each message, drawn, for tests: other orders, the same results
 *   not modelled: buffers of routers; turns of a mesh that block each other
 */
#ifndef WS_TIME_COH_COH_NET_H
#define WS_TIME_COH_COH_NET_H

#include "time/coh/coh_msg.h"
#include "time/coh/coh_topology.h"

enum { COH_HEAD_BYTES = 8 }; /* of a message; guess: an address and a type */

struct coh_net_config {
  struct coh_topology topology;
  picos hop;                /* ps */
  uint64_t femtos_per_byte; /* of a link */
  picos shake;              /* at most so much more, ps */
  uint64_t seed;
};

struct coh_net_stats {
  uint64_t messages, hops, bytes;
};

struct coh_net_part {
  struct coh_net_config cfg;
  struct coh_port *port;  /* [n_nodes] */
  uint64_t *link_free_fs; /* [links] */
  picos *last;            /* [n_nodes][n_nodes][COH_NETS]: latest arrival */
  uint32_t *route;
  uint64_t draws;
  struct coh_net_stats stats;
};

/* Ports of all nodes, with `places` places in each queue; the caller sets their `wake`. */
void coh_net_init(struct coh_net_part *, const struct coh_net_config *, uint32_t places, struct arena *);
/* Moves what leaves before `to`. Returns when there is something to do again, ps. */
picos coh_net_run(struct coh_net_part *, picos from, picos to);
bool coh_net_busy(const struct coh_net_part *);

#endif
