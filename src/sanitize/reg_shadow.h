/* Private to sanitize/: registers of a warp that hold what nobody has put there.
 *
 * A register is unset until an instruction writes it, and again when one writes it that computes with an unset one.
 * That alone is no defect: compilers move, add and save registers whose values nobody will use. It is one where the
 * value decides: an address, a branch, what goes to global memory. Where an instruction may leave a part of its
 * sources out of its result (a logic operation, a minimum, a comparison that is combined with a predicate), and where
 * it asks other lanes, its result counts as set: of two errors, to miss a defect is the lesser.
 *
 * Local memory is a register's other place: variables and saved registers lie there, and compilers load them ahead of
 * the branch that decides whether they are used. So a load of what nobody wrote makes its register unset, and is
 * reported once the value decides, or where it would get lost; a store of what was loaded so leaves the memory unset.
 * Shared memory is followed in the same way: merges and scans of libraries look one element ahead, or at all that a
 * warp could have, and drop what is too much.
 */
#ifndef WS_SANITIZE_REG_SHADOW_H
#define WS_SANITIZE_REG_SHADOW_H

#include "isa/hazard_role.h"
#include "sanitize/watched.h"

struct reg_shadow {
  uint32_t unset[HAZARD_REGS]; /* a bit per lane; of uniform registers all or none */
  struct reg_origin *origin;   /* by register, of its unset lanes; NULL: none comes from memory */
};

/* A load of shared or local memory that nobody had written. */
struct reg_origin {
  uint64_t pc; /* 0: none */
  uint64_t addr;
  uint8_t bytes, space;
};

/* Registers that an instruction reads or writes, with its guard: where all of them are set, it changes nothing. */
struct reg_use {
  uint8_t n;      /* REG_USE_UNKNOWN: not looked up yet; REG_USE_MANY: too many */
  uint16_t reg[13];
};

enum { REG_USE_UNKNOWN, REG_USE_MANY = 255 };

/* Of a warp that begins. */
void reg_shadow_init(struct reg_shadow *);
void reg_shadow_free(struct reg_shadow *);
/* Word k of what the instruction loads into the lane is what nobody wrote to its shared or local memory at addr. */
void reg_shadow_load(struct reg_shadow *, const struct watched_step *, unsigned lane, unsigned k, unsigned space,
                     uint64_t addr);
/* Whether some of what the instruction stores was loaded so. */
bool reg_shadow_stores_some_unset(const struct reg_shadow *, const struct watched_step *);
/* Whether word k of what the instruction stores is, in the lane, what was loaded so. */
bool reg_shadow_stores_unset(const struct reg_shadow *, const struct watched_step *, unsigned lane, unsigned k);
/* The instruction has run, but for its access to memory; `use` is that of the instruction, all zeros at first. */
void reg_shadow_step(struct reg_shadow *, struct reg_use *use, const struct watched_step *);

#endif
