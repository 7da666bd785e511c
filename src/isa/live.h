/* Live registers: which registers hold, at each instruction of a program, a value that some instruction may still read.
 *
 * A data-flow analysis over the basic blocks of the whole code, with calls:
 *   - a register is live where some path leads to a read of it without an unconditional write in between. A write under
 *     a guard ends no life: other threads keep what they had;
 *   - a call keeps what the function it calls is sure to overwrite from being live before it, and makes live what that
 *     function reads first (a summary of each function, exact at each of its calls). In a function, what any of its
 *     callers still needs is live, too: the value stays in its register meanwhile;
 *   - a call through a register may go to each function whose address is taken; a branch through a register to each
 *     target that the file states; where none is known, every register that the code reads anywhere may be read;
 *   - registers that the ABI keeps for itself (struct isa_abi, reserved) count everywhere.
 *
 * At an instruction those registers are occupied that are live before or behind it, and those that it reads or writes:
 * its results need a place even if nobody reads them. This is how nvdisasm --print-life-ranges counts, but for calls
 * (there it follows rules of its own, docs/annotate.md).
 */
#ifndef WS_ISA_LIVE_H
#define WS_ISA_LIVE_H

#include <stddef.h>

#include "isa/inst.h"

enum live_file { LIVE_R, LIVE_UR, LIVE_P, LIVE_UP, LIVE_FILES };

/* Occupied registers of each file, as many as the thread or warp has of them: at most 255, 96, 7 and 7. */
struct live_count {
  uint8_t of[LIVE_FILES];
};

struct live_list {
  const uint64_t *pc;
  size_t n;
};

/* What the instructions do not say. */
struct live_program {
  struct live_list taken;   /* functions whose address is taken */
  /* Targets of the branch through a register at pc; an empty list: unknown. NULL: all are unknown. */
  struct live_list (*targets)(const void *context, uint64_t pc);
  const void *context;
};

/* Fills count for all instructions of the code, by their numbers. False: its instruction set does not tell the flow of
 * control. Addresses outside the code are unknown targets. */
bool live_registers(const struct code_view *, const struct live_program *, struct live_count *count);

#endif
