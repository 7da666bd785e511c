/* What two instructions that share a register are to each other: the consumer's role decides how far
 * it must stay behind a fixed-latency producer (gap.* in a preset). The hazard checker asks whether
 * the control bits keep the distance, the scheduler of the assembler makes them keep it.
 */
#ifndef WS_ISA_HAZARD_ROLE_H
#define WS_ISA_HAZARD_ROLE_H

#include "isa/inst.h"

/* What a consumer does with the register. */
#define HAZARD_ROLE_LIST(X)                                                                        \
  X(SAME, "same pipe")   /* source of the producer's own kind of unit            */                \
  X(CROSS, "other pipe") /* source of another fixed-latency unit                 */                \
  X(QUEUED, "queued")    /* source of a variable-latency unit, not an address    */                \
  X(ADDR, "address")     /* address of a memory instruction: no bypass           */                \
  X(GUARD, "guard")      /* guard predicate, predicate of a branch               */                \
  X(PRED, "predicate")   /* predicate or carry source                            */

enum hazard_role {
#define X(id, name) ROLE_##id,
  HAZARD_ROLE_LIST(X)
#undef X
  ROLE__N
};

extern const char *const hazard_role_name[ROLE__N];

/* Role of source operand `o` of `in` towards a producer that runs in `writer_pipe`. */
enum hazard_role hazard_role_of(unsigned writer_pipe, const struct inst *in,
                                const struct operand *o);

/* All registers a warp can write, numbered: R, UR, P, UP. */
enum { HAZARD_UR = 256, HAZARD_P = 352, HAZARD_UP = 360, HAZARD_REGS = 368 };

/* Number of register k of the operand; -1: constants, barriers, registers that are not tracked. */
int hazard_reg_number(const struct operand *o, unsigned k);

#endif
