/* The two ledgers of the core (conservation laws of sm_stats.def).
 *
 * Slots: every issue slot of every cycle is an issue, or is charged to the state of the warp the
 * policy would have picked. Warps: every resident warp-cycle is in exactly one warp state, kept per
 * instruction. The books of a warp are closed up to `accounted`; they are brought forward when the
 * warp issues or a hold ends, from the times at which each obstacle went away, so that waiting
 * costs the host nothing. Of the rest, cycles in which the issue stage looked at the warp and
 * found its unit taken are throttle; the others are NOT_SELECTED.
 */
#ifndef WS_TIME_SM_LEDGER_H
#define WS_TIME_SM_LEDGER_H

#include "time/sm/observer.h"
#include "time/sm/sm_stats.h"
#include "time/sm/warp.h"

struct ledger {
  struct sm_stats *stats; /* of the SM; per instruction: grid.h */
  struct observers *observers; /* hear of every charge; NULL: none */
};

/* Charges the warp's cycles up to `until` (exclusive) to one state; nothing when already charged. */
void ledger_book(struct ledger *, struct warp_slot *, uint64_t pc, enum warp_state, uint64_t until);
static inline void ledger_charge(struct ledger *l, struct warp_slot *w, uint64_t pc, enum warp_state s,
                                 uint64_t until)
{
  if (until > w->books.accounted) ledger_book(l, w, pc, s, until);
}

/* The warp issues `in`, of its grid's code, at `now`: splits the wait since the last issue and charges the
 * issue cycle. The dependence it waited for is `reg`, or, if NULL, counters of its wait mask. In `throttled`
 * cycles the issue stage found its unit taken. */
void ledger_issue(struct ledger *, struct warp_slot *, const struct inst *in, const struct reg_wait *reg,
                  uint64_t throttled, uint64_t now);

/* What issued ran for this many lanes. */
static inline void ledger_lanes(struct ledger *l, const struct warp_slot *w, const struct inst *in, unsigned lanes)
{
  l->stats->thread_insts += lanes;
  w->grid->threads[code_number(&w->grid->code, in)] += lanes;
}

#endif
