/* Crossbar between SMs and L2 slices: one network for requests, one for replies.
 *
 *   ports    per SM: requests in (its port is timed by the SM's memory unit), replies out;
 *            per slice: requests out, replies in. Two more receivers of requests: number n_slices takes
 *            runtime service calls, n_slices + 1 what is for memory behind links (mem_req.to).
 *   time     request: SM port, noc.request_latency, slice port (noc.slice_request_bytes per cycle);
 *            reply: slice port (noc.slice_reply_bytes), noc.reply_latency, SM port
 *            (noc.sm_reply_bytes). A message holds a port for its data, without data for one flit
 *            of 32 bytes; the head is not delayed by its own tail.
 *   link     between slices of equal number in the two L2 partitions: l2.link_bytes_per_cycle of all
 *            slices, noc.request_latency; what a slice sends in a window leaves it at the window's end
 *   far      SM and home slice in different partitions: weak loads go to the near slice; other
 *            requests and their answers take half of l2.home_latency - l2.latency more
 *   order    each port serves in (arrival, sender, sequence) order
 *   queues   in front of the receiving ports (inbox.h). A request stays there while the queue of its slice is full.
 *            Of one SM the crossbar holds noc.sm_buffer messages; then the SM's port stands still until
 *            slices have taken some, also for messages to slices with room. It hears of that a window
 *            later, as of everything else. Replies are always taken
 *   callers  no cycle of its own. netlist.c brings what SMs send (xbar_inject) and what they get
 *            (xbar_deliver); slices, commit.c and hub_out.c take requests and answer them
 *   params   noc.*, l2.slices, l2.slice_hash, l2.clock_khz
 *   not modelled: stages inside the crossbar, virtual channels
 *
 * SMs and slices run in different phases of a window (time/domain.h). What several senders touch of one receiver in one
 * phase is updated atomically and in a way that order does not matter.
 */
#ifndef WS_TIME_NOC_XBAR_H
#define WS_TIME_NOC_XBAR_H

#include "base/arena.h"
#include "config/params.h"
#include "time/msg.h"
#include "time/noc/inbox.h"
#include "time/noc/noc_stats.h"
#include "time/server.h"

/* Receivers besides slices. */
enum { XBAR_OTHERS = 2 };

/* Queue of one writer and one reader. */
struct xbar_lane {
  struct mem_req *slot; /* ring, grows */
  uint32_t cap, head, n;
};

/* Messages between partitions that belong to one slice. */
struct xbar_link {
  struct server out;
  struct xbar_lane sent;     /* in this window */
  struct xbar_lane requests; /* arrived: reads of the other partition */
  struct xbar_lane fills;    /* arrived: answers and invalidations; never wait for anything */
};

/* The sending or receiving side of one SM or slice. */
struct xbar_side {
  struct server in, out;
  picos last_out; /* of what was sent */
  uint64_t sent;  /* SM: messages that entered the crossbar; of those, */
  uint64_t taken; /* that slices took, in windows before */
  bool held;      /* SM: messages wait at its port for room in the crossbar */
  unsigned buffer; /* SM: most of its messages inside the crossbar */
  struct noc_stats stats;
};

struct xbar {
  const struct params *params;
  unsigned n_senders; /* of requests: SMs, then other requesters */
  unsigned n_slices;  /* slices without the service receiver */
  struct inbox *request; /* per slice, and one for services */
  struct inbox *reply;   /* per SM; senders: as receivers of requests, then the far partition's */
  struct xbar_side *sm, *slice; /* sm: of each sender */
  struct xbar_link *link; /* per slice; NULL: one partition */
  picos request_latency, reply_latency, far_extra;
};

/* more: requesters besides the SMs, numbered behind them (time/core/requester.h); they are near to both partitions. */
void xbar_init(struct xbar *, struct arena *, const struct params *, unsigned more);
/* The port of what is for memory behind links: bytes per cycle of L2, either way. */
void xbar_outward(struct xbar *, uint32_t bytes_per_cycle);
/* Such a requester's port: bytes of answers per cycle of L2, most messages of its inside the crossbar. */
void xbar_port(struct xbar *, unsigned sender, uint32_t bytes_per_cycle, unsigned buffer);
void xbar_free(struct xbar *);

/* SM side, called by the part of that SM: requests into the network, as far as it has room; replies due
 * before `to` out of it. xbar_sm_next: arrival of the first reply still inside. */
void xbar_inject(struct xbar *, unsigned sm, struct req_queue *from);
/* At the start of a window, `now`: what found no room in the last one leaves now at the earliest. How long
 * the port stood still for it, ps; all messages in the queue are late by that. */
picos xbar_stood(struct xbar *, unsigned sm, struct req_queue *, picos now);
void xbar_deliver(struct xbar *, unsigned sm, struct reply_queue *to_sm, picos to);
picos xbar_sm_next(const struct xbar *, unsigned sm);

/* Slice side, called by the part of that slice. Look first: it takes note of new messages. */
void xbar_look(struct xbar *, unsigned slice);
/* Time from which the first request can be taken; TIME_NEVER: there is none. */
picos xbar_ready(const struct xbar *, unsigned slice);
const struct mem_req *xbar_front(const struct xbar *, unsigned slice);
/* Takes the first request at `now`: the port is busy for the length of the message, and its SM may send one
 * more. */
void xbar_pop(struct xbar *, unsigned slice, picos now);
/* Answers a request with `bytes` of data (0: none): they pass the slice's port now and leave `latency`
 * later. Calls of one slice come in ascending `now`; of_far: with a latency of its own, answers do not
 * queue behind others on their way. */
void xbar_answer(struct xbar *, unsigned slice, const struct mem_req *, picos now, picos latency,
                 bool of_far, unsigned bytes);
/* The same by another port than the slice's (NULL: the slice's). */
void xbar_answer_by(struct xbar *, unsigned slice, struct server *port, const struct mem_req *, picos now,
                    picos latency, bool of_far, unsigned bytes);

/* The link between partitions, slice side. Send: to the slice's peer, with `bytes` of data. Front: the
 * first message that has arrived or will, NULL: none; read and pop by the slice that got it. */
void xbar_link_send(struct xbar *, unsigned slice, const struct mem_req *, picos now, unsigned bytes);
struct mem_req *xbar_lane_front(const struct xbar_lane *);
void xbar_lane_pop(struct xbar_lane *);
/* Alone, between windows: what slices sent reaches the queues of their peers. */
void xbar_link_move(struct xbar *);

/* Messages on their way, for the deadlock report. */
unsigned xbar_requests_waiting(const struct xbar *, unsigned slice);

void xbar_sum(const struct xbar *, struct noc_stats *);

#endif
