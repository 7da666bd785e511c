/* Lanes that spin: they come back to a YIELD as they were at an earlier one, so that only somebody else can get them out
 * of their loop. A loop that counts its rounds is none: the count changes.
 *
 * "As they were" is a digest of pc, registers and predicates of the lane. The last few YIELDs are compared, since a loop may have
 * several (nvcc's own and that of NANOSLEEP). Not seen: what a loop only changes in memory, its local memory
 * included.
 */
#ifndef WS_FUNC_SASS_SPIN_H
#define WS_FUNC_SASS_SPIN_H

#include "func/sass/func_warp.h"

/* Lanes m, which others of group `id` wait for at a BSYNC, are at the YIELD at `pc`: w->spinning says of each whether it spins.
 * What a lane was like while others waited elsewhere does not count. */
void spin_watch(struct func_warp *w, uint32_t m, uint32_t id, uint64_t pc);

#endif
