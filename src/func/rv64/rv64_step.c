#include "func/rv64/rv64_step.h"

#include <fenv.h>
#include <string.h>

#include "func/rv64/rv64_csr.h"
#include "func/rv64/rv64_fp.h"

/* --- classes and registers ------------------------------------------------------------------------ */

/* Fields of the words of rv64.def, by which the manual (chapter 24) says what registers are. */
#define OPCODE(m)  ((m) & 0x7f)
#define FUNCT3(m)  ((m) >> 12 & 7)
#define FUNCT5(m)  ((m) >> 27)
#define IS_M(m)    ((m) >> 25 == 1)
#define IS_DOUBLE(m) ((m) >> 25 & 1)

enum { OP_LOAD = 0x03, OP_LOAD_FP = 0x07, OP_FENCE = 0x0f, OP_IMM = 0x13, OP_AUIPC = 0x17, OP_IMM_32 = 0x1b,
       OP_STORE = 0x23, OP_STORE_FP = 0x27, OP_AMO = 0x2f, OP_OP = 0x33, OP_LUI = 0x37, OP_32 = 0x3b, OP_MADD = 0x43,
       OP_NMADD = 0x4f, OP_FP = 0x53, OP_BRANCH = 0x63, OP_JALR = 0x67, OP_JAL = 0x6f, OP_SYSTEM = 0x73 };
/* funct5 of OP_FP */
enum { FP_ADD, FP_SUB, FP_MUL, FP_DIV, FP_SGNJ, FP_MINMAX, FP_FROM_FP = 8, FP_SQRT = 0x0b, FP_COMPARE = 0x14,
       FP_TO_INT = 0x18, FP_FROM_INT = 0x1a, FP_MOVE_X = 0x1c, FP_MOVE_F = 0x1e };
/* funct5 of OP_AMO */
enum { AMO_LR = 2, AMO_SC = 3 };

enum { NONE, INTEGER, FLOAT }; /* kind of a register */

#define IS_MADD(m) (OPCODE(m) >= OP_MADD && OPCODE(m) <= OP_NMADD)
#define DST(m)                                                                                                      \
  (OPCODE(m) == OP_STORE || OPCODE(m) == OP_STORE_FP || OPCODE(m) == OP_BRANCH || OPCODE(m) == OP_FENCE             \
     ? NONE                                                                                                         \
   : OPCODE(m) == OP_LOAD_FP || IS_MADD(m) ? FLOAT                                                                  \
   : OPCODE(m) == OP_FP                                                                                             \
     ? (FUNCT5(m) == FP_COMPARE || FUNCT5(m) == FP_TO_INT || FUNCT5(m) == FP_MOVE_X ? INTEGER : FLOAT)              \
   : OPCODE(m) == OP_SYSTEM && FUNCT3(m) == 0 ? NONE                                                                \
                                              : INTEGER)
#define SRC1(m)                                                                                                     \
  (OPCODE(m) == OP_LUI || OPCODE(m) == OP_AUIPC || OPCODE(m) == OP_JAL || OPCODE(m) == OP_FENCE                     \
     ? NONE                                                                                                         \
   : OPCODE(m) == OP_SYSTEM ? (FUNCT3(m) >= 1 && FUNCT3(m) <= 3 ? INTEGER : NONE)                                   \
   : IS_MADD(m) ? FLOAT                                                                                             \
   : OPCODE(m) == OP_FP ? (FUNCT5(m) == FP_FROM_INT || FUNCT5(m) == FP_MOVE_F ? INTEGER : FLOAT)                    \
                        : INTEGER)
#define SRC2(m)                                                                                                     \
  (OPCODE(m) == OP_STORE || OPCODE(m) == OP_BRANCH || OPCODE(m) == OP_OP || OPCODE(m) == OP_32 ? INTEGER            \
   : OPCODE(m) == OP_AMO ? (FUNCT5(m) == AMO_LR ? NONE : INTEGER)                                                   \
   : OPCODE(m) == OP_STORE_FP || IS_MADD(m) ? FLOAT                                                                 \
   : OPCODE(m) == OP_FP && (FUNCT5(m) <= FP_MINMAX || FUNCT5(m) == FP_COMPARE) ? FLOAT                              \
                                                                               : NONE)
