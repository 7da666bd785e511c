/* What a memory instruction does once its addresses are known: its lines and bank conflicts, its kind,
 * and the accesses that are the SM's own business. Strong accesses are left to the memory side.
 *
 *   params  l1.tag_bank_masks, const.line; stages: mem_stages.h
 *   callers the sub-core as an instruction issues (mem_access_sort), the memory unit when the time of what was put off
 *           has come
 *   ports   in: transactions; out: memory, through the SM's view
 */
#ifndef WS_TIME_SM_MEM_ACCESS_H
#define WS_TIME_SM_MEM_ACCESS_H

#include "base/place.h"
#include "config/params.h"
#include "time/sm/const_cache.h"
#include "time/sm/fence_epochs.h"
#include "time/sm/observer.h"
#include "time/sm/sm_stats.h"
#include "time/sm/strong.h"
#include "time/sm/txn.h"
#include "time/sm/warp.h"

enum { MEM_SUB_CORES = 4 };

/* A part of the memory unit. */
struct mem_access {
  const struct params *params;
  unsigned sm;
  bool late_copies;           /* hazard emulation: an LDGSTS is performed when its data arrive */
  struct const_cache vl;      /* L0 VL, for LDC */
  struct strong_lines strong; /* on their way */
  struct fence_epochs fences;
  /* ports */
  struct txn_pool *pool;
  struct warp_table *warps[MEM_SUB_CORES];
  struct gmem_view *view;
  struct fault *fault; /* filled by the first faulting access of the SM */
  struct sm_stats *stats;
  struct observers *observers; /* NULL: none */
};

/* Sorts the transaction into its kind and performs what stays in the SM. With t->unread set (hazard
 * emulation) nothing is known of it yet: it only gets its stages; call again when it is. False: guest
 * fault. */
bool mem_access_sort(struct mem_access *, struct txn *, uint64_t now);

/* A line of constants is in L0 VL. True: the transaction has waited for it, and for no other one. */
bool mem_access_const_arrived(struct txn *, uint64_t line);

/* Others perform it, or L1 when bytes come: its effect is kept until then. */
bool mem_access_waits(const struct txn *);

/* Lanes whose addresses lie in these sectors of the line, a number. */
lane_mask mem_access_lanes(const struct mem_effect *, uint64_t line, unsigned sectors);

/* Where the memory of a line of a transaction is (base/place.h): it is performed there. In time: the same of what its
 * SM performs all the same, as long as a node has it. */
uint8_t mem_access_home(const struct txn *, uint64_t line);
/* At another node, for an access to which this GPU has not the right. */
bool mem_access_refused(const struct txn *, uint64_t line);
static inline uint8_t mem_access_home_in_time(const struct txn *t, uint64_t line)
{
  const uint8_t home = mem_access_home(t, line);
  return place_is_node(home) ? home : (uint8_t)PLACE_OWN;
}

/* Bytes of these sectors of a line of another node's memory: the lanes there are performed with them. False: fault. */
bool mem_access_elsewhere(struct mem_access *, struct txn *, uint64_t line, unsigned sectors, const uint8_t *bytes);

/* What waits for earlier LDGSTS, and under hazard emulation an LDGSTS, whose data arrive later, is performed by
 * mem_access_late; so is a copy, when the copy engine says so. */
bool mem_access_comes_late(const struct mem_access *, const struct txn *);
bool mem_access_late(struct mem_access *, struct txn *);
/* A copy is about to move this piece of global memory. False: guest fault, its bytes are in another process. */
bool mem_access_piece(struct mem_access *, const struct txn *, uint64_t addr, uint32_t bytes);

#endif
