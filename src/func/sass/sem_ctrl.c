/* Control flow and convergence (paths.h does the work). Rules: PTX ISA, Mesa NAK, compiler
 * output (CUDA 13.0): relative register targets are Ra + (pc + 16) + offset, which makes them
 * relative to the start of the code section.
 */
#include "base/bits.h"
#include "func/sass/func_launch.h"
#include "func/sass/groups.h"
#include "func/sass/guest_fault.h"
#include "func/sass/lanes.h"
#include "func/sass/paths.h"

enum { NEXT = 16 };

/* BMOV state numbers (field BMOV_STATE). */
enum { STATE_B15 = 15, STATE_MEXITED = 24, STATE_MKILL = 25, STATE_MACTIVE = 26, STATE_MATEXIT = 27,
       STATE_OPT_STACK = 28, STATE_API_CALL_DEPTH = 29 };

/* Lanes for which the second predicate holds, too; others fall through. */
static uint32_t taken(const struct func_warp *w, const struct uop *u, uint32_t m)
{
  return m & pred_read(w, u->pp, u->pp_xor) & pred_read(w, u->pq, u->pq_xor);
}

static bool bra(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  (void)f;
  m = taken(w, u, m);
  if (m) path_jump(w, m, e->pc + NEXT + (uint64_t)u->s->offset, e);
  else path_next(w);
  return true;
}

/* BRA.ANY: lanes that do not take it follow those that do. */
static bool bra_any(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                    struct fault *f)
{
  (void)f;
  if (taken(w, u, m)) path_jump(w, (uint32_t)e->active, e->pc + NEXT + (uint64_t)u->s->offset, e);
  else path_next(w);
  return true;
}

/* BRA.DIV: taken when lanes of the mask are missing among those that execute; BRA.CONV: when none is.
 * All lanes of the path go the same way: the guard only says which lanes count, as where the member
 * masks of a warp differ (compiler output: R2UR Pu, REDUX.OR, @!Pu BRA.DIV). The mask is row a, a
 * uniform register that may be inverted, or without one the whole warp (sm_75, which has no such operand: compiler
 * output, before calls of the functions that begin with WARPSYNC 0xffffffff); lanes that have exited are not
 * missing. */
static bool bra_converged(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                          struct fault *f)
{
  (void)f;
  uint32_t mask = (row_src(w, u->a)[bits_first(e->active)] & u->a_and) ^ u->a_xor;
  bool missing = mask & w->mactive & ~taken(w, u, m);
  if (missing == (u->imm != 0))
    path_jump(w, (uint32_t)e->active, e->pc + NEXT + (uint64_t)u->s->offset, e);
  else path_next(w);
  return true;
}

/* Register target, with imm2 != 0 relative. */
static bool jump_register(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                          struct fault *f)
{
  (void)f;
  const uint32_t *a = row_src(w, u->a);
  uint64_t target[LANES], base = (uint64_t)u->s->offset + (u->imm2 ? e->pc + NEXT : 0);
  m = taken(w, u, m);
  if (!m) {
    path_next(w);
    return true;
  }
  uint64_t first = lane_join(a[bits_first(m)], a[LANES + bits_first(m)]);
  bool same = true;
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    target[i] = lane_join(a[i], a[LANES + i]) + base;
    same &= target[i] == first + base;
  }
  if (same) path_jump(w, m, first + base, e);
  else path_jump_lanes(w, m, target, e);
  return true;
}

/* Absolute target in the instruction. */
static bool jump_absolute(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                          struct fault *f)
{
  (void)f;
  m = taken(w, u, m);
  if (m) path_jump(w, m, (uint64_t)u->s->offset, e);
  else path_next(w);
  return true;
}

/* Calls and returns are jumps that convergence knows of. */
static bool call(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  path_call(w, taken(w, u, m));
  return bra(w, u, m, e, f);
}

static bool call_absolute(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  path_call(w, taken(w, u, m));
  return jump_absolute(w, u, m, e, f);
}

static bool call_register(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  path_call(w, taken(w, u, m));
  return jump_register(w, u, m, e, f);
}

static bool ret(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  path_return(w, taken(w, u, m));
  return jump_register(w, u, m, e, f);
}

static bool kill_lanes(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                       struct fault *f)
{
  (void)f;
  m = taken(w, u, m);
  if (m) path_exit(w, m, e);
  else path_next(w);
  return true;
}

static bool bpt(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  enum { BPT_PAUSE = 2 };
  if (u->imm <= BPT_PAUSE) { /* for debuggers: nothing to wait for */
    path_next(w);
    return true;
  }
  unsigned i = bits_first(m);
  return func_fault(w, e, f, FAULT_TRAP, i, 0, "CTA (%u,%u,%u) thread (%u,%u,%u): trap",
                    w->cta->ctaid[0], w->cta->ctaid[1], w->cta->ctaid[2], w->tid[0][i],
                    w->tid[1][i], w->tid[2][i]);
}