#define FP_CLASS(m)                                                                                                 \
  (FUNCT5(m) == FP_MUL ? CPU_FP_MUL                                                                                 \
   : FUNCT5(m) == FP_DIV || FUNCT5(m) == FP_SQRT ? (IS_DOUBLE(m) ? CPU_FP_DIV_DOUBLE : CPU_FP_DIV_SINGLE)           \
   : FUNCT5(m) == FP_SGNJ || FUNCT5(m) == FP_MINMAX || FUNCT5(m) == FP_COMPARE || FUNCT5(m) == FP_MOVE_X ||         \
       FUNCT5(m) == FP_MOVE_F                                                                                       \
     ? CPU_FP_MOVE                                                                                                  \
     : CPU_FP_ADD)
#define CLASS(m)                                                                                                    \
  (OPCODE(m) == OP_LOAD || OPCODE(m) == OP_LOAD_FP     ? CPU_LOAD                                                   \
   : OPCODE(m) == OP_STORE || OPCODE(m) == OP_STORE_FP ? CPU_STORE                                                  \
   : OPCODE(m) == OP_BRANCH                            ? CPU_BRANCH                                                 \
   : OPCODE(m) == OP_JAL                               ? CPU_JUMP                                                   \
   : OPCODE(m) == OP_JALR                              ? CPU_INDIRECT                                               \
   : OPCODE(m) == OP_FENCE  ? (FUNCT3(m) ? CPU_CODE_FENCE : CPU_FENCE)                                              \
   : OPCODE(m) == OP_SYSTEM ? (FUNCT3(m) ? CPU_CONTROL : CPU_TRAP)                                                  \
   : OPCODE(m) == OP_AMO    ? (FUNCT5(m) == AMO_LR   ? CPU_RESERVE                                                  \
                               : FUNCT5(m) == AMO_SC ? CPU_CONDITIONAL                                              \
                                                     : CPU_ATOMIC)                                                  \
   : IS_MADD(m)          ? CPU_FP_FMA                                                                               \
   : OPCODE(m) == OP_FP  ? FP_CLASS(m)                                                                              \
   : OPCODE(m) == OP_OP && IS_M(m) ? (FUNCT3(m) < 4 ? CPU_MUL : CPU_DIV)                                            \
   : OPCODE(m) == OP_32 && IS_M(m) ? (FUNCT3(m) < 4 ? CPU_MUL : CPU_DIV_WORD)                                       \
                                   : CPU_ALU)

struct use {
  uint8_t class, dst, src[3];
};

