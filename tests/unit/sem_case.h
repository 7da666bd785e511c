/* Harness for instructions with scalar references (test_sem_int.c, test_sem_logic.c).
 *
 * Each case is an instruction word (modifier bits as the CUDA 13.0 compiler writes them), decoded,
 * given to the pickers of every x86 level this machine runs, and executed on random and edge
 * operands with full and partial lane masks. References work bit by bit or in 128-bit arithmetic,
 * one lane at a time. Checked besides the result: predicates, lanes outside the mask, every other
 * register, and destinations that are also sources.
 */
#ifndef WS_TESTS_SEM_CASE_H
#define WS_TESTS_SEM_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "func/sass/uop.h"
#include "isa/sass/sass.h"

/* Registers of every word: vector and uniform alike. c and d are pairs. */
enum { RA = 2, RB = 5, RC = 6, RD = 12, N_TEST_REGS = 24 };
/* Predicates: destinations P1, P2; sources P3, P4, P5. */
enum { PU = 1, PV = 2, PP = 3, PQ = 4, PR = 5 };
enum { ROUNDS = 24, POOL_ROWS = WIDE_ROWS + 4 };

/* One lane's operands and results; preds: bit i = P_i (UP_i). */
struct lane {
  uint32_t a, b, c, c_hi, d, d_hi, preds;
};

struct op;
typedef void ref_fn(const struct op *, struct lane *);

struct op {
  struct word128 w;
  unsigned sm;
  ref_fn *ref;
  unsigned k[4];  /* parameters of the reference */
  bool neg[3];    /* source modifier bits set in the word */
  bool uniform, wide;
  uint32_t imm, imm_hi; /* value of an immediate or constant source */
};

/* ---- machine --------------------------------------------------------------------------------- */

struct machine {
  struct func_warp w;
  _Alignas(128) uint32_t pool[POOL_ROWS][LANES];
  _Alignas(128) uint32_t reg[N_TEST_REGS + WIDE_ROWS][LANES];
  _Alignas(128) uint32_t ureg[N_UREGS + WIDE_ROWS][LANES];
};

static uint64_t rng = 0x853c49e6748fea9bull;

static inline uint32_t random32(void)
{
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return (uint32_t)(rng >> 16);
}

/* Half of the values lie where carries, signs and shift limits change. */
static inline uint32_t operand(void)
{
  static const uint32_t edge[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 0xff, 0x7fff, 0x8000, 0xffff,
                                  0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
                                  0xffffffff, 0x80008000, 0x7fff7fff, 0x00ff00ff, 0x80808080};
  uint32_t r = random32();
  switch (r & 7) {
  case 0:
  case 1: return edge[(r >> 8) % (sizeof edge / sizeof *edge)];
  case 2: return (r >> 8) & 63;
  case 3: return 0u - (r >> 8 & 15);
  default: return random32();
  }
}

static inline void machine_fill(struct machine *m, const struct op *o)
{
  memset(m, 0, sizeof *m);
  m->w.base[BASE_POOL] = (uint8_t *)m->pool;
  m->w.base[BASE_REG] = (uint8_t *)m->reg;
  m->w.base[BASE_UREG] = (uint8_t *)m->ureg;
  for (unsigned r = 0; r < N_TEST_REGS + WIDE_ROWS; r++) {
    uint32_t v = operand();
    for (unsigned i = 0; i < LANES; i++) m->reg[r][i] = operand(), m->ureg[r][i] = v;
  }
  for (unsigned i = 0; i < LANES; i++) {
    if (random32() & 1) m->reg[RB][i] = m->reg[RA][i]; /* equal operands matter to compares */
    m->pool[WIDE_ROWS][i] = o->imm;
    m->pool[WIDE_ROWS + 1][i] = o->imm_hi;
  }
  if (random32() & 1) memcpy(m->ureg[RB], m->ureg[RA], ROW_BYTES);
  for (unsigned p = 0; p < 7; p++) {
    m->w.pred[p] = random32();
    m->w.pred[PRED_UNIFORM + p] = random32() & 1 ? FULL_MASK : 0;
  }
  m->w.pred[7] = m->w.pred[15] = FULL_MASK;
}

