#include "isa/sass/sass_flow.h"

#include "isa/sass/syscall.h"

/* Targets count from the next instruction (compiler output, CUDA 13.0). */
enum { NEXT_INST = 16, COND_DIV = 2 /* of BRA_COND: .DIV; above it .CONV */ };

/* BRA.DIV and BRA.CONV jump or not by which lanes are together, whatever their guard says. */
static bool may_go_on(const struct sass_inst *s, const struct inst *t)
{
  return t->guard != GUARD_NONE || t->guard_not || s->guard.uniform || s->pp.index != SASS_PT || s->pp.neg ||
         s->pq.index != SASS_PT || s->pq.neg || sass_get(s, FLD_BRA_COND) >= COND_DIV || sass_get(s, FLD_BRA_ANY);
}

static uint8_t kind_of(const struct sass_inst *s)
{
  const bool direct = s->src[0].kind == SRC_NONE;
  switch (s->sem) {
  case SEM_BRA: case SEM_JMP: return CODE_JUMP;
  case SEM_BRX: case SEM_JMX: return CODE_JUMP_REGISTER;
  case SEM_CALL_REL: case SEM_CALL_ABS: return direct ? CODE_CALL : CODE_CALL_REGISTER;
  case SEM_RET: case SEM_SYSCALL: return CODE_RETURN;
  case SEM_EXIT: case SEM_KILL: return CODE_END;
  default: return CODE_NEXT;
  }
}

/* Registers in which a runtime service finds its parameters, from the first of the ABI on: pointers and sizes of 64
 * bits. Of those with more than two: all that the ABI has. */
static uint8_t service_parameters(unsigned number)
{
  enum { ALL = 12 };
  switch (number) {
  case SYSCALL_MALLOC: case SYSCALL_FREE: return 2;
  case SYSCALL_VPRINTF: return 4;
  default: return ALL;
  }
}

struct code_flow sass_flow(const struct sass_inst *s, const struct inst *t)
{
  struct code_flow f = {.kind = kind_of(s)};
  if (s->sem == SEM_SYSCALL) f.parameters = service_parameters(s->src[0].imm);
  if (f.kind == CODE_NEXT || s->sem == SEM_SYSCALL) return f;
  const bool absolute = s->sem == SEM_JMP || s->sem == SEM_CALL_ABS;
  f.target = (uint64_t)s->offset + (absolute ? 0 : t->pc + NEXT_INST);
  f.conditional = may_go_on(s, t);
  return f;
}
