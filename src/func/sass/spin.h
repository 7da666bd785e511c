/* Lanes that spin: they come back to a YIELD as they were at an earlier one, so that only somebody else can get them
 * out of their loop. A loop that counts its rounds is none: the count changes.
 *
 * "As they were" is a digest of pc, registers and predicates of the lane. The last few YIELDs are compared, since a
 * loop may have several (nvcc's own and that of NANOSLEEP). Where all lanes of a path are found to spin, the loop is
 * one that spins, and the warp knows its YIELD from then on: the next lock is handed on at once. Not seen: what a
 * loop only changes in memory, its local memory included.
 */
#ifndef WS_FUNC_SASS_SPIN_H
#define WS_FUNC_SASS_SPIN_H

#include "func/sass/func_warp.h"

/* Whether the YIELD at `pc` is known to be that of a spin loop. */
bool spin_is_known(const struct func_warp *w, uint64_t pc);

/* Lanes m, which others of group `id` wait for at a BSYNC, are at the YIELD at `pc`, which is not known: w->spinning
 * says of each whether it spins. What a lane was like while others waited elsewhere does not count. for_long: it is
 * taken for a spin loop whatever it changes. */
void spin_watch(struct func_warp *w, uint32_t m, uint32_t id, uint64_t pc, bool for_long);

#endif
