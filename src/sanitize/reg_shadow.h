/* Private to sanitize/: registers of a warp that hold what nobody has put there.
 *
 * A register is unset until an instruction writes it, and again when one writes it that computes with an unset one.
 * That alone is no defect: compilers move, add and save registers whose values nobody will use. It is one where the
 * value decides: an address, a branch, what goes to global memory. Where an instruction may leave a part of its sources
 * out of its result (a logic operation, a minimum, a comparison that is combined with a predicate), and where it asks
 * other lanes, its result counts as set: of two errors, to miss a defect is the lesser.
 */
#ifndef WS_SANITIZE_REG_SHADOW_H
#define WS_SANITIZE_REG_SHADOW_H

#include "isa/hazard_role.h"
#include "sanitize/watched.h"

struct reg_shadow {
  uint32_t unset[HAZARD_REGS]; /* a bit per lane; of uniform registers all or none */
};

/* Of a warp that begins. */
void reg_shadow_init(struct reg_shadow *);
/* The instruction has run, but for its access to memory. */
void reg_shadow_step(struct reg_shadow *, const struct watched_step *);

#endif
