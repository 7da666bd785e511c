/* Dependence counters that count down in the order in which they were raised, as those of loads do on AMD's GPUs
 * ("memory reads return in order": vmcnt): "at most n" then says that all but the n youngest are done. A drop that is
 * due waits until those before it, of its warp and counter, are.
 *
 *   which    step_source.in_order, a mask; counters 0 to IN_ORDER_COUNTERS - 1 can be among them
 *   ticket   what an instruction carries in the place of such a counter, as with scoreboards: counter and place in
 *            the order
 *   cycle    several may drop in the cycle in which the oldest one is due
 */
#ifndef WS_TIME_SM_IN_ORDER_H
#define WS_TIME_SM_IN_ORDER_H

#include "base/bug.h"
#include "time/sm/scoreboard.h"
#include "time/sm/warp.h"

enum { IN_ORDER_COUNTERS = 3, IN_ORDER_PLACES = 64 /* more than a counter counts */ };
_Static_assert(IN_ORDER_COUNTERS * IN_ORDER_PLACES <= BOARD_TICKETS, "a ticket has eight bits");

/* One counter of one warp: places [oldest, next) are taken. */
struct in_order {
  uint64_t due; /* bit per place: could drop but for older ones */
  uint8_t oldest, next;
};

static inline unsigned in_order_counter(unsigned ticket)
{
  return (ticket - BOARD_TICKET) / IN_ORDER_PLACES;
}

/* An instruction that raises the counter issues: its ticket. */
static inline uint8_t in_order_take(struct in_order of[IN_ORDER_COUNTERS], unsigned counter)
{
  BUG_ON(counter >= IN_ORDER_COUNTERS);
  struct in_order *o = &of[counter];
  unsigned place = o->next;
  o->next = (uint8_t)((place + 1) % IN_ORDER_PLACES);
  BUG_ON(o->next == o->oldest);
  return (uint8_t)(BOARD_TICKET + counter * IN_ORDER_PLACES + place);
}

/* Its drop is due. Returns by how much the counter drops. */
static inline unsigned in_order_due(struct in_order of[IN_ORDER_COUNTERS], unsigned ticket)
{
  struct in_order *o = &of[in_order_counter(ticket)];
  unsigned n = 0;
  o->due |= (uint64_t)1 << (ticket - BOARD_TICKET) % IN_ORDER_PLACES;
  for (; o->due >> o->oldest & 1; n++) {
    o->due &= ~((uint64_t)1 << o->oldest);
    o->oldest = (uint8_t)((o->oldest + 1) % IN_ORDER_PLACES);
  }
  return n;
}

#endif
