/* Groups of asynchronous copies of one warp (cp.async, cp.async.bulk out of shared memory): LDGDEPBAR and UTMACMDFLUSH
 * close the open group; its counter drops, in order, when all copies up to there are done (Huerta et al., MICRO 2025).
 * ARRIVES performs when the copies before it are done.
 *
 *   ports  in: memory instructions in the order of issue; closings; copies that are done
 *          out: counters of groups to drop; transactions that perform now
 */
#ifndef WS_TIME_SM_ASYNC_GROUP_H
#define WS_TIME_SM_ASYNC_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bug.h"
#include "isa/inst.h"
#include "time/sm/txn.h"

enum { ASYNC_GROUPS = 64 /* a counter cannot go above 63 */ };

struct async_groups {
  uint16_t outstanding[ASYNC_GROUPS]; /* copies in flight per group, ring */
  uint8_t sb[ASYNC_GROUPS];           /* counter of a closed group */
  uint8_t oldest, open;               /* ring indices; groups [oldest, open) are closed */
  uint16_t in_flight;                 /* of all groups */
  uint16_t arrivals;                  /* transactions that perform after some of them, linked by
                                         txn.next_arrival; TXN_NONE: no more */
};

#define ASYNC_GROUPS_NONE ((struct async_groups){.arrivals = TXN_NONE})

/* A memory instruction issues: a copy belongs to the open group, an ARRIVES waits for those in flight. */
static inline void async_group_join(struct async_groups *g, struct txn *t, const struct inst *in)
{
  t->async_group = TXN_NO_GROUP;
  t->after_copies = 0;
  bool bulk = in->mem.copy == COPY_STORE || in->mem.copy == COPY_REDUCE;
  if (bulk || (in->mem.op == MEM_LDGSTS && in->mem.space != MEM_NONE)) {
    t->async_group = g->open;
    g->outstanding[g->open]++;
    g->in_flight++;
  } else if ((in->flags & INST_AFTER_LDGSTS) && g->in_flight) {
    t->after_copies = g->in_flight;
    t->next_arrival = g->arrivals;
    g->arrivals = t->id;
  }
}

/* The open group is closed; counter `sb` waits for it. False: nothing is in flight, the counter drops at once. */
static inline bool async_group_close(struct async_groups *g, unsigned sb)
{
  if (g->oldest == g->open && g->outstanding[g->open] == 0) return false;
  g->sb[g->open] = (uint8_t)sb;
  g->open = (uint8_t)((g->open + 1) % ASYNC_GROUPS);
  BUG_ON(g->open == g->oldest);
  g->outstanding[g->open] = 0;
  return true;
}

/* The copy `t` is done. What follows from it: async_group_arrival and async_group_dropped, until they have no more. */
static inline void async_group_done(struct async_groups *g, const struct txn *t)
{
  BUG_ON(g->outstanding[t->async_group] == 0);
  g->outstanding[t->async_group]--;
  g->in_flight--;
}

/* Every transaction that waited for the copy `t`, issued before it, waits for one less. `*at` begins as &arrivals. The
 * next one that waits for none any more, taken off the list; TXN_NONE: there is none. */
static inline uint16_t async_group_arrival(struct txn_pool *pool, uint16_t **at, const struct txn *t)
{
  while (**at != TXN_NONE) {
    struct txn *a = &pool->t[**at];
    if (a->issued >= t->issued && --a->after_copies == 0) {
      **at = a->next_arrival;
      return a->id;
    }
    *at = &a->next_arrival;
  }
  return TXN_NONE;
}

/* Counter of the oldest group, closed and done, which leaves; SB_NONE: it is not done. */
static inline unsigned async_group_dropped(struct async_groups *g)
{
  if (g->oldest == g->open || g->outstanding[g->oldest]) return SB_NONE;
  const unsigned sb = g->sb[g->oldest];
  g->oldest = (uint8_t)((g->oldest + 1) % ASYNC_GROUPS);
  return sb;
}

#endif