static inline struct row_ref source(const struct sass_src *s)
{
  if (s->kind == SRC_REG && s->index != SASS_RZ) {
    return (struct row_ref){BASE_REG, s->index * (uint32_t)ROW_BYTES};
  }
  if (s->kind == SRC_UREG && s->index != SASS_URZ) {
    return (struct row_ref){BASE_UREG, s->index * (uint32_t)ROW_BYTES};
  }
  bool pool = s->kind == SRC_IMM || s->kind == SRC_CONST;
  return (struct row_ref){BASE_POOL, pool ? WIDE_ROWS * ROW_BYTES : 0};
}

static inline void pred_source(const struct sass_pred *p, uint8_t *index, uint32_t *x)
{
  *index = (uint8_t)(p->index + (p->uniform ? PRED_UNIFORM : 0));
  *x = p->neg ? FULL_MASK : 0;
}

static inline void resolve(const struct sass_inst *s, const struct op *o, struct uop *u)
{
  uint32_t *const xor_of[3] = {&u->a_xor, &u->b_xor, &u->c_xor};
  memset(u, 0, sizeof *u);
  u->s = s;
  u->flags = o->uniform ? UOP_UNIFORM : 0;
  u->a = source(&s->src[0]);
  u->b = source(&s->src[1]);
  u->c = source(&s->src[2]);
  u->a_and = u->b_and = u->c_and = FULL_MASK;
  for (unsigned k = 0; k < 3; k++) *xor_of[k] = s->src[k].neg ? FULL_MASK : 0;
  pred_source(&s->pp, &u->pp, &u->pp_xor);
  pred_source(&s->pq, &u->pq, &u->pq_xor);
  pred_source(&s->pr, &u->pr, &u->pr_xor);
  u->pu = s->pu == SASS_PT ? PRED_NONE : (uint8_t)(s->pu + (s->pu_uniform ? PRED_UNIFORM : 0));
  u->pv = s->pv == SASS_PT ? PRED_NONE : (uint8_t)(s->pv + (s->pu_uniform ? PRED_UNIFORM : 0));
  u->d = o->uniform ? (struct row_ref){BASE_UREG, s->udst * (uint32_t)ROW_BYTES}
                    : (struct row_ref){BASE_REG, s->dst * (uint32_t)ROW_BYTES};
  if (o->uniform && s->udst == SASS_URZ) u->d.off = N_UREGS * ROW_BYTES;
  if (!o->uniform && s->dst == SASS_RZ) u->d.off = N_TEST_REGS * ROW_BYTES;
}

/* ---- levels ---------------------------------------------------------------------------------- */

struct level {
  const char *name;
  unsigned number; /* of sem_select */
  sem_picker *vector, *uniform;
  bool runs; /* on this host, and is in this build */
};

static struct level levels[] = {{.name = "v1", .number = 1}, {.name = "v3", .number = 3}, {.name = "v4", .number = 4}};

/* Of a level's pickers integers come first, then the uniform datapath (sem_select.c). */
static inline int setup(void **state)
{
  (void)state;
  for (unsigned l = 0; l < sizeof levels / sizeof levels[0]; l++) {
    const struct sem_table *t = sem_select(levels[l].number);
    levels[l].runs = t != NULL;
    if (t) levels[l].vector = t->pick[0], levels[l].uniform = t->pick[1];
  }
  return 0;
}

/* ---- running a case -------------------------------------------------------------------------- */

static inline uint32_t preds_of(const struct machine *m, const struct op *o, unsigned lane)
{
  uint32_t r = 0;
  for (unsigned p = 0; p < 7; p++) {
    r |= (m->w.pred[p + (o->uniform ? PRED_UNIFORM : 0)] >> lane & 1) << p;
  }
  return r;
}

static inline uint32_t read_row(const struct machine *m, struct row_ref r, unsigned row,
                                unsigned lane)
{
  const uint32_t *p = (const uint32_t *)(const void *)(m->w.base[r.base] + r.off);
  return p[row * LANES + lane];
}

static inline void write_row(struct machine *m, struct row_ref r, unsigned row, unsigned lane,
                             uint32_t v)
{
  uint32_t *p = (uint32_t *)(void *)(m->w.base[r.base] + r.off);
  p[row * LANES + lane] = v;
}

