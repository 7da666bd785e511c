/* Who called whom: of each lane the call instructions whose functions it is in, noted while they execute. SASS has no
 * stack of return addresses; functions keep theirs in registers or local memory as the compiler likes.
 */
#ifndef WS_DEBUG_CALL_STACK_H
#define WS_DEBUG_CALL_STACK_H

#include <stdint.h>

#include "isa/step.h"

enum { CALL_STACK_DEPTH = 512 }; /* calls kept per lane; deeper ones are counted */

/* A lane's; zeroed: it has called nothing. */
struct lane_calls {
  uint32_t depth, room;
  uint64_t *call; /* pcs of the calls, outermost first; of the first CALL_STACK_DEPTH */
};

/* Of one warp. */
struct warp_calls {
  struct lane_calls lane[LANES_MAX];
};

/* Behind a step that called a function or returned from one. `target`: where the lane now is. */
void call_stack_call(struct warp_calls *, unsigned lane, uint64_t pc);
void call_stack_return(struct warp_calls *, unsigned lane, uint64_t target, unsigned inst_bytes);

void call_stack_clear(struct warp_calls *); /* frees it, too */

#endif
