/* The atomics unit of an L2 slice: when atomics are done whose sectors are there. It knows times alone; values change
 * when the slice takes the request.
 *
 *   in      l2_atomics_take, in the order of the slice's requests
 *   out     l2_atomics_pop, at l2_atomics_next
 *   time    a request holds the unit for what takes longest: its sectors, each l2.atomic_sector_cycles whatever number
 *           of its words are updated, and a cycle where there are several; its updates of 64 bits, each
 *           l2.atomic_wide_cycles; the updates of its most frequent word, one per l2.atomic_interval, or
 *           l2.atomic_float_interval where floating point is added. It is done l2.atomic_cycles behind its start.
 *           Nobody waits for room: what waits for the unit is unlimited
 *   caller  l2_slice.c
 */
#ifndef WS_TIME_MEM_L2_ATOMICS_H
#define WS_TIME_MEM_L2_ATOMICS_H

#include "config/params.h"
#include "time/msg.h"

struct l2_atomics {
  picos cycle, interval, float_interval, sector, wide, latency;
  bool ideal; /* ideal.atomics: they hold it for no time */
  picos free_at;
  struct l2_atomic {
    picos at; /* it is done */
    struct mem_req req;
  } * ring; /* in the unit, oldest first */
  uint32_t cap, head, n;
};

void l2_atomics_init(struct l2_atomics *, const struct params *);
void l2_atomics_free(struct l2_atomics *);
/* The unit gets an atomic at `now`. How long it waits until the unit is free, ps. */
picos l2_atomics_take(struct l2_atomics *, const struct mem_req *, picos now);
/* When the first one is done; TIME_NEVER: there is none. */
static inline picos l2_atomics_next(const struct l2_atomics *u)
{
  return u->n ? u->ring[u->head].at : TIME_NEVER;
}
/* The first one, which leaves; there is one. */
struct mem_req l2_atomics_pop(struct l2_atomics *);

#endif
