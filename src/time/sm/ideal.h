/* What if some costs of a sub-core were not there: ideal.issue, ideal.divergence, ideal.local, ideal.barriers of
 * params.def.
 *
 * A free instruction is stepped when nothing it depends on holds it, and takes no slot, no pipe and no time; its warp
 * may issue again in the same cycle. Free are
 *   ideal.local       accesses of local memory by instructions that name it (LDL, STL)
 *   ideal.divergence  of the arithmetic of paths that do not have all lanes of their warp, so many instructions that
 *                     n of m lanes take n/m of the time: what a perfect regrouping of threads into warps would leave.
 *                     Control flow and memory instructions keep their costs, so the gain is not overstated
 * Control bits still decide what an instruction waits for.
 */
#ifndef WS_TIME_SM_IDEAL_H
#define WS_TIME_SM_IDEAL_H

#include "base/arena.h"
#include "config/params.h"
#include "time/sm/warp.h"

struct ideal {
  bool issue, divergence, local, barriers;
  bool wide;                           /* several instructions may leave the buffers in a cycle */
  uint8_t lanes[SUB_CORE_MAX_WARPS];   /* of a warp: lanes that worked for less than a whole instruction so far */
  struct effect effect;                /* of free instructions */
  struct mem_effect mem;
};

/* NULL: all costs are there. */
struct ideal *ideal_new(struct arena *, const struct params *);

/* Would `in`, the warp's next instruction, be free? */
bool ideal_is_free(const struct ideal *, const struct warp_slot *, unsigned warp, const struct inst *in);

/* The warp issues `in`. Returns the same, and books its lanes. */
bool ideal_take(struct ideal *, const struct warp_slot *, unsigned warp, const struct inst *in);

/* A warp arrives in the slot. */
static inline void ideal_new_warp(struct ideal *i, unsigned warp)
{
  i->lanes[warp] = 0;
}

#endif