/* What the reference makes of every lane of `mask`. */
static inline void expect(struct machine *m, const struct op *o, const struct uop *u, uint32_t mask)
{
  struct machine before = *m;
  before.w.base[BASE_POOL] = (uint8_t *)before.pool;
  before.w.base[BASE_REG] = (uint8_t *)before.reg;
  before.w.base[BASE_UREG] = (uint8_t *)before.ureg;
  for (unsigned i = 0; i < LANES; i++) {
    if (!(mask >> i & 1)) continue;
    struct lane l = {.a = read_row(&before, u->a, 0, i), .b = read_row(&before, u->b, 0, i),
                     .c = read_row(&before, u->c, 0, i), .c_hi = read_row(&before, u->c, 1, i),
                     .preds = preds_of(&before, o, i)};
    l.d = read_row(&before, u->d, 0, i);
    l.d_hi = read_row(&before, u->d, 1, i);
    o->ref(o, &l);
    write_row(m, u->d, 0, i, l.d);
    if (o->wide) write_row(m, u->d, 1, i, l.d_hi);
    for (unsigned p = 0; p < 7; p++) {
      uint32_t *mem = &m->w.pred[p + (o->uniform ? PRED_UNIFORM : 0)];
      *mem = (*mem & ~(1u << i)) | (l.preds >> p & 1) << i;
    }
  }
}

static inline void fail_case(const struct op *o, const char *level, const char *what)
{
  char text[200];
  struct sass_inst s;
  struct inst t;
  struct err e = {0};
  sass_decode(o->sm, o->w, 0, &s, &t, &e);
  sass_print(&s, &t, false, text, sizeof text);
  fail_msg("%s: %s: %s", level, text, what);
}

static inline void compare(const struct op *o, const char *level, const struct machine *got,
                    const struct machine *want)
{
  if (memcmp(got->reg, want->reg, N_TEST_REGS * ROW_BYTES)) fail_case(o, level, "registers");
  if (memcmp(got->ureg, want->ureg, N_UREGS * ROW_BYTES)) fail_case(o, level, "uniform registers");
  if (memcmp(got->w.pred, want->w.pred, sizeof got->w.pred)) fail_case(o, level, "predicates");
  if (memcmp(got->pool, want->pool, sizeof got->pool)) fail_case(o, level, "constants");
}

static inline void run_level(const struct op *o, const struct sass_inst *s,
                             const struct level *level, const struct machine *start,
                             uint32_t mask)
{
  struct machine got = *start, want = *start;
  struct uop u, ref;
  struct fault f = {0};
  struct effect e = {0};
  resolve(s, o, &ref);
  resolve(s, o, &u);
  got.w.base[BASE_POOL] = (uint8_t *)got.pool;
  got.w.base[BASE_REG] = (uint8_t *)got.reg;
  got.w.base[BASE_UREG] = (uint8_t *)got.ureg;
  want.w.base[BASE_POOL] = (uint8_t *)want.pool;
  want.w.base[BASE_REG] = (uint8_t *)want.reg;
  want.w.base[BASE_UREG] = (uint8_t *)want.ureg;
  uop_fn *fn = (o->uniform ? level->uniform : level->vector)(s, &u);
  if (!fn) fail_case(o, level->name, "no handler");
  assert_true(fn(&got.w, &u, mask, &e, &f));
  expect(&want, o, &ref, mask);
  compare(o, level->name, &got, &want);
}

/* A destination that is also a source: the second and third quarter of the rounds. */
static inline uint8_t destination(const struct op *o, unsigned round, uint8_t decoded)
{
  if (decoded == SASS_RZ || round < ROUNDS / 2) return decoded;
  if (o->wide) return round & 1 ? RC : RA;
  return round % 3 == 0 ? RA : round % 3 == 1 ? RB : RC;
}

