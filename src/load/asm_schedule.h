/* Control information for assembled code (warpstep asm --schedule). */
#ifndef WS_LOAD_ASM_SCHEDULE_H
#define WS_LOAD_ASM_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "isa/schedule.h"

/* Replaces the control information of all instructions of a section, target sm_`sm`, `bytes` a
 * multiple of 16. False with e filled: a word that does not decode, or code that cannot be scheduled
 * (isa/schedule.h). */
bool asm_schedule(struct arena *, const struct schedule_rules *, unsigned sm, uint8_t *code,
                  uint64_t bytes, struct err *e);

#endif
