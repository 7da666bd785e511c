/* Memory local unit of one sub-core: a queue between issue and the SM-shared memory unit, and the
 * address stage at its head (Huerta et al., MICRO 2025, section 5.4).
 *
 *   params  mem.queue_entries (queue and dispatch latch), mem.front_cycles; stages: mem_stages.h
 *   ports   in: transactions from issue; out: the shared unit's arbiter takes the head
 *   rule    The head enters the address stage when the one before has left it, read ports for its addresses
 *           are free, and a store's data will find the data link free. It leaves when the arbiter takes
 *           it. Its credit is held from issue until then; this reproduces Table 1 for 1 to 4 active
 *           sub-cores: with an address per lane the stage takes 4 cycles.
 *   not modelled: read ports for the data of stores
 */
#ifndef WS_TIME_SM_LSU_H
#define WS_TIME_SM_LSU_H

#include "config/params.h"
#include "time/sm/txn.h"

enum { LSU_MAX_ENTRIES = 16 };

struct lsu {
  unsigned entries, front_cycles; /* params */
  uint16_t queue[LSU_MAX_ENTRIES];
  uint8_t head, n;
  bool entered;           /* the head is in the address stage … */
  uint64_t ready_at;      /* … and the arbiter may take it from this cycle on */
  uint64_t stage_free_at; /* the address stage takes the next from this cycle on */
  uint64_t data_free_at;  /* the data link takes the next store's data from this cycle on */
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

/* From the head on. */
static inline uint16_t lsu_at(const struct lsu *l, unsigned i)
{
  return l->queue[(l->head + i) % LSU_MAX_ENTRIES];
}

static inline uint16_t lsu_head(const struct lsu *l)
{
  return lsu_at(l, 0);
}

/* First cycle in which the head may enter the address stage, ports permitting; TIME_NEVER when there
 * is none or it has entered. */
uint64_t lsu_head_enter_at(const struct lsu *, const struct txn_pool *);
static inline uint64_t lsu_enter_at(const struct lsu *l, const struct txn_pool *pool)
{
  return l->n == 0 || l->entered ? TIME_NEVER : lsu_head_enter_at(l, pool);
}

/* The head enters the address stage in cycle `now`. Returns the cycle from which its sources may be
 * overwritten (meaningless when its stages.holds). */
uint64_t lsu_enter(struct lsu *, const struct txn_pool *, uint64_t now);

/* First cycle in which the arbiter may take the head; TIME_NEVER when none has entered. */
static inline uint64_t lsu_ready_at(const struct lsu *l)
{
  return l->entered ? l->ready_at : TIME_NEVER;
}

/* The arbiter takes the head in cycle `now`. */
static inline void lsu_pop(struct lsu *l, uint64_t now)
{
  l->head = (uint8_t)((l->head + 1) % LSU_MAX_ENTRIES);
  l->n--;
  l->entered = false;
  if (l->stage_free_at < now) l->stage_free_at = now;
}

#endif