/* The guest opens groups without end. */
static bool too_many_groups(const struct func_warp *w, uint32_t m, const struct effect *e, struct fault *f)
{
  return func_fault(w, e, f, FAULT_UNSUPPORTED, bits_first(m), 0,
                    "warp %u has more than %d convergence groups open (BSSY or BMOV without BSYNC or BREAK)",
                    (unsigned)w->warp_id, (int)GROUPS_MAX);
}

static bool bssy(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  return path_bssy(w, u->imm, m, e) || too_many_groups(w, m, e, f);
}

static bool bsync(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  (void)f;
  m = taken(w, u, m);
  if (m) path_bsync(w, u->imm, m, e);
  else path_next(w);
  return true;
}

static bool break_lanes(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                        struct fault *f)
{
  (void)f;
  m = taken(w, u, m);
  if (m) path_break(w, u->imm, m, e);
  else path_next(w);
  return true;
}

static bool warpsync(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                     struct fault *f)
{
  (void)f;
  w->exclusive = (w->exclusive & ~m) | (u->imm2 ? m : 0);
  if (u->imm) { /* all threads of the warp */
    uint32_t all[LANES];
    for (unsigned i = 0; i < LANES; i++) all[i] = FULL_MASK;
    path_warpsync(w, m, all, e);
  } else {
    path_warpsync(w, m, row_src(w, u->a), e);
  }
  return true;
}

static bool yield(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  (void)u, (void)m, (void)f;
  path_yield(w, e);
  return true;
}

/* Sleeps at most twice the operand (PTX ISA); the whole operand is what the effect reports. */
static bool sleep_lanes(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                        struct fault *f)
{
  (void)f;
  const uint32_t *a = row_src(w, u->a);
  uint32_t ns = 0;
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    if (a[i] > ns) ns = a[i];
  }
  e->sleep_ns = ns;
  e->sleep_polls = sass_get(u->s, FLD_SLEEP_SYNCS);
  path_yield(w, e);
  return true;
}

/* Value of a convergence-unit register that is not a barrier. */
static uint32_t state_read(const struct func_warp *w, unsigned state)
{
  if (state == STATE_MEXITED) return w->lanes_present & ~w->mactive;
  if (state == STATE_MACTIVE) return path_lanes(w);
  return 0; /* MKILL, MATEXIT, OPT_STACK, API_CALL_DEPTH: nothing sets them here */
}

static bool bmov_read(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                      struct fault *f)
{
  (void)e, (void)f;
  uint32_t *d = row_dst(w, u->d);
  if (u->imm <= STATE_B15) path_keep(w, u->imm, m, u->imm2, d);
  else w->launch->ops->fill(d, state_read(w, u->imm), m);
  return true;
}

/* A barrier is cleared and what it was is lost. */
static bool bmov_drop(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  (void)f;
  path_drop(w, u->imm, m, e);
  return true;
}

/* Between states: u->imm from, u->imm2 to (a barrier register), bit 8 = clears the source. */
static bool bmov_copy(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                      struct fault *f)
{
  uint32_t word[LANES];
  if (u->imm <= STATE_B15) {
    path_keep(w, u->imm, m, u->imm2 >> 8, word);
  } else {
    uint32_t lanes = state_read(w, u->imm);
    for (unsigned i = 0; i < LANES; i++) word[i] = lanes >> i & 1 ? lanes : 0;
  }
  return path_bring(w, u->imm2 & STATE_B15, m, word, e) || too_many_groups(w, m, e, f);
}

static bool bmov_write(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                       struct fault *f)
{
  return path_bring(w, u->imm, m, row_src(w, u->a), e) || too_many_groups(w, m, e, f);
}

/* MACTIVE to a register: which path asks decides. */
static bool bmov_active(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  path_next(w);
  return bmov_read(w, u, m, e, f);
}

/* MACTIVE from a barrier register: whole quads of its lanes, or again those that it was read from. */
static bool bmov_activate(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  enum { PQUAD = 1 };
  uint32_t own = path_lanes(w), lanes = path_group(w, u->imm2 & STATE_B15, bits_first(own));
  (void)m;
  if (lanes != own)
    return func_fault(w, e, f, FAULT_UNSUPPORTED, bits_first(own), 0, "BMOV to MACTIVE of lanes 0x%x, but 0x%x are "
                      "active; choosing other lanes is not simulated", lanes, own);
  if (u->imm2 >> 8 & PQUAD) path_quads(w, lanes);
  else path_own(w);
  return true;
}

static bool nop(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                struct fault *f)
{
  (void)w, (void)u, (void)m, (void)e, (void)f;
  return true;
}

static bool state_known(unsigned state)
{
  return state <= STATE_B15 || (state >= STATE_MEXITED && state <= STATE_API_CALL_DEPTH);
}

