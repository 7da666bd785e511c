#include "time/cpu/cpu_branch.h"

#include <string.h>

enum { WEAKLY_NOT = 1, TAKEN = 2, MOST = 3 };

void cpu_branch_init(struct cpu_branch *b, uint32_t entries, uint32_t stack_entries, struct arena *a)
{
  *b = (struct cpu_branch){.entries = entries, .stack_entries = stack_entries,
                           .counter = ARENA_ARRAY(a, uint8_t, entries + 1),
                           .stack = ARENA_ARRAY(a, uint64_t, stack_entries + 1)};
  memset(b->counter, WEAKLY_NOT, entries);
}

static bool foresaw_branch(struct cpu_branch *b, const struct cpu_inst *i, uint64_t pc, uint64_t next)
{
  const bool taken = next != pc + i->bytes;
  if (!b->entries) return taken == (next < pc);
  uint8_t *c = &b->counter[pc / 2 & (b->entries - 1)];
  const bool said = *c >= TAKEN;
  if (taken && *c < MOST) ++*c;
  if (!taken && *c) --*c;
  return said == taken;
}

static bool pop(struct cpu_branch *b, uint64_t next)
{
  if (!b->stack_entries || !b->top) return false;
  return b->stack[--b->top % b->stack_entries] == next;
}

bool cpu_branch_foresaw(struct cpu_branch *b, const struct cpu_inst *i, uint64_t pc, uint64_t next)
{
  if (i->class == CPU_BRANCH) return foresaw_branch(b, i, pc, next);
  const bool foreseen = i->class == CPU_JUMP || (i->returns && pop(b, next));
  if (i->call && b->stack_entries) b->stack[b->top++ % b->stack_entries] = pc + i->bytes;
  return foreseen;
}
