/* SM-to-SM network: accesses to shared memory of other CTAs of a cluster, and the barrier of the cluster.
 *
 *   ports    per SM: messages in (accesses, arrivals at the barrier, CTAs that have exited); out: answers, ends of
 *            phases
 *   time     an access passes its SM's port with the data it brings (cluster.bytes_per_cycle, sm_port.c), takes
 *            cluster.hop_latency, passes the port of each SM whose memory it touches with the larger of what it brings
 *            and takes, and takes cluster.hop_latency back. A hop takes at least a window (time/domain.h)
 *   copies   of the copy engine (sm/copy_engine.h): performed when their last byte has crossed the network.
 *            Multicasts come at noc.sm_reply_bytes
 *   order    performed in (arrival, SM, sequence) order, alone, at the end of the window
 *   barrier  an arrival takes cluster.arrive_cycles, or as long as what its SM sent before (sm_port.c). A phase ends
 *            when the last CTA that has not exited has arrived; cluster.barrier_cycles later, a window at least, its
 *            CTAs know
 *   params   cluster.*
 *   not modelled: routes inside a GPC, bank conflicts of accesses from other SMs and the cycles they take there
 */
#ifndef WS_TIME_NOC_CLUSTER_NET_H
#define WS_TIME_NOC_CLUSTER_NET_H

#include "base/arena.h"
#include "config/params.h"
#include "isa/step.h"
#include "time/msg.h"
#include "time/server.h"

enum { CLUSTER_MAX_MEMBERS = 16 };

/* What an access moves. */
struct cluster_load {
  unsigned n;
  bool streamed; /* the last byte comes now: the others have been coming at the rate of the port */
  bool crossbar; /* they come by the crossbar, as answers of L2 do: multicasts */
  struct cluster_part {
    unsigned sm;
    uint32_t bytes;
  } part[CLUSTER_MAX_MEMBERS]; /* per SM whose memory it touches */
};

/* Performs transaction `txn` of an SM and says what it moved. False: fault. */
typedef bool cluster_perform_fn(void *ctx, unsigned sm, unsigned txn, picos now, struct cluster_load *, struct fault *);

/* What the network sees of an SM; the caller sets it. */
struct cluster_port {
  struct cluster_queue *in;               /* from the SM */
  struct cluster_queue *answers, *releases; /* to it */
  struct server memory;                   /* its shared memory, for others */
  struct server multicast;                /* the same, for what comes by the crossbar */
};

/* A cluster of which a CTA has arrived or exited. */
struct cluster_state {
  uint64_t number; /* in its grid */
  uint32_t grid;
  unsigned n; /* CTAs that have been heard of */
  struct cluster_member {
    uint64_t cta;
    uint16_t sm;
    bool arrived, exited;
  } member[CLUSTER_MAX_MEMBERS];
};

struct cluster_net {
  unsigned n_ports;
  struct cluster_port *port;
  picos hop, barrier;
  struct step_source *source[GRID_SLOTS]; /* of the grids that run, those with clusters */
  unsigned n_sources;
  struct cluster_state *state;
  unsigned n_states, max_states;
  uint64_t messages;
  cluster_perform_fn *perform;
  void *ctx;
  struct fault fault;
};

void cluster_net_init(struct cluster_net *, struct arena *, const struct params *, cluster_perform_fn *, void *ctx);
/* All grids are gone. */
void cluster_net_start(struct cluster_net *);
/* A grid comes, or goes. */
void cluster_net_open(struct cluster_net *, unsigned slot, struct step_source *);
void cluster_net_close(struct cluster_net *, unsigned slot);

picos cluster_net_run(void *self, picos from, picos to);
uint64_t cluster_net_progress(const void *self);
bool cluster_net_busy(const void *self);
void cluster_net_dump(const void *self, FILE *);

#endif
