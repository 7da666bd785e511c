/* Private to sanitize/: what the checks share of the launch that runs. */
#ifndef WS_SANITIZE_WATCHED_H
#define WS_SANITIZE_WATCHED_H

#include "base/bits.h"
#include "base/gmem.h"
#include "func/sass/step_observer.h"
#include "host/launch.h"
#include "isa/sass/sass.h"
#include "isa/sass/syscall.h"
#include "sanitize/finding.h"

/* A launch. */
struct watched_launch {
  const struct func_params *params;
  const struct step_source *source;
  const struct gmem *mem;
  struct findings *findings;
  uint64_t shared_end;    /* bytes of shared memory that are the kernel's, from address 0 on */
  uint64_t system_shared, shared_limit; /* what the system has behind them, for kernels that ask where: [, ) */
};

/* A step of one of its warps. */
struct watched_step {
  const struct watched_launch *l;
  const struct step_cta *cta;
  unsigned warp;
  const struct effect *e;
  uint32_t lanes; /* that touch memory, of those that may */
};

static inline const struct sass_inst *watched_inst(const struct watched_step *s)
{
  const struct code_view *code = &s->l->params->code;
  return &((const struct sass_inst *)code->decoded)[(s->e->pc - code->base) >> code->shift];
}

/* What kind of instruction it is, of enum sass_sem. */
static inline unsigned watched_sem(const struct watched_step *s)
{
  return watched_inst(s)->sem;
}

/* The service that an instruction with INST_SYSCALL calls, of enum sass_syscall. */
static inline unsigned watched_service(const struct watched_step *s)
{
  return watched_inst(s)->src[0].imm;
}

/* Whether all that the lanes touch lies in [first, end). */
static inline bool watched_inside(const struct watched_step *s, uint64_t first, uint64_t end)
{
  const struct mem_effect *me = s->e->mem;
  return end > first && end - first >= me->bytes &&
         !(func_outside(s->cta, s->warp, me, first, end - first - me->bytes) & s->lanes);
}

static inline bool is_atomic(unsigned op)
{
  return op == MEM_ATOMIC || op == MEM_RED;
}

/* One end of a finding, of a lane of this step. */
static inline struct finding_access watched_access(const struct watched_step *s, unsigned lane, unsigned space)
{
  struct finding_access a = {.pc = s->e->pc, .space = (uint8_t)space, .at = func_place_of(s->cta, s->warp, lane)};
  if (s->e->flags & EFF_MEM) a.op = s->e->mem->op, a.bytes = s->e->mem->bytes;
  return a;
}

#endif
