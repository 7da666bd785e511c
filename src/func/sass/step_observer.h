/* What observers of a run without time (isa/watch.h, struct step_tap) may ask about the state behind an effect. The CTA
 * and the effect are those that the tap was given, and only stand for as long as it is called.
 */
#ifndef WS_FUNC_SASS_STEP_OBSERVER_H
#define WS_FUNC_SASS_STEP_OBSERVER_H

#include "isa/step.h"

/* blockIdx and threadIdx of a lane. */
struct func_place {
  uint32_t cta[3], thread[3];
};
struct func_place func_place_of(const struct step_cta *, unsigned warp, unsigned lane);

/* Lanes of the warp that have a thread which has not exited. */
uint32_t func_live_lanes(const struct step_cta *, unsigned warp);

/* Whether somebody has arrived in the present phase of CTA barrier `id`, 0 to 15. */
bool func_barrier_busy(const struct step_cta *, unsigned id);

/* Shared memory of the CTA, *bytes of it. */
const uint8_t *func_shared(const struct step_cta *, uint64_t *bytes);

/* Space of a lane's access, MEM_GLOBAL, MEM_SHARED, MEM_CLUSTER or MEM_LOCAL; *addr becomes its address in the
 * space. */
enum mem_space func_lane_space(const struct step_cta *, unsigned warp, const struct mem_effect *, unsigned lane,
                               uint64_t *addr);

/* Lanes, of all 32, whose address is not in [first, first + last]. */
uint32_t func_outside(const struct step_cta *, unsigned warp, const struct mem_effect *, uint64_t first, uint64_t last);

/* The bytes that a plain store of the lane writes: me->bytes of them. */
void func_stored(const struct mem_effect *, unsigned lane, uint8_t out[MEM_MAX_BYTES]);

/* Their words: the first of all lanes, then the second, LANES_MAX of 4 bytes each. */
const uint8_t *func_stored_words(const struct mem_effect *);

/* Bytes of global memory that the lane's LDGSTS reads: the rest of what it writes to shared memory are zeros. */
unsigned func_copied_bytes(const struct mem_effect *, unsigned lane);

/* Whether it branches by which threads of the warp have come (BRA.DIV, BRA.CONV): compilers put it for a __syncwarp. */
bool func_meets_by_mask(const struct effect *);

/* Of an instruction at which threads of a warp meet by a mask, or that asks whether they have: lanes that execute it
 * without being in the mask they give. */
uint32_t func_outside_mask(const struct step_cta *, unsigned warp, const struct effect *);

#endif
