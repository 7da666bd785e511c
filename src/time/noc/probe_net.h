/* Probes: the third channel of the memory side. What keeps caches coherent asks cores for lines they hold, and they
 * answer. It is apart from requests and replies, so that a probe never waits behind a request that waits for it.
 *
 *   ports    per core that takes probes (core.h: probes, probed) and per slice
 *   time     to a core noc.reply_latency; an answer has its time of arrival from the core, as a request has. Between
 *            partitions as strong requests
 *   order    each port serves in (arrival, sender, sequence) order
 *   absent   a GPU of cores that take none, which SMs are, has no probe_net
 *   params   noc.reply_latency, l2.home_latency
 *   not modelled: bandwidth of the channel
 */
#ifndef WS_TIME_NOC_PROBE_NET_H
#define WS_TIME_NOC_PROBE_NET_H

#include "base/arena.h"
#include "config/params.h"
#include "time/msg.h"
#include "time/noc/inbox.h"

struct probe_net {
  const struct params *params;
  unsigned n_cores, n_slices;
  struct inbox *core;  /* to each core; of one that takes no probes nothing is sent */
  struct inbox *slice; /* to each slice */
  bool *takes;         /* by core */
  picos there, far_extra;
};

void probe_net_init(struct probe_net *, struct arena *, const struct params *);
void probe_net_free(struct probe_net *);

/* Slice side, in its phase. Send: to core p->to; its `arrive` is of no meaning. First: the first answer that comes
 * before `to`, NULL: none; when it has been looked at, pop. */
bool probe_net_takes(const struct probe_net *, unsigned core);
void probe_net_send(struct probe_net *, unsigned slice, const struct probe *, picos now);
void probe_net_look(struct probe_net *, unsigned slice);
picos probe_net_next(const struct probe_net *, unsigned slice); /* arrival of the first answer; TIME_NEVER: none */
struct probe probe_net_pop(struct probe_net *, unsigned slice);
bool probe_net_busy(const struct probe_net *, unsigned slice);

/* Core side, in its phase: probes due before `to`, answers into the network. Returns the arrival of the first probe
 * that is still inside. */
picos probe_net_deliver(struct probe_net *, unsigned core, struct probe_queue *to_core, picos to);
void probe_net_answer(struct probe_net *, unsigned core, struct probe_queue *from);

#endif
