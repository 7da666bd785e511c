#include "load/asm_schedule.h"

#include <inttypes.h>
#include <string.h>

#include "isa/sass/asm.h"

enum { INST_BYTES = 16 };

static enum schedule_flow flow_of(const struct sass_inst *s, const struct inst *in, bool inside)
{
  switch (s->sem) {
  case SEM_BRA: return inside ? FLOW_JUMP : FLOW_AWAY;
  case SEM_WARPSYNC: return inside ? FLOW_AWAY : FLOW_NEXT; /* .COLLECTIVE: lanes meet at a target */
  default: return in->flags & INST_BRANCH ? FLOW_AWAY : FLOW_NEXT;
  }
}

static bool read_code(unsigned sm, const uint8_t *code, uint32_t n, struct sass_inst *s,
                      struct schedule_inst *x, struct err *e)
{
  for (uint32_t i = 0; i < n; i++) {
    uint64_t pc = (uint64_t)i * INST_BYTES, target = 0;
    struct word128 w;
    memcpy(&w, code + pc, sizeof w);
    if (!sass_decode(sm, w, pc, &s[i], &x[i].in, e)) return false;
    bool inside = sass_branch_target(sm, w, pc, &target) && target < (uint64_t)n * INST_BYTES &&
                  target % INST_BYTES == 0;
    x[i].flow = (uint8_t)flow_of(&s[i], &x[i].in, inside);
    x[i].target = (uint32_t)(target / INST_BYTES);
  }
  return true;
}

bool asm_schedule(struct arena *a, const struct schedule_rules *rules, unsigned sm, uint8_t *code,
                  uint64_t bytes, struct err *e)
{
  uint32_t n = (uint32_t)(bytes / INST_BYTES);
  struct sass_inst *s = ARENA_ARRAY(a, struct sass_inst, n);
  struct schedule_inst *x = ARENA_ARRAY(a, struct schedule_inst, n);
  if (!read_code(sm, code, n, s, x, e) || !schedule(a, rules, x, n, e)) return false;
  for (uint32_t i = 0; i < n; i++) {
    struct word128 w = sass_encode(&s[i], &x[i].ctrl);
    memcpy(code + (uint64_t)i * INST_BYTES, &w, sizeof w);
  }
  return true;
}
