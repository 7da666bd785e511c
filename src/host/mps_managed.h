/* Managed memory of the clients of the Multi-Process Service at their server: one driver has the ranges of all, which
 * do not meet, since each client has a part of the addresses.
 *
 *   client   has what the server told it of its own: which pages are where. What its program does between windows it
 *            says as a uvm_op, and hears what that has changed; behind a run it hears what has changed meanwhile. Time
 *            passes only while it waits, so nothing has changed when it looks
 *   blocks   are told when they differ from what was told before
 *   limits   256 GiB of all its ranges together, in blocks, inside the client's part of the addresses; times of the
 *            program's clock up to 53 days
 */
#ifndef WS_HOST_MPS_MANAGED_H
#define WS_HOST_MPS_MANAGED_H

#include "host/mps_client.h"

/* Pages [addr, addr + bytes) are in one of its ranges. */
bool mps_managed_has(const struct mps_client *, uint64_t addr, uint64_t bytes);
/* An operation; false: nonsense. */
bool mps_managed_act(struct mps_client *, struct uvm_machine *, struct uvm_op *, struct uvm_host_fault *);
/* Blocks that may have changed: all of the client, or those that an operation of it changes. */
struct mps_look {
  uint32_t range, end;  /* [range, end) of its ranges; */
  uint64_t block, past; /* from this block of the first one on, before that block of each */
};
struct mps_look mps_managed_all(const struct mps_client *);
struct mps_look mps_managed_behind(const struct mps_client *, const struct uvm_op *);
/* The next of them that has changed since it was told; false: there is none. */
bool mps_managed_next(struct mps_client *, const struct uvm_machine *, struct mps_look *, struct mps_block *);
/* The client is gone. */
void mps_managed_end(struct mps_client *, struct uvm_machine *);

#endif
