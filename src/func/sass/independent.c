#include "func/sass/independent.h"

#include <stdlib.h>

#include "base/host_memory.h"

/* Code to look at: functions, from their first instruction to the jump to itself with which the compiler ends
 * each. */
struct walk {
  const struct func_launch *l;
  uint64_t n;      /* instructions of the code space */
  bool *seen;      /* by instruction */
  uint64_t *start; /* functions to look at */
  uint64_t n_start;
  int reduction;   /* operation and type of the kernel's reductions; -1: none seen */
};

static void add_start(struct walk *k, uint64_t pc)
{
  uint64_t i = (pc - k->l->code_base) / FUNC_INST_BYTES;
  if (i < k->n && !k->seen[i]) k->start[k->n_start++] = i;
}

/* Reductions whose order does not show: all of one kind. */
static bool commutes(struct walk *k, const struct uop *u)
{
  enum { RED_INC = 3, RED_DEC = 4, RED_XOR = 7 }; /* field RED_OP */
  unsigned op = (unsigned)sass_get(u->s, FLD_RED_OP);
  enum sass_atom_type t = sass_atom_type(u->s);
  int kind = (int)(op | (unsigned)t << 8);
  if (u->s->sem != SEM_RED || (t != ATOM_U32 && t != ATOM_S32) || !sass_has(u->s, FLD_RED_OP)) return false;
  if (op == RED_INC || op == RED_DEC || op > RED_XOR) return false;
  if (k->reduction < 0) k->reduction = kind;
  return k->reduction == kind;
}

static bool keeps_to_its_cta(struct walk *k, const struct uop *u)
{
  const struct inst_mem *m = &u->t->mem;
  bool near = m->space == MEM_NONE || m->space == MEM_SHARED || m->space == MEM_LOCAL || m->space == MEM_CONST;
  if (near) return true;
  if (m->op == MEM_ATOMIC || m->op == MEM_RED) return commutes(k, u);
  return !m->strong;
}

static bool tells_order(struct walk *k, const struct uop *u)
{
  switch (u->s->sem) {
  case SEM_SYSCALL: case SEM_UGETNEXTWORKID: case SEM_UTMAREDG: case SEM_UBLKRED: return true;
  case SEM_MEMBAR: return u->t->scope != SCOPE_CTA;
  case SEM_S2R: case SEM_S2UR: case SEM_CS2R: case SEM_CS2UR: return func_sr_of_schedule(u);
  case SEM_CALL_REL: case SEM_CALL_ABS: return u->s->src[0].kind != SRC_NONE;
  default: return !keeps_to_its_cta(k, u);
  }
}

static bool is_direct_jump(const struct uop *u)
{
  switch (u->s->sem) {
  case SEM_BRA: case SEM_JMP: case SEM_CALL_REL: case SEM_CALL_ABS: return u->s->src[0].kind == SRC_NONE;
  default: return false;
  }
}

static uint64_t target_of(const struct uop *u, uint64_t pc)
{
  bool relative = u->s->sem == SEM_BRA || u->s->sem == SEM_CALL_REL;
  return (uint64_t)u->s->offset + (relative ? pc + FUNC_INST_BYTES : 0);
}

/* False: an instruction tells the order. */
static bool look_at_function(struct walk *k, uint64_t i)
{
  for (; i < k->n && !k->seen[i]; i++) {
    const struct uop *u = &k->l->uop[i];
    uint64_t pc = k->l->code_base + i * FUNC_INST_BYTES;
    k->seen[i] = true;
    if (!uop_is_ready(u)) return false; /* out of the kernel's reach: who knows */
    if (tells_order(k, u)) return false;
    if (!is_direct_jump(u)) continue;
    uint64_t to = target_of(u, pc);
    if (to == pc && u->guard == PRED_NONE) return true;
    add_start(k, to);
  }
  return true;
}

bool func_ctas_independent(const struct func_launch *l)
{
  struct walk k = {.l = l, .n = l->code_bytes / FUNC_INST_BYTES, .reduction = -1};
  k.seen = mem_zeroed(k.n, sizeof *k.seen);
  k.start = mem_zeroed(k.n + 1, sizeof *k.start); /* each instruction adds one at most, and the entry */
  add_start(&k, l->p.entry_pc);
  bool independent = true;
  while (independent && k.n_start) independent = look_at_function(&k, k.start[--k.n_start]);
  mem_free(k.seen);
  mem_free(k.start);
  return independent;
}
