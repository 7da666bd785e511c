/* What cores of a GPU ask of memory that is elsewhere: the receiver of the crossbar that is no slice.
 *
 *   in       strong requests whose mem_req.to names a node: loads, stores, atomics of a line
 *   out      messages over links, one each; answers come back as replies of the crossbar
 *   values   of a store: what the core's lanes write, as they write it into a line that stands for the one at home; of
 *            an atomic its operands; loads and atomics then run on the bytes that came, so that lanes get what they
 *            would have got there
 *   limits   `reads` loads and atomics of the host's memory under way, `peer_reads` of other GPUs', HUB_MESSAGES
 *            requests; behind that, requests wait in the crossbar
 *   managed  memory that is not on the GPU: requests wait for the driver, and are answered with REQ_AGAIN
 *   order    requests in the crossbar's order (arrival, SM, sequence); those of one line take one way
 *   time     a port of dma.bytes_per_cycle either way
 *   not modelled: copies of what is elsewhere in L2; combining of stores
 */
#ifndef WS_TIME_LINK_HUB_OUT_H
#define WS_TIME_LINK_HUB_OUT_H

#include "time/core/core.h"
#include "time/link/link_port.h"
#include "time/noc/xbar.h"
#include "time/uvm/uvm.h"

enum { HUB_MESSAGES = 4096 };

struct hub_out_config {
  const struct params *params;
  uint16_t node;
  uint16_t sockets;           /* the first node that is no GPU */
  uint32_t reads, peer_reads; /* most under way */
};

struct hub_out_stats {
  uint64_t requests, replies, sectors[L2_OP__N];
  uint64_t copied;    /* of those, sectors that copies of SMs store */
  uint64_t reads;     /* requests that cores wait for: loads and atomics; those of missing pages are none */
  uint64_t read_wait; /* ps, summed: from when they leave the crossbar to when their answers go into it */
};

struct hub_out {
  struct hub_out_config cfg;
  struct link_port port;
  /* ports */
  struct xbar *xbar;
  struct core *const *core;
  struct gmem *image; /* of addresses that are nowhere, for the fault */
  struct uvm *uvm;    /* takes what touches managed memory that is not here; its steps for the GPU are this part's;
                         NULL: none */
  /* state */
  struct mem_req *sent; /* [HUB_MESSAGES] by tag */
  picos *sent_at;       /* when it left the crossbar */
  uint16_t *spare, n_spare;
  uint32_t reads_left, peer_reads_left;
  struct fault fault;
  struct hub_out_stats stats;
};

void hub_out_init(struct hub_out *, struct arena *, const struct hub_out_config *);
void hub_out_free(struct hub_out *);
void hub_out_start(struct hub_out *, struct gmem *image);

extern const struct part_ops hub_out_ops;

#endif
