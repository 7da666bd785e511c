/* Textures, and loads from surfaces, whose results return in the order of the grants: nvcc waits for some of several
 * with DEPBAR (compiler output).
 *
 *   ports  in: loads that the arbiter grants; the cycle in which each is filtered
 *          out: loads whose results are due, one per cycle
 */
#ifndef WS_TIME_SM_IMAGE_QUEUE_H
#define WS_TIME_SM_IMAGE_QUEUE_H

#include "time/sm/txn.h"
#include "time/sm/warp.h"

struct image_queue {
  uint16_t first, last; /* oldest first, linked by txn.next; TXN_NONE */
  uint64_t result_at;   /* of the last result */
};

#define IMAGE_QUEUE_EMPTY ((struct image_queue){.first = TXN_NONE, .last = TXN_NONE})

static inline void image_queue_granted(struct image_queue *q, struct txn_pool *pool, uint16_t id)
{
  struct txn *t = &pool->t[id];
  t->filtered = CYCLE_NEVER;
  t->next = TXN_NONE;
  if (q->first == TXN_NONE)
    q->first = id;
  else
    pool->t[q->last].next = id;
  q->last = id;
}

/* The oldest load, if it is filtered (txn.filtered), leaves; its result is due in cycle *at. Else TXN_NONE. */
static inline uint16_t image_queue_result(struct image_queue *q, const struct txn_pool *pool, uint64_t *at)
{
  const uint16_t id = q->first;
  if (id == TXN_NONE || pool->t[id].filtered == CYCLE_NEVER) return TXN_NONE;
  *at = pool->t[id].filtered;
  if (*at <= q->result_at) *at = q->result_at + 1;
  q->result_at = *at;
  q->first = pool->t[id].next;
  return id;
}

#endif