static const struct use use_of[RV64_OP__N] = {
  [RV64_UNDECODED] = {CPU_TRAP, NONE, {NONE, NONE, NONE}},
  [RV64_ILLEGAL] = {CPU_TRAP, NONE, {NONE, NONE, NONE}},
  [RV64_PAGE_END] = {CPU_TRAP, NONE, {NONE, NONE, NONE}},
#define RV64INST(id, name, mask, match, format) \
  [RV64_##id] = {CLASS(match), DST(match), {SRC1(match), SRC2(match), IS_MADD(match) ? FLOAT : NONE}},
#include "isa/rv64/rv64.def"
#undef RV64INST
};

/* x1 … x31: 1 … 31; f0 … f31: 32 … 63. */
static uint8_t number(unsigned kind, unsigned reg)
{
  return (uint8_t)(kind == FLOAT ? 32 + reg : kind == INTEGER && reg < RV64_NOWHERE ? reg : 0);
}

enum { REG_RA = 1, REG_T0 = 5 };

static bool links(unsigned reg)
{
  return reg == REG_RA || reg == REG_T0;
}

static bool look(void *hart, uint64_t pc, struct cpu_inst *i)
{
  struct rv64_stepper *s = hart;
  const struct rv64_code *page = s->page[(pc >> RV64_PAGE_SHIFT) % RV64_STEP_PAGES];
  if (!page || page->base != (pc & RV64_PAGE_MASK)) return false;
  const struct rv64_inst *in = &page->inst[(pc & ~RV64_PAGE_MASK) / 2];
  const struct use *u = &use_of[in->op];
  if (in->op == RV64_UNDECODED) return false;
  s->inst = in;
  const bool jump = u->class == CPU_JUMP || u->class == CPU_INDIRECT;
  *i = (struct cpu_inst){.class = u->class, .bytes = (uint8_t)(2 * in->parcels), .dst = number(u->dst, in->rd),
                         .src = {number(u->src[0], in->rs1), number(u->src[1], in->rs2), number(u->src[2], in->rs3)},
                         .call = jump && links(in->rd),
                         .returns = u->class == CPU_INDIRECT && links(in->rs1) && !links(in->rd)};
  return true;
}

/* --- a step --------------------------------------------------------------------------------------- */

static unsigned rounding(const struct rv64_hart *h, const struct rv64_inst *in)
{
  return in->rm == RV64_DYN ? h->frm : in->rm;
}

static enum cpu_step trap(struct rv64_stepper *s, enum rv64_stop why, uint64_t value)
{
  s->stop = why;
  s->trap_value = value;
  return CPU_STEP_TRAP;
}

static enum cpu_step illegal(struct rv64_stepper *s, uint64_t pc)
{
  const struct rv64_code *page = s->page[(pc >> RV64_PAGE_SHIFT) % RV64_STEP_PAGES];
  const size_t at = (size_t)(s->inst - page->inst);
  uint16_t low, high = 0;
  memcpy(&low, page->host + 2 * at, 2);
  if (s->inst->parcels == 2 && at + 1 < RV64_PAGE_PARCELS) memcpy(&high, page->host + 2 * at + 2, 2);
  return trap(s, RV64_STOP_ILLEGAL, (uint64_t)high << 16 | low);
}

enum { CSR_TIME = 0xc01, CSR_INSTRET = 0xc02 };

static bool csr(struct rv64_stepper *s, enum rv64_csr_op op, uint64_t value, const struct cpu_clocks *now,
                uint64_t *old)
{
  const struct rv64_inst *in = s->inst;
  const unsigned n = (unsigned)in->imm;
  const bool writes = op == RV64_CSR_WRITE || in->rs1 != 0;
  s->hart.fflags |= rv64_fp_collect();
  const uint64_t clock = n == CSR_TIME ? now->ns : n == CSR_INSTRET ? now->insts : now->cycles;
  return rv64_csr(&s->hart, n, op, value, writes, clock, old);
}

static enum cpu_step want(struct rv64_stepper *s, struct cpu_access *a, uint64_t addr, unsigned bytes, uint64_t value)
{
  *a = (struct cpu_access){.addr = addr, .value = value, .bytes = (uint8_t)bytes, .op = (uint8_t)s->inst->op,
                           .token = {(uint8_t)s->inst->op, s->inst->rd}};
  return CPU_STEP_ACCESS;
}

_Static_assert(RV64_OP__N <= 256, "struct cpu_access has a byte for an operation");

#define PC   pc
#define FORGET_CODE (void)0 /* the core asks for it */
#define DONE return CPU_STEP_DONE
#define STOP(why) return trap(s, why, 0)
#define JUMP(offset, links)                            \
  do {                                                 \
    if (links) x[in->rd] = pc + 2 * (uint64_t)in->parcels; \
    *next = pc + (uint64_t)(offset);                   \
  } while (0)
#define JUMP_TO(target)                                \
  do {                                                 \
    *next = (target) & ~(uint64_t)1;                   \
    x[in->rd] = pc + 2 * (uint64_t)in->parcels;        \
  } while (0)
#define DO(id, statement) case RV64_##id: statement; DONE;
#define X_IS(id, value) case RV64_##id: x[in->rd] = (value); DONE;
#define F_IS(id, value) case RV64_##id: f[in->rd] = (value); DONE;
#define BRANCH(id, condition) case RV64_##id: if (condition) JUMP(IMM, false); DONE;
#define LOAD(id, type) case RV64_##id: return want(s, a, X1 + (uint64_t)IMM, sizeof(type), 0);
#define LOAD_F(id, type, with) LOAD(id, type)
#define STORE(id, type, value) case RV64_##id: return want(s, a, X1 + (uint64_t)IMM, sizeof(type), (type)(value));
#define AT_X1(id, type, value) \
  case RV64_##id:              \
    return X1 & (sizeof(type) - 1) ? trap(s, RV64_STOP_MISALIGNED, X1) : want(s, a, X1, sizeof(type), value);
#define LOAD_RESERVED(id, type) AT_X1(id, type, 0)
#define STORE_CONDITIONAL(id, type) AT_X1(id, type, (type)X2)
#define AMO(id, type, result, value) AT_X1(id, type, (type)X2)
#define X_CSR(id, how, value)                                  \
  case RV64_##id: {                                            \
    uint64_t old;                                              \
    if (!csr(s, how, value, now, &old)) return illegal(s, pc); \
    x[in->rd] = old;                                           \
    DONE;                                                      \
  }
#define F_ROUNDED(id, fn, a, b, d)                                                        \
  case RV64_##id: {                                                                       \
    const unsigned rm = rounding(h, in);                                                  \
    if (rm > RV64_RMM) return illegal(s, pc);                                             \
    f[in->rd] = rm == RV64_RNE ? fn(a, b, d)                                              \
                               : rv64_fp_rounded(fn, in->op, (enum rv64_rounding)rm, a, b, d); \
    DONE;                                                                                 \
  }
