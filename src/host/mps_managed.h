/* Managed memory of the clients of the Multi-Process Service at their server: one driver has the ranges of all, which
 * do not meet, since each client has a part of the addresses.
 *
 *   client   has what the server told it of its own: which pages are where. What its program does between windows it
 *            says as a uvm_op, and hears what that has changed; behind a run it hears what has changed meanwhile. Time
 *            passes only while it waits, so nothing has changed when it looks
 *   blocks   are told when they differ from what was told before
 */
#ifndef WS_HOST_MPS_MANAGED_H
#define WS_HOST_MPS_MANAGED_H

#include "host/mps_client.h"

/* Pages [addr, addr + bytes) are in one of its ranges. */
bool mps_managed_has(const struct mps_client *, uint64_t addr, uint64_t bytes);
/* An operation; false: nonsense. */
bool mps_managed_act(struct mps_client *, struct uvm_machine *, const void *, size_t, struct uvm_host_fault *);
/* The next block that has changed since it was told, from *cursor on, which begins with 0; false: there is none. */
bool mps_managed_next(struct mps_client *, const struct uvm_machine *, uint64_t *cursor, struct mps_block *);
/* The client is gone. */
void mps_managed_end(struct mps_client *, struct uvm_machine *);

#endif
