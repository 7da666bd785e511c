/* Function-only execution of any step source: what its instructions are, and what its lanes, does not matter. SASS,
 * whose prepared operations need no effects, has a faster runner of its own (func/func.h).
 */
#ifndef WS_FUNC_RUN_SOURCE_H
#define WS_FUNC_RUN_SOURCE_H

#include "base/gmem.h"
#include "func/func.h"
#include "isa/watch.h"

/* Runs the whole grid on the calling thread, CTA after CTA in worker 0, slot 0. The warps of a CTA go on in turn, for
 * watch->slice instructions at most. Clocks count an instruction of any warp as a cycle. Not for sources with clusters
 * (RUN_REFUSED). Adds to *stats what was executed, whatever the end. A CTA none of whose warps can go on is a fault
 * (FAULT_DEADLOCK). */
enum run_end run_source(struct step_source *, struct gmem *image, const struct run_watch *, struct func_stats *,
                        struct fault *);

#endif
