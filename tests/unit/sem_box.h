/* Runs one floating-point instruction on every x86 level this host has.
 *
 * Fill box.a, b, c (rows of 32 lanes), the predicates and d's old value; box_run decodes the word,
 * lets the pickers choose a handler and executes it with all lanes and with random lane masks. It
 * checks that all levels agree in every bit and that lanes outside the mask keep their values, and
 * leaves the result in box.d and box.pred. Included by the test programs after cmocka.h.
 */
#ifndef WS_TESTS_SEM_BOX_H
#define WS_TESTS_SEM_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "func/sass/func_launch.h"
#include "func/sass/uop.h"
#include "isa/sass/sass.h"

enum { BOX_A = 16, BOX_B = 32, BOX_C = 48, BOX_D = 64, BOX_REGS = 80, BOX_ROWS = 16 };
enum { BOX_PU = 1, BOX_PV = 2, BOX_PP = 3 };

struct box {
  uint32_t a[BOX_ROWS][LANES], b[BOX_ROWS][LANES], c[BOX_ROWS][LANES], d[BOX_ROWS][LANES];
  uint32_t pred[2 * N_PREDS];
  unsigned sm;
};

static uint64_t box_rng = 0x9e3779b97f4a7c15u;

static inline uint64_t random64(void)
{
  box_rng ^= box_rng << 13;
  box_rng ^= box_rng >> 7;
  box_rng ^= box_rng << 17;
  return box_rng * 0x2545f4914f6cdd1du;
}

static inline uint32_t random32(void)
{
  return (uint32_t)(random64() >> 32);
}

/* Word with registers R64 = op(R16, R32, R48), destinations P1 and P2 only where mods_hi has them.
 */
static inline struct word128 box_word(unsigned opcode, uint64_t mods_lo, uint64_t mods_hi)
{
  struct word128 w = {opcode | 7u << 12 | (uint64_t)BOX_D << 16 | (uint64_t)BOX_A << 24 |
                          (uint64_t)BOX_B << 32 | mods_lo,
                      BOX_C | mods_hi | (uint64_t)15 << 41 | (uint64_t)7 << 46 | (uint64_t)7 << 49};
  return w;
}

/* The same without c; without c and d. */
static inline struct word128 box_word_ab(unsigned opcode, uint64_t mods_lo, uint64_t mods_hi)
{
  struct word128 w = box_word(opcode, mods_lo, 0);
  w.hi = (w.hi & ~(uint64_t)255) | mods_hi;
  return w;
}

static inline struct word128 box_word_pred(unsigned opcode, uint64_t mods_lo, uint64_t mods_hi)
{
  struct word128 w = box_word_ab(opcode, 0, mods_hi);
  w.lo = (w.lo & ~((uint64_t)255 << 16)) | mods_lo;
  return w;
}

/* Destination and source predicates in their usual places. */
#define BOX_PREDS (FIELD_HI(BOX_PU, 81) | FIELD_HI(BOX_PV, 84) | FIELD_HI(BOX_PP, 87))
#define BOX_PP_ONLY          ((uint64_t)BOX_PP << 23)
#define HI(bit)              ((uint64_t)1 << ((bit)-64))
#define FIELD_HI(value, bit) ((uint64_t)(value) << ((bit)-64))

/* FP32, FP64, conversions, products: of a level's pickers (sem_select.c) the third on. */
enum { BOX_FIRST_PICKER = 2, BOX_PICKERS = 4, BOX_LEVELS = 3 };

/* Level 0, 1, 2 is x86-64, -v3, -v4; NULL: not on this host, or not in this build. */
static inline sem_picker *const *box_level(unsigned level)
{
  static const unsigned number[BOX_LEVELS] = {1, 3, 4};
  const struct sem_table *t = sem_select(number[level]);
  return t ? &t->pick[BOX_FIRST_PICKER] : NULL;
}

static inline unsigned box_levels(void)
{
  unsigned n = 0;
  while (n < BOX_LEVELS && box_level(n)) n++;
  return n;
}

static inline struct row_ref box_source(const struct sass_src *s)
{
  if (s->kind != SRC_REG || s->index == SASS_RZ) return (struct row_ref){BASE_POOL, 0};
  return (struct row_ref){BASE_REG, (uint32_t)s->index * ROW_BYTES};
}

static inline bool box_is_pair(unsigned sem)
{
  return sem == SEM_HADD2 || sem == SEM_HMUL2 || sem == SEM_HFMA2 || sem == SEM_HMNMX2 ||
         sem == SEM_HSET2 || sem == SEM_HSETP2 || sem == SEM_VHMNMX;
}