static inline void check(const struct op *o)
{
  static struct machine start;
  struct sass_inst s;
  struct inst t;
  struct err e = {0};
  if (!sass_decode(o->sm, o->w, 0, &s, &t, &e)) {
    fail_msg("%016llx %016llx: %s", (unsigned long long)o->w.hi, (unsigned long long)o->w.lo,
             e.msg);
  }
  uint8_t dst = s.dst, udst = s.udst;
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint32_t mask = o->uniform || round % 3 == 0 ? FULL_MASK : random32() | 1u << (round & 31);
    machine_fill(&start, o);
    if (!o->uniform) s.dst = destination(o, round, dst);
    if (o->uniform) s.udst = destination(o, round, udst);
    for (unsigned l = 0; l < 3; l++) {
      if (levels[l].runs) run_level(o, &s, &levels[l], &start, mask);
    }
  }
}

/* ---- words ----------------------------------------------------------------------------------- */

static inline void put(struct op *o, unsigned pos, unsigned width, uint64_t v)
{
  for (unsigned k = 0; k < width; k++) {
    uint64_t *half = pos + k < 64 ? &o->w.lo : &o->w.hi;
    uint64_t bit = 1ull << ((pos + k) & 63);
    *half = v >> k & 1 ? *half | bit : *half & ~bit;
  }
}

enum { USES_D = 1, USES_A = 2, USES_B = 4, USES_C = 8, ABC = 15, AB = 7 };

/* A word: opcode (13 bits), modifier bits 95:64 as the compiler writes them with the register
 * fields of `regs` put in; stall 1, no counters. */
static inline struct op op(unsigned sm, unsigned opcode, uint32_t modifiers, unsigned regs,
                           ref_fn *ref)
{
  struct op o = {.sm = sm, .ref = ref};
  o.w.hi = modifiers | 0x000fe200ull << 32;
  put(&o, 0, 12, opcode);
  put(&o, 91, 1, opcode >> 12);
  put(&o, 12, 3, 7);
  if (regs & USES_D) put(&o, 16, 8, RD);
  if (regs & USES_A) put(&o, 24, 8, RA);
  if (regs & USES_B) put(&o, 32, 8, RB);
  if (regs & USES_C) put(&o, 64, 8, RC);
  return o;
}

/* The uniform-datapath word of the same shape: 6-bit registers. */
static inline struct op uop_word(unsigned opcode, uint32_t modifiers, unsigned regs, ref_fn *ref)
{
  struct op o = op(86, opcode | 0x1000, modifiers, 0, ref);
  o.uniform = true;
  if (regs & USES_D) put(&o, 16, 6, RD);
  if (regs & USES_A) put(&o, 24, 6, RA);
  if (regs & USES_B) put(&o, 32, 6, RB);
  if (regs & USES_C) put(&o, 64, 6, RC);
  return o;
}

static inline void set_imm(struct op *o, uint32_t v)
{
  put(o, 9, 3, 4);
  put(o, 32, 32, v);
  o->imm = v;
}

static inline void set_neg(struct op *o, unsigned k)
{
  static const unsigned pos[3] = {72, 63, 75};
  put(o, pos[k], 1, 1);
  o->neg[k] = true;
}

static inline void set_pp(struct op *o, bool neg)
{
  put(o, 87, 3, PP);
  put(o, 90, 1, neg);
}

static inline bool pp_of(const struct op *o, const struct lane *l)
{
  uint32_t field = (uint32_t)(o->w.hi >> (87 - 64)), preds = l->preds | 1u << SASS_PT;
  return (preds >> (field & 7) & 1) ^ (field >> 3 & 1);
}

static inline void set_pred(struct lane *l, unsigned p, bool v)
{
  l->preds = (l->preds & ~(1u << p)) | (uint32_t)v << p;
}

/* Predicate destinations named by the word. */
static inline void result_preds(const struct op *o, struct lane *l, bool u, bool v)
{
  if ((o->w.hi >> (81 - 64) & 7) == PU) set_pred(l, PU, u);
  if ((o->w.hi >> (84 - 64) & 7) == PV) set_pred(l, PV, v);
}

/* Source value as the adder sees it: complemented when its modifier bit is set. */
static inline uint32_t bits_of(const struct op *o, unsigned k, uint32_t v)
{
  return o->neg[k] ? ~v : v;
}

typedef unsigned __int128 u128;

#endif