static uop_fn *pick_bra(const struct sass_inst *s, struct uop *u)
{
  enum { COND_DIV = 2 };
  unsigned cond = (unsigned)sass_get(s, FLD_BRA_COND);
  if (sass_get(s, FLD_BRA_ANY)) return cond < COND_DIV ? bra_any : NULL;
  if (cond < COND_DIV) return bra;
  u->imm = cond == COND_DIV;
  u->a = s->ua == SASS_URZ ? (struct row_ref){BASE_POOL, 0}
                           : (struct row_ref){BASE_UREG, (uint32_t)s->ua * ROW_BYTES};
  u->a_and = FULL_MASK;
  bool whole = !sass_has(s, FLD_URA_MASK) && !sass_has(s, FLD_URA); /* the row has no operand */
  u->a_xor = whole || sass_get(s, FLD_URA_NOT) ? FULL_MASK : 0;
  return bra_converged;
}

static uop_fn *pick_jump(const struct sass_inst *s, struct uop *u, bool relative)
{
  if (s->src[0].kind == SRC_NONE) return relative ? bra : jump_absolute;
  u->imm2 = relative;
  return jump_register;
}

static uop_fn *pick_call(const struct sass_inst *s, struct uop *u, bool relative)
{
  if (s->src[0].kind == SRC_NONE) return relative ? call : call_absolute;
  u->imm2 = relative;
  return call_register;
}

static uop_fn *pick_ret(const struct sass_inst *s, struct uop *u)
{
  u->imm2 = !sass_get(s, FLD_RET_ABS);
  return ret;
}

static uop_fn *pick_warpsync(const struct sass_inst *s, struct uop *u)
{
  u->imm = s->src[0].kind == SRC_NONE;
  u->imm2 = sass_get(s, FLD_WARPSYNC_EXCL80) || sass_get(s, FLD_WARPSYNC_EXCL90) ||
            sass_get(s, FLD_WARPSYNC_EXCL_ALL) ||
            sass_get(s, FLD_WARPSYNC_COLLECTIVE);
  return warpsync;
}

/* Other states have no effect here. */
static uop_fn *pick_bmov_write(struct uop *u, bool barrier)
{
  u->flags = barrier ? UOP_CONTROL : 0;
  return barrier ? bmov_write : nop;
}

static uop_fn *pick_bmov(const struct sass_inst *s, struct uop *u)
{
  u->imm = (uint32_t)sass_get(s, FLD_BMOV_STATE);
  u->imm2 = (uint32_t)sass_get(s, FLD_BMOV_CLEAR);
  u->flags = 0;
  if (!state_known(u->imm)) return NULL;
  if (sass_has(s, FLD_BMOV_PQUAD)) {
    u->imm2 = s->bar | (uint32_t)sass_get(s, FLD_BMOV_PQUAD) << 8;
    u->flags = UOP_CONTROL;
    return u->imm == STATE_MACTIVE ? bmov_activate : NULL;
  }
  bool barrier = u->imm <= STATE_B15;
  bool to_barrier = sass_has(s, FLD_BREG), drop = s->dst == SASS_RZ && barrier;
  if (to_barrier) u->imm2 = s->bar | u->imm2 << 8;
  else if (s->src[0].kind != SRC_NONE) return pick_bmov_write(u, barrier);
  else if (s->dst == SASS_RZ && !u->imm2) return u->imm == STATE_MACTIVE ? nop : NULL;
  if (!to_barrier && !drop && u->imm != STATE_MACTIVE) return bmov_read;
  u->flags = UOP_CONTROL; /* paths may be released, or what the path is matters */
  if (to_barrier) return bmov_copy;
  return drop ? bmov_drop : bmov_active;
}

static uop_fn *pick_barrier(const struct sass_inst *s, struct uop *u, uop_fn *fn)
{
  u->imm = s->bar & (N_BREGS - 1);
  return fn;
}

uop_fn *sem_ctrl_handler(const struct sass_inst *s, struct uop *u)
{
  u->flags |= UOP_CONTROL;
  switch (s->sem) {
  case SEM_BRA: return pick_bra(s, u);
  case SEM_BRX: return pick_jump(s, u, true);
  case SEM_JMP: case SEM_JMX: return pick_jump(s, u, false);
  case SEM_CALL_REL: return pick_call(s, u, true);
  case SEM_CALL_ABS: return pick_call(s, u, false);
  case SEM_RET: return pick_ret(s, u);
  case SEM_EXIT: case SEM_KILL: return kill_lanes;
  case SEM_BPT: u->imm = (uint32_t)sass_get(s, FLD_BPT_OP); return bpt;
  case SEM_BSSY: return pick_barrier(s, u, bssy);
  case SEM_BSYNC: return pick_barrier(s, u, bsync);
  case SEM_BREAK: return pick_barrier(s, u, break_lanes);
  case SEM_WARPSYNC: return pick_warpsync(s, u);
  case SEM_YIELD: return yield;
  case SEM_NANOSLEEP: return sleep_lanes;
  case SEM_BMOV: return pick_bmov(s, u);
  case SEM_NOP: case SEM_DEPBAR: case SEM_LDGDEPBAR: case SEM_MEMBAR: case SEM_ERRBAR:
  case SEM_CCTL: case SEM_PREFETCH:
    u->flags &= (uint8_t)~UOP_CONTROL;
    return nop;
  default:
    u->flags &= (uint8_t)~UOP_CONTROL;
    return NULL;
  }
}
