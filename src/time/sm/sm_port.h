/* The SM's ports into the two networks: the crossbar to the L2 slices, and the SM-to-SM network of clusters.
 *
 *   params  noc.sm_request_bytes: what the port into the crossbar takes in a cycle; noc.sm_queue; tlb.*, vm.page_bits;
 *           cluster.bytes_per_cycle, cluster.hop_latency, cluster.arrive_cycles; l1i.mshr_entries
 *   full    an access asks sm_port_has_room first; lines of code and constants do not, room is kept for them
 *   ports   in: requests of the memory unit, the copy engine and the code caches
 *           out: requests to the memory side, messages to other SMs; replies and messages of others are queued here and
 *           taken by the memory unit
 *   time    a message without data takes a cycle of its port, one with data as long as they need; then request_time to
 *           the slice, cluster_time to the other SM. A page that the TLB does not know delays its request behind the
 *           port (tlb.h, page_wait.h)
 */
#ifndef WS_TIME_SM_SM_PORT_H
#define WS_TIME_SM_SM_PORT_H

#include "config/params.h"
#include "time/msg.h"
#include "time/sm/page_wait.h"
#include "time/sm/sm_stats.h"
#include "time/sm/tlb.h"
#include "time/sm/txn.h"

struct sm_port {
  unsigned sm, request_bytes, queue, code_room;
  unsigned cluster_bytes;  /* per cycle */
  bool free_of_charge;     /* ideal.l2_bandwidth */
  picos period, request_time, cluster_time; /* a cycle; SM to L2 slice; through the SM-to-SM network */
  picos arrival_time;      /* of a CTA at the barrier of its cluster */
  /* state */
  struct tlb tlb;
  struct page_wait pages;  /* in the place of the second level of `tlb`, where a CPU has page tables */
  uint64_t free_at;
  uint64_t cluster_free_at;
  picos cluster_last;      /* what has passed it last will be there */
  unsigned users;          /* SMs that take turns at it in this window (netlist_share_ports) */
  uint32_t outstanding;    /* requests not answered */
  /* ports */
  struct req_queue out;
  struct reply_queue in;
  struct cluster_queue cluster_out, cluster_in; /* accesses, arrivals, exits; answers */
  struct sm_stats *stats;
};

/* messages: what the SM-to-SM queues hold at most. */
void sm_port_init(struct sm_port *, struct arena *, const struct params *, unsigned sm, unsigned messages);

/* From now on translations come from there, for all SMs alike (time/mem/mmu.h); nothing has been sent yet. */
void sm_port_walk(struct sm_port *, struct arena *, const struct page_tables *);

/* Can the port take the requests for so many lines? */
bool sm_port_has_room(const struct sm_port *, unsigned lines, uint64_t now);

/* A line of the transaction `t`; to: mem_req.to. */
void sm_port_send(struct sm_port *, const struct txn *t, enum req_kind, struct txn_line, uint8_t to, uint64_t now);

/* Asks L2 for a line of code or constants, in cycle `now` or later. */
void sm_port_read_code(struct sm_port *, uint64_t line, uint64_t now);

/* Has L2 read a line of code from cycle `at` on, beside the port: a hint, dropped when too much is on its way. */
void sm_port_prefetch_code(struct sm_port *, uint64_t line, uint64_t at);

/* The way through the SM-to-SM network is taken by so many bytes; the cycle in which they pass. */
uint64_t sm_port_cluster_take(struct sm_port *, unsigned bytes, uint64_t now);

/* A message into the SM-to-SM network, with so many bytes of data. */
void sm_port_cluster_send(struct sm_port *, struct cluster_msg, unsigned bytes, uint64_t now);

/* The port into the crossbar stood still for so long, ps. */
void sm_port_stood(struct sm_port *, picos);

/* Has it work beyond `now`, ps? */
static inline bool sm_port_busy(const struct sm_port *p, picos now)
{
  return p->free_at * p->period > now;
}

#endif
