/* What a memory instruction does once its addresses are known: its lines and bank conflicts, its kind,
 * and the accesses that are the SM's own business. Strong accesses are left to the memory side.
 *
 *   params  l1.tag_bank_masks, const.line; stages: mem_stages.h
 */
#ifndef WS_TIME_SM_MEM_ACCESS_H
#define WS_TIME_SM_MEM_ACCESS_H

#include "time/sm/mem_unit.h"

/* Sorts the transaction into its kind and performs what stays in the SM. With t->unread set (hazard
 * emulation) nothing is known of it yet: it only gets its stages; call again when it is. False: guest
 * fault. */
bool mem_access(struct mem_unit *, struct txn *, uint64_t now);

/* What waits for earlier LDGSTS, and under hazard emulation an LDGSTS, whose data arrive later, is performed by
 * mem_access_late; so is a copy, when the copy engine says so. */
bool mem_access_comes_late(const struct mem_unit *, const struct txn *);
bool mem_access_late(struct mem_unit *, struct txn *);

#endif