#define X_FROM_F(id, value, bits, is_signed)                                                            \
  case RV64_##id: {                                                                                     \
    const unsigned rm = rounding(h, in);                                                                \
    if (rm > RV64_RMM) return illegal(s, pc);                                                           \
    x[in->rd] = rv64_fp_to_int(value, bits, is_signed, (enum rv64_rounding)rm, &h->fflags);             \
    DONE;                                                                                               \
  }

static enum cpu_step step(void *hart, uint64_t pc, const struct cpu_clocks *now, uint64_t *next, struct cpu_access *a)
{
  struct rv64_stepper *s = hart;
  const struct rv64_inst *in = s->inst;
  struct rv64_hart *h = &s->hart;
  uint64_t *x = h->x, *f = h->f;
  *next = pc + 2 * (uint64_t)in->parcels;
  switch (in->op) {
#include "func/rv64/rv64_exec.def"
  default: return illegal(s, pc);
  }
}

/* --- what memory gives ---------------------------------------------------------------------------- */

#undef X_IS
#undef F_IS
#undef BRANCH
#undef DO
#undef LOAD
#undef LOAD_F
#undef STORE
#undef LOAD_RESERVED
#undef STORE_CONDITIONAL
#undef AMO
#undef X_CSR
#undef F_ROUNDED
#undef X_FROM_F
#define X_IS(id, value)
#define F_IS(id, value)
#define BRANCH(id, condition)
#define DO(id, statement)
#define STORE(id, type, value)
#define X_CSR(id, how, value)
#define F_ROUNDED(id, fn, a, b, d)
#define X_FROM_F(id, value, bits, is_signed)
#define LOAD(id, type) case RV64_##id: s->hart.x[rd] = (uint64_t)(type)value; break;
#define LOAD_F(id, type, with) case RV64_##id: s->hart.f[rd] = (with) | (type)value; break;
#define LOAD_RESERVED(id, type) LOAD(id, type)
#define STORE_CONDITIONAL(id, type) LOAD(id, type)
#define AMO(id, type, result, value_) case RV64_##id: s->hart.x[rd] = (uint64_t)(result)(type)value; break;

static void finish(void *hart, const struct cpu_access *a, uint64_t value)
{
  struct rv64_stepper *s = hart;
  const unsigned rd = a->token[1];
  switch (a->token[0]) {
#include "func/rv64/rv64_exec.def"
  default: break;
  }
}

#undef LOAD
#undef LOAD_F
#undef LOAD_RESERVED
#undef STORE_CONDITIONAL
#undef AMO
#define LOAD(id, type)
#define LOAD_F(id, type, with)
#define LOAD_RESERVED(id, type)
#define STORE_CONDITIONAL(id, type)
#define AMO(id, type, result, value)                        \
  case RV64_##id: {                                         \
    const type old = (type)before, with = (type)operand;    \
    (void)old;                                              \
    return (value);                                         \
  }

static uint64_t atomic(unsigned op, unsigned bytes, uint64_t before, uint64_t operand, uint64_t compare)
{
  (void)bytes, (void)compare;
  switch (op) {
#include "func/rv64/rv64_exec.def"
  default: return before;
  }
}

static void enter(void *hart)
{
  (void)hart;
  if (fetestexcept(FE_ALL_EXCEPT)) feclearexcept(FE_ALL_EXCEPT); /* which is dear, in each window of each core */
}

static void leave(void *hart)
{
  struct rv64_stepper *s = hart;
  s->hart.fflags |= rv64_fp_collect();
}

const struct cpu_step_ops rv64_step_ops = {look, step, finish, atomic, enter, leave};

/* --- code ----------------------------------------------------------------------------------------- */

bool rv64_step_bring(struct rv64_core *c, struct rv64_stepper *s, uint64_t pc)
{
  struct rv64_code *page = rv64_code_at(c, pc);
  if (!page) return false;
  const size_t wanted = (pc & ~RV64_PAGE_MASK) / 2;
  for (size_t i = 0; i < RV64_PAGE_PARCELS; i++) {
    struct rv64_inst *in = &page->inst[i];
    if (in->op != RV64_UNDECODED || rv64_code_decode(c, page, in)) continue;
    if (i == wanted) return false;
  }
  s->page[(pc >> RV64_PAGE_SHIFT) % RV64_STEP_PAGES] = page;
  return true;
}

void rv64_step_forget(struct rv64_stepper *s)
{
  memset(s->page, 0, sizeof s->page);
  s->inst = NULL;
}
