/* Memory local unit of one sub-core: a queue between issue and the SM-shared memory unit
 * (Huerta et al., MICRO 2025).
 *
 *   params  mem.queue_entries (5: queue of 4 + dispatch latch), mem.grant_latency (11: issue
 *           to the issue its returned credit allows, so granted one cycle before),
 * mem.addr_interval (4: address generation, 1 instruction per 4 cycles)
 *   ports   in: transactions from issue; out: the shared unit's arbiter takes the head
 * A credit is held from issue until the arbiter takes the instruction; this reproduces Table 1 of
 * Huerta et al. (MICRO 2025) for 1 to 4 active sub-cores.
 */
#ifndef WS_TIME_SM_LSU_H
#define WS_TIME_SM_LSU_H

#include "config/params.h"
#include "time/sm/txn.h"

enum { LSU_MAX_ENTRIES = 16 };

struct lsu {
  unsigned entries, front_cycles, addr_interval; /* params */
  uint16_t queue[LSU_MAX_ENTRIES];
  uint8_t head, n;
  uint64_t next_grant; /* address generation is busy until then */
};

void lsu_init(struct lsu *, const struct params *);

static inline bool lsu_can_accept(const struct lsu *l)
{
  return l->n < l->entries;
}

static inline void lsu_push(struct lsu *l, uint16_t txn)
{
  l->queue[(l->head + l->n++) % LSU_MAX_ENTRIES] = txn;
}

/* First cycle in which the head may be granted; TIME_NEVER when empty. */
static inline uint64_t lsu_ready_at(const struct lsu *l, const struct txn_pool *pool)
{
  if (l->n == 0) return TIME_NEVER;
  uint64_t at = pool->t[l->queue[l->head]].issued + l->front_cycles;
  return at > l->next_grant ? at : l->next_grant;
}

static inline uint16_t lsu_head(const struct lsu *l)
{
  return l->queue[l->head];
}

static inline void lsu_pop(struct lsu *l, uint64_t now)
{
  l->head = (uint8_t)((l->head + 1) % LSU_MAX_ENTRIES);
  l->n--;
  l->next_grant = now + l->addr_interval;
}

#endif
