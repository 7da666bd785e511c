/* SM-shared memory unit: arbiter over the sub-cores' local units, then L1 data cache, shared
 * memory, constants (Huerta et al., MICRO 2025).
 *
 *   params  mem.arbiter_interval (2: one instruction accepted per 2 cycles), mem.pending_entries,
 *           l1.*, noc.*
 *   ports   in: heads of the lsu queues; replies of the memory side
 *           out: requests to the memory side; counter drops to the sub-cores
 *   cycle   replies first, then one grant, round robin over the sub-cores
 * Latencies are those of Table 2 of Huerta et al. (MICRO 2025), unloaded; what is added on top is
 * queueing, bank conflicts, extra lines, and the way to L2 and DRAM and back.
 *   not modelled: L1 banks; TLB; texture path
 */
#ifndef WS_TIME_SM_MEM_UNIT_H
#define WS_TIME_SM_MEM_UNIT_H

#include "config/params.h"
#include "time/mem/l1.h"
#include "time/msg.h"
#include "time/sm/const_cache.h"
#include "time/sm/depend.h"
#include "time/sm/hazard.h"
#include "time/sm/lsu.h"
#include "time/sm/sm_stats.h"
#include "time/sm/txn.h"
#include "time/sm/warp.h"

enum { MEM_UNIT_SUB_CORES = 4, STRONG_FILTER = 256 };

/* What the unit sees of a sub-core. */
struct mem_client {
  struct lsu *lsu;
  struct depend *depend;
  struct warp_table *warps;
  struct hazard *hazard; /* NULL: not checked */
};

struct mem_unit {
  /* params */
  unsigned n_clients, arbiter_interval, request_cycles, request_bytes, sm, front_cycles;
  picos period;
  /* state */
  struct txn_pool pool;
  struct l1 l1;
  struct const_cache vl; /* L0 VL, for LDC */
  bool pool_refilled;      /* this cycle gave back the first transaction of an empty pool */
  uint64_t free_at;      /* accepts the next instruction from this cycle on */
  uint64_t port_free_at; /* request port to the interconnect */
  unsigned next_client;  /* round robin */
  uint32_t outstanding;  /* requests not answered */
  uint64_t answered;     /* replies handled, for the deadlock watch */
  uint16_t
      strong[STRONG_FILTER]; /* unperformed strong accesses by line hash: weak accesses to these
                                     lines must queue behind them (one thread's accesses to
                                     overlapping bytes keep program order) */
  uint32_t n_strong;
  /* ports */
  struct mem_client client[MEM_UNIT_SUB_CORES];
  struct req_queue out;
  struct reply_queue in;
  struct sm_stats *stats;
};

void mem_unit_init(struct mem_unit *, struct arena *, const struct params *, unsigned sm);

/* Is a strong access to a line of this transaction still on its way? */
bool mem_unit_strong_pending(const struct mem_unit *, const struct txn *);
/* A transaction of kind TXN_STRONG issued: later weak accesses to its lines queue behind it. */
void mem_unit_note_strong(struct mem_unit *, const struct txn *);

/* The local unit of this sub-core has a new instruction at its head: its sources will be read. */
void mem_unit_new_head(struct mem_unit *, unsigned client, uint64_t now);

/* Handles replies due and grants at most one instruction. Bit i of the result: sub-core i has
 * something to look at (a counter will drop, a queue entry came free, a warp's hold may end). */
unsigned mem_unit_cycle(struct mem_unit *, uint64_t now);

/* First cycle after `now` in which mem_unit_cycle has something to do without a new message. */
uint64_t mem_unit_next(const struct mem_unit *, uint64_t now);

#endif
