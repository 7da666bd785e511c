/* Which path of a warp runs (the policy is ours): it goes on with its path until that
 * blocks, exits, yields, sleeps or branches backwards; then the next ready path has its turn,
 * paths that did not yield first. The sub-core asks when an instruction has been stepped: no cycle of its own.
 */
#ifndef WS_TIME_SM_PATH_H
#define WS_TIME_SM_PATH_H

#include "time/sm/warp.h"

/* After a step with effect flags: picks the path to run. Returns true when the warp's next pc is
 * not `next_pc`, that of the instruction after the one stepped (the ibuffer must restart), or nothing is ready. */
bool path_pick(struct warp_slot *, const struct effect *, uint64_t next_pc);

/* Is any path of the warp ready? */
static inline bool path_any_ready(const struct warp_slot *w)
{
  return w->step->paths.n_ready > 0;
}

/* Hold state of a warp whose paths all wait. */
enum warp_state path_hold(const struct warp_slot *);

#endif
