/* SM-shared memory unit: arbiter over the sub-cores' local units, then L1 data cache, shared
 * memory, constants (Huerta et al., MICRO 2025).
 *
 *   params  mem.arbiter_interval (2: one instruction accepted per 2 cycles), mem.idle_interval
 *           (of one that no lane executes), mem.const_interval (of loads of constants, which have an
 *           arbiter of their own; 0: they take turns with the others), mem.pending_entries, l1.*
 *   full    an access that may leave the SM stays in its queue while L1 has no miss entry, or the SM's port
 *           (sm_port.h) is full; the queue (mem.queue_entries) then stops the issue stage: lg_throttle
 *   ports   in: heads of the lsu queues; replies of the memory side (sm_port.h)
 *           out: requests to the memory side; counter drops to the sub-cores
 *   cycle   replies first, then results that are ready, then one grant of each arbiter, round robin over the
 *           sub-cores, then the copy engine, then the heads of the queues enter their address stages
 *   result  ready stages.pipe cycles after the grant, or after the last line has come, and bank
 *           conflicts and extra lines; then it waits for the link to its sub-core and crosses it; then
 *           it is written, when a write port is free (depend_write_at)
 *   copies  bulk and tensor copies go to the copy engine (copy_engine.h), which shares the port to L2, the data array
 *           and the table of transactions
 *   texture results of textures and surfaces return in order (image_queue.h)
 */
#ifndef WS_TIME_SM_MEM_UNIT_H
#define WS_TIME_SM_MEM_UNIT_H

#include <stdio.h>

#include "config/params.h"
#include "time/mem/l1.h"
#include "time/msg.h"
#include "time/sm/copy_engine.h"
#include "time/sm/depend.h"
#include "time/sm/emulate.h"
#include "time/sm/image_queue.h"
#include "time/sm/lsu.h"
#include "time/sm/mem_access.h"
#include "time/sm/observer.h"
#include "time/sm/operand.h"
#include "time/sm/sm_port.h"
#include "time/sm/sm_stats.h"
#include "time/sm/txn.h"
#include "time/sm/warp.h"
#include "time/sm/wheel.h"
#include "time/sm/writeback.h"

enum { MEM_UNIT_SUB_CORES = MEM_SUB_CORES };

/* What the unit sees of a sub-core. */
struct mem_client {
  struct lsu *lsu;
  struct depend *depend;
  struct operand_path *operands;
  const struct writeback *writeback;
  struct warp_table *warps;
  struct emulate *emulate; /* NULL: registers change at issue */
  struct strong_wait strong_wait; /* of the head of its queue */
};

/* Whoever sent a line with mem_unit_read_code hears of its answer. */
struct mem_code_port {
  void (*filled)(void *ctx, uint64_t line, uint64_t now);
  void *ctx;
};

/* Who takes commits of tensor memory that the arbiter grants; they come back by copy_ports_message_due. */
struct commit_port {
  void (*granted)(void *ctx, uint16_t id, uint64_t now);
  void *ctx;
};

/* They grant heads of the sub-cores' queues, round robin. Loads of constants go to a cache of their own
 * (const_cache.h), past L1 and shared memory. */
enum mem_arbiter_of { ARBITER_ACCESSES, ARBITER_CONSTANTS, ARBITER__N };

struct mem_arbiter {
  uint64_t free_at; /* grants the next instruction from this cycle on */
  uint32_t heads;   /* bit per sub-core: what stands first in its queue is for this arbiter */
  unsigned next;    /* sub-core to begin with */
};

struct mem_unit {
  const struct params *params;
  unsigned n_clients, arbiter_interval, idle_interval, const_interval, sm, write_cycles;
  picos period; /* a cycle */
  /* state */
  struct txn_pool pool;
  struct l1 l1;
  struct mem_access access;
  bool pool_refilled;      /* this cycle gave back the first transaction of an empty pool */
  struct copy_engine copies;
  struct wheel results;    /* transactions (id) whose results become ready */
  struct image_queue images;
  uint64_t link_free_at[MEM_UNIT_SUB_CORES]; /* results to each sub-core */
  uint64_t wake[MEM_UNIT_SUB_CORES]; /* of this cycle: when the sub-core has to look; CYCLE_NEVER */
  uint64_t next_at;      /* nothing to do before this cycle */
  struct mem_arbiter arbiter[ARBITER__N];
  uint32_t queued;       /* bit per sub-core: there are transactions in its queue */
  uint64_t answered;     /* replies handled, for the deadlock watch */
  /* ports */
  struct mem_client client[MEM_UNIT_SUB_CORES];
  struct mem_code_port code;
  struct commit_port tmem;
  struct sm_port port; /* to L2 and to other SMs */
  struct sm_stats *stats;
  struct observers *observers; /* NULL: none */
};

void mem_unit_init(struct mem_unit *, struct arena *, const struct params *, unsigned sm);

/* Replies came, for cycle `at`. */
static inline void mem_unit_wake(struct mem_unit *u, uint64_t at)
{
  if (at < u->next_at) u->next_at = at;
}

/* A line of constants (l1i_const_line) that was on its way from L2 is in L0 VL from cycle `at`, a later one, on. */
void mem_unit_const_arrived(struct mem_unit *, uint64_t line, uint64_t at, uint64_t now);

/* Accesses of the CTA in this slot of the SM that go into it stand in the queues of the sub-cores. */
bool mem_unit_leaves_later(struct mem_unit *, unsigned cta_slot);

/* A transaction joined the queue of a sub-core; it is looked at from cycle `at` on. */
void mem_unit_queued(struct mem_unit *, unsigned client, uint64_t at);

/* One line of the transaction, or what stands for it, is answered (for copy_ports.h). */
void mem_unit_line_done(struct mem_unit *, uint16_t id, uint64_t now);

/* One cycle. wake[i] says when sub-core i has something to look at: a counter will drop, a queue
 * entry came free, a warp's hold may end. */
void mem_unit_cycle(struct mem_unit *, uint64_t now);

/* Something of the grid is on its way: of one whose CTAs have ended, stores. */
bool mem_unit_serves(const struct mem_unit *, const struct sm_grid *);

/* The memory instructions that wait for answers, a line each. */
void mem_unit_dump(const struct mem_unit *, FILE *);

#endif