/* As func/sass/prepare.c does: sign and magnitude masks of a float source. */
static inline void box_mods(const struct sass_inst *s, unsigned k, uint32_t *and_, uint32_t *xor_)
{
  const uint32_t sign = box_is_pair(s->sem) ? 0x80008000u : 0x80000000u;
  *and_ = s->src[k].abs ? ~sign : FULL_MASK;
  *xor_ = s->src[k].neg ? sign : 0;
}

static inline void box_uop(struct uop *u, const struct sass_inst *s)
{
  memset(u, 0, sizeof *u);
  u->s = s;
  u->a = box_source(&s->src[0]);
  u->b = box_source(&s->src[1]);
  u->c = box_source(&s->src[2]);
  u->d = (struct row_ref){BASE_REG, BOX_D * ROW_BYTES};
  u->pu = s->pu;
  u->pv = s->pv;
  u->pp = s->pp.index;
  u->pp_xor = s->pp.neg ? FULL_MASK : 0;
  box_mods(s, 0, &u->a_and, &u->a_xor);
  box_mods(s, 1, &u->b_and, &u->b_xor);
  box_mods(s, 2, &u->c_and, &u->c_xor);
}

/* NULL: not executable. */
static inline uop_fn *box_pick(unsigned level, const struct sass_inst *s, struct uop *u)
{
  for (unsigned k = 0; k < 4; k++) {
    uop_fn *fn = box_level(level)[k](s, u);
    if (fn) return fn;
  }
  return sem_pack_handler(s, u);
}

struct box_state {
  _Alignas(128) uint32_t pool[WIDE_ROWS][LANES];
  _Alignas(128) uint32_t reg[BOX_REGS][LANES];
  struct func_warp w;
};

static inline void box_load(struct box_state *st, const struct box *b, const struct func_launch *l)
{
  memset(st, 0, sizeof *st);
  memcpy(st->reg[BOX_A], b->a, sizeof b->a);
  memcpy(st->reg[BOX_B], b->b, sizeof b->b);
  memcpy(st->reg[BOX_C], b->c, sizeof b->c);
  memcpy(st->reg[BOX_D], b->d, sizeof b->d);
  st->w.base[BASE_POOL] = (uint8_t *)st->pool;
  st->w.base[BASE_REG] = (uint8_t *)st->reg;
  memcpy(st->w.pred, b->pred, sizeof b->pred);
  st->w.pred[7] = st->w.pred[15] = FULL_MASK;
  st->w.launch = l;
}

/* Decodes; fails the test where the word has no row. */
static inline void box_decode(struct sass_inst *s, struct word128 w, unsigned sm)
{
  struct inst t;
  struct err e = {0};
  if (!sass_decode(sm, w, 0, s, &t, &e))
    fail_msg("word %016llx %016llx does not decode", (unsigned long long)w.hi,
             (unsigned long long)w.lo);
}

static inline void box_run(struct box *b, struct word128 w)
{
  static struct box_state full, part;
  static uint32_t first[BOX_ROWS][LANES];
  static struct func_launch launch;
  const unsigned sm = b->sm ? b->sm : 86;
  struct sass_inst s;
  uint32_t first_pred[N_PREDS] = {0};

  launch.p.sm = sm;
  box_decode(&s, w, sm);
  for (unsigned level = 0; level < box_levels(); level++) {
    struct uop u;
    box_uop(&u, &s);
    uop_fn *fn = box_pick(level, &s, &u);
    assert_non_null(fn);
    box_load(&full, b, &launch);
    assert_true(fn(&full.w, &u, FULL_MASK, NULL, NULL));
    if (level == 0) {
      memcpy(first, full.reg[BOX_D], sizeof first);
      memcpy(first_pred, full.w.pred, sizeof first_pred);
    }
    assert_memory_equal(first, full.reg[BOX_D], sizeof first);
    assert_memory_equal(first_pred, full.w.pred, sizeof first_pred);

    const uint32_t m = random32() | 1;
    box_load(&part, b, &launch);
    assert_true(fn(&part.w, &u, m, NULL, NULL));
    for (unsigned r = 0; r < BOX_ROWS; r++)
      for (unsigned i = 0; i < LANES; i++)
        assert_int_equal(part.reg[BOX_D + r][i], m >> i & 1 ? first[r][i] : b->d[r][i]);
    for (unsigned p = 0; p < 7; p++)
      assert_int_equal(part.w.pred[p], (first_pred[p] & m) | (b->pred[p] & ~m));
  }
  memcpy(b->d, first, sizeof first);
  memcpy(b->pred, first_pred, sizeof first_pred);
}

/* The picker refuses the word. */
static inline bool box_refused(struct word128 w, unsigned sm)
{
  struct sass_inst s;
  struct uop u;
  box_decode(&s, w, sm);
  box_uop(&u, &s);
  return box_pick(0, &s, &u) == NULL;
}

#endif
