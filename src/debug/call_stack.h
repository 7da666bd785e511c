/* Who called whom: of each lane the call instructions whose functions it is in, noted while they execute. SASS has no
 * stack of return addresses; functions keep theirs in registers or local memory as the compiler likes. Neither is it
 * said where a function keeps its caller's registers, but they come back as they were at the call: so they are noted
 * there.
 */
#ifndef WS_DEBUG_CALL_STACK_H
#define WS_DEBUG_CALL_STACK_H

#include <stdint.h>

#include "isa/step.h"

/* Calls kept per lane, and those of which registers are; deeper ones are counted. */
enum { CALL_STACK_DEPTH = 512, CALL_STACK_REGISTERS = 64 };

/* A lane's; zeroed: it has called nothing. */
struct lane_calls {
  uint32_t depth, room;
  uint64_t *call;     /* pcs of the calls, outermost first; of the first CALL_STACK_DEPTH */
  uint32_t *stack;    /* what the stack pointer was at each */
  uint32_t *reg;      /* what its registers were at each of the first CALL_STACK_REGISTERS; NULL: not kept */
  uint32_t regs_room; /* calls that reg has room for */
};

/* Of one warp. */
struct warp_calls {
  uint32_t n_regs; /* registers of a caller to keep; 0: none */
  struct lane_calls lane[LANES_MAX];
};

/* Behind a step that called a function or returned from one. `stack`: the stack pointer; `target`: where the lane now
 * is. */
void call_stack_call(struct warp_calls *, unsigned lane, uint64_t pc, uint32_t stack);
void call_stack_return(struct warp_calls *, unsigned lane, uint64_t target, unsigned inst_bytes);

/* The n_regs registers that the lane had at a call, 0 the outermost; NULL: they are not kept. */
uint32_t *call_stack_registers(const struct warp_calls *, unsigned lane, uint32_t call);

void call_stack_clear(struct warp_calls *); /* frees it, too */

#endif
