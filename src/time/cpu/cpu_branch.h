/* Where a core believes that control goes: two-bit counters of branches by address, a return stack.
 *
 *   branches  taken when their counter says so; without counters when they lead backwards
 *   returns   to where the stack says; other jumps through registers are never foreseen, jumps to named places always
 *   not modelled: a buffer of targets (where a branch leads is known when it is decoded), history */
#ifndef WS_TIME_CPU_CPU_BRANCH_H
#define WS_TIME_CPU_CPU_BRANCH_H

#include "base/arena.h"
#include "isa/cpu_step.h"

struct cpu_branch {
  uint32_t entries, stack_entries;
  uint8_t *counter; /* 0..3; 2 and 3: taken */
  uint64_t *stack;
  uint32_t top;     /* calls so far, less returns */
};

/* entries: a power of two, or 0. */
void cpu_branch_init(struct cpu_branch *, uint32_t entries, uint32_t stack_entries, struct arena *);
/* The instruction at pc went on at `next`. Whether that was foreseen. */
bool cpu_branch_foresaw(struct cpu_branch *, const struct cpu_inst *, uint64_t pc, uint64_t next);

#endif
