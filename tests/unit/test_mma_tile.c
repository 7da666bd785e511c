/* Matrix products by the host's arithmetic (func/sass/mma_tile.h, mma_fp4_tile.h) against the sums of mma_float.h and
 * mma_fp4.h, which tests/semantics holds against a reference of its own: the same bits wherever they say that they are for
 * the operands, and they are for all of ordinary size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "func/sass/mma_fp4_tile.h"
#include "func/sass/mma_tile.h"

enum { TRIALS = 160 };

static uint64_t state = 88172645463325252u;

static uint32_t draw(void)
{
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state >> 16);
}

/* What factors and C are drawn from. */
enum data { ORDINARY, INTEGERS, ANYTHING, SMALL, TINY, LARGEST }; /* LARGEST: sums as large as they get, of one sign */

static uint32_t pattern(float x, unsigned type)
{
  const uint32_t v = f32_bits(x);
  return type == MMA_F16 ? f16_from_f32(v) : type == MMA_BF16 ? v >> 16 : v >> 13;
}

static float number(enum data kind)
{
  const float unit = (float)(int32_t)draw() * 0x1p-31f;
  if (kind == LARGEST) return 0x1.fffffep0f;
  if (kind == INTEGERS) return (float)((int32_t)(draw() % 31) - 15);
  if (kind == TINY) return unit * 0x1p-60f;
  if (kind == SMALL) return unit * bits_f32((127 - draw() % 40) << 23);
  return draw() % 8 ? unit : 0.0f;
}

/* One element of a row or column: bits of the format. */
static uint32_t factor(const struct mma_shape *s, enum data kind)
{
  static const uint8_t whole[] = {0, 0x38, 0xc0, 0x44, 0xc8, 0x50, 0x58, 0xe0}; /* E4M3: 0, 1, -2, 3, -4, 8, 16, -32 */
  if (s->type == MMA_BYTES && kind == INTEGERS) return whole[draw() % 8];
  if (s->type == MMA_BYTES) {
    const uint32_t v = draw() & 0xff;
    return kind == ANYTHING ? v : kind == LARGEST ? 0x7b : v & 0xbb; /* neither E4M3's NaN nor E5M2's numbers above */
  }
  if (kind != ANYTHING) return pattern(number(kind), s->type);
  return s->type == MMA_TF32 ? draw() >> 13 : draw() & 0xffff;
}

static uint32_t sum(const struct mma_shape *s, enum data kind)
{
  if (kind == ANYTHING) return s->f32 ? draw() : draw() & 0xffff;
  const float x = kind == INTEGERS && s->f32 ? (float)(draw() % 100000) : kind == TINY ? 0.0f : number(kind);
  return s->f32 ? f32_bits(x) : f16_from_f32(f32_bits(x));
}

struct operands {
  struct mma_tile_rows rows;
  struct mma_tile_columns columns;
  struct mma_a a;
  struct mma_b b;
  uint32_t c[MMA_M][MMA_N];
  uint32_t scale_a[MMA_M], scale_b[MMA_N];
};

static bool split(const struct mma_shape *s, uint32_t v, unsigned format, bool negate, uint32_t *bits, int32_t *sig,
                  int32_t *exp)
{
  if (s->type != MMA_BYTES) {
    *bits = v ^ (negate ? 1u << (mma_format[s->type].frac + mma_format[s->type].exp) : 0);
    return mma_split(*bits, mma_format[s->type], sig, exp);
  }
  const bool special = mma_split_byte(v, format, bits, sig, exp);
  if (negate) *sig = -*sig, *bits ^= 0x8000;
  return special;
}

static uint32_t put(uint32_t word, unsigned j, unsigned per, uint32_t v)
{
  return per == 1 ? v << 13 | (draw() & 0x1fff) : word | v << j * 32 / per;
}

static void fill(struct operands *o, const struct mma_shape *s, enum data kind)
{
  const unsigned per = mma_per_word(s);
  memset(o, 0, sizeof *o);
  for (unsigned k = 0; k < s->depth; k++) {
    for (unsigned i = 0; i < MMA_M; i++) {
      const uint32_t v = factor(s, kind);
      o->rows.word[k / per][i] = put(o->rows.word[k / per][i], k % per, per, v);
      o->a.special |= split(s, v, s->format_a, s->negate_a, &o->a.bits[i][k], &o->a.sig[i][k], &o->a.exp[i][k]);
    }
    for (unsigned n = 0; n < MMA_N; n++) {
      const uint32_t v = factor(s, kind);
      o->columns.word[k / per][n] = put(o->columns.word[k / per][n], k % per, per, v);
      o->b.special |= split(s, v, s->format_b, s->negate_b, &o->b.bits[k][n], &o->b.sig[k][n], &o->b.exp[k][n]);
    }
  }
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) o->c[i][n] = sum(s, kind);
}

static uint32_t one_scale(uint32_t around, uint32_t middle)
{
  const uint32_t v = 127 + middle + draw() % (around < 4 ? around : 4);
  return v > 254 ? 254 : v;
}

/* Rows and columns by powers of two, as QMMA.SF has them, near each other. */
static bool scale(struct operands *o, const struct mma_shape *s, uint32_t around)
{
  const uint32_t a = draw() % (2 * around + 1) - around, b = draw() % (2 * around + 1) - around;
  for (unsigned i = 0; i < MMA_M; i++) o->scale_a[i] = one_scale(around, a);
  for (unsigned n = 0; n < MMA_N; n++) o->scale_b[n] = one_scale(around, b);
  for (unsigned k = 0; k < s->depth; k++) {
    for (unsigned i = 0; i < MMA_M; i++) o->a.exp[i][k] += (int32_t)o->scale_a[i] - 127;
    for (unsigned n = 0; n < MMA_N; n++) o->b.exp[k][n] += (int32_t)o->scale_b[n] - 127;
  }
  return mma_scale_rows(&o->rows, o->scale_a, s) && mma_scale_columns(&o->columns, o->scale_b, s);
}

static void by_rows(struct operands *o, const struct mma_shape *s)
{
  const enum mma_type type = s->type == MMA_BYTES ? MMA_F16 : (enum mma_type)s->type;
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < s->depth; k += s->block) {
      mma_block(o->c[i], &o->a, i, &o->b, k, k + s->block, type, s->f32, s->frac);
      if (s->cut && s->f32) mma_cut_result(o->c[i], s->cut);
    }
}

/* Whether it was for the fast way; then the results are the same. */
static bool is_same(const struct mma_shape *s, enum data kind, uint32_t scaled)
{
  static struct operands o;
  struct mma_sums sums;
  fill(&o, s, kind);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) sums.c[n][i] = bits_f32(s->f32 ? o.c[i][n] : f32_from_f16(o.c[i][n]));
  mma_take_rows(&o.rows, s);
  mma_take_columns(&o.columns, s);
  if (scaled && !scale(&o, s, scaled)) return false;
  if (!mma_tile(&sums, &o.rows, &o.columns, s)) return false;
  by_rows(&o, s);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) {
      const uint32_t got = f32_bits(sums.c[n][i]);
      assert_int_equal(s->f32 ? got : f16_from_f32(got), o.c[i][n]);
    }
  return true;
}

static void try_shape(struct mma_shape s)
{
  for (unsigned t = 0; t < TRIALS; t++) {
    s.negate_a = draw() & 1, s.negate_b = draw() & 1;
    assert_true(is_same(&s, ORDINARY, 0));
    assert_true(is_same(&s, INTEGERS, 0) && is_same(&s, LARGEST, 0));
    assert_true(is_same(&s, SMALL, 0) || s.type != MMA_BYTES); /* BF16 and TF32 below 2^-40 are not for it */
    is_same(&s, ANYTHING, 0), is_same(&s, TINY, 0);
  }
}

static void halves(void **unused)
{
  static const struct mma_arch *const arch[] = {&mma_archs[0], &mma_archs[2], &mma_archs[4]};
  (void)unused;
  for (unsigned g = 0; g < 3; g++)
    for (unsigned type = MMA_F16; type <= MMA_TF32; type++)
      for (unsigned f32 = type != MMA_F16; f32 < 2; f32++)
        for (unsigned depth = type == MMA_TF32 ? 4 : 8; depth <= (type == MMA_TF32 ? 8u : 16u); depth *= 2) {
          const unsigned most = type == MMA_TF32 ? arch[g]->block_tf32 : arch[g]->block16;
          if (most == 4 && !f32) continue; /* Volta's are HMMA.884 */
          try_shape((struct mma_shape){.type = type, .f32 = f32, .depth = depth, .frac = arch[g]->frac,
                                       .block = most < depth ? most : depth});
        }
}

static void bytes(void **unused)
{
  static const uint8_t format[] = {MMA_E4M3, MMA_E5M2, 3, 4, 5};
  static const struct {
    int32_t frac;
    unsigned block, cut;
  } way[] = {{13, 16, 10}, {13, 32, 10}, {25, 32, 0}}; /* Ada, Hopper, Blackwell */
  (void)unused;
  for (unsigned w = 0; w < 3; w++)
    for (unsigned f = 0; f < 25; f++)
      for (unsigned f32 = 0; f32 < 2; f32++) {
        struct mma_shape s = {.type = MMA_BYTES, .format_a = format[f / 5], .format_b = format[f % 5], .f32 = f32,
                              .depth = 32, .block = way[w].block, .frac = way[w].frac, .cut = way[w].cut};
        for (unsigned t = 0; t < TRIALS / 16; t++) {
          s.negate_a = draw() & 1, s.negate_b = draw() & 1;
          assert_true(is_same(&s, ORDINARY, 0) && is_same(&s, ORDINARY, f32 ? 10 : 0));
          assert_true(is_same(&s, LARGEST, 0) || !f32); /* FP16 becomes infinite */
          is_same(&s, ANYTHING, 0), is_same(&s, INTEGERS, 0);
          if (f32) is_same(&s, ORDINARY, 40), is_same(&s, ORDINARY, 120);
        }
      }
}

/* NaN and infinities among bytes that are integers: their patterns stand for integers, too, where one takes them for numbers.
 */
static void special_bytes(void **unused)
{
  static const struct {
    unsigned format;
    uint8_t pattern, one; /* 1, of the same format */
  } special[] = {{MMA_E4M3, 0x7f, 0x38}, {MMA_E4M3, 0xff, 0x38}, {MMA_E5M2, 0x7c, 0x3c}, {MMA_E5M2, 0xff, 0x3c}};
  static struct operands o;
  (void)unused;
  for (unsigned t = 0; t < 4; t++)
    for (unsigned of_b = 0; of_b < 2; of_b++) {
      const struct mma_shape s = {.type = MMA_BYTES, .format_a = special[t].format, .format_b = special[t].format,
                                  .f32 = true, .depth = 32, .block = 32, .frac = 25};
      struct mma_sums sums = {{{0}}};
      memset(o.rows.word, special[t].one, sizeof o.rows.word);
      memset(o.columns.word, special[t].one, sizeof o.columns.word);
      memcpy(of_b ? &o.columns.word[3][5] : &o.rows.word[3][5], &special[t].pattern, 1);
      mma_take_rows(&o.rows, &s);
      mma_take_columns(&o.columns, &s);
      assert_false(mma_tile(&sums, &o.rows, &o.columns, &s));
    }
}

/* C of subnormal numbers that are cut to zero, and products that are zero: the sum is +0, as mma_float.h has it. */
static void cut_to_zero(void **unused)
{
  static struct operands o;
  const struct mma_shape s = {.type = MMA_BYTES, .format_a = MMA_E4M3, .format_b = MMA_E4M3, .f32 = true, .depth = 32,
                              .block = 32, .frac = 13, .cut = 10};
  struct mma_sums sums;
  (void)unused;
  fill(&o, &s, ORDINARY);
  memset(o.rows.word, 0, sizeof o.rows.word);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < s.depth; k++) split(&s, 0, MMA_E4M3, false, &o.a.bits[i][k], &o.a.sig[i][k], &o.a.exp[i][k]);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) sums.c[n][i] = bits_f32(o.c[i][n] = F32_SIGN | (i * 2000 + n));
  mma_take_rows(&o.rows, &s);
  mma_take_columns(&o.columns, &s);
  assert_true(mma_tile(&sums, &o.rows, &o.columns, &s));
  by_rows(&o, &s);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) assert_int_equal(f32_bits(sums.c[n][i]), o.c[i][n]);
}

/* ---- FP4 ------------------------------------------------------------------------------------------ */

static uint64_t scales(struct fp4_scaling how, unsigned groups, bool any)
{
  uint64_t word = 0;
  for (unsigned g = 0; g < groups / how.groups; g++) {
    const uint32_t ordinary = how.e4m3 ? draw() % 0x7f : 110 + draw() % 30;
    word |= (uint64_t)(any ? draw() & 0xff : ordinary) << 8 * g;
  }
  return word;
}

static bool fp4_is_same(unsigned groups, struct fp4_scaling how, bool any)
{
  uint32_t a[FP4_DEPTH / 8][MMA_M], b[FP4_DEPTH / 8][MMA_N];
  uint64_t scale_a[MMA_M], scale_b[MMA_N];
  struct fp4_rows rows = {.nan = false};
  struct fp4_columns columns = {.nan = false};
  struct mma_sums sums;
  uint32_t c[MMA_N][MMA_M];
  const bool negate = draw() & 1;
  for (unsigned i = 0; i < MMA_M; i++) {
    for (unsigned t = 0; t < groups * 2; t++) a[t][i] = draw();
    scale_a[i] = scales(how, groups, any);
    fp4_take_scales(rows.sig[0], rows.exp[0], &rows.nan, i, MMA_M, scale_a[i], groups, how);
  }
  for (unsigned n = 0; n < MMA_N; n++) {
    for (unsigned t = 0; t < groups * 2; t++) b[t][n] = draw();
    scale_b[n] = scales(how, groups, any);
    fp4_take_scales(columns.sig[0], columns.exp[0], &columns.nan, n, MMA_N, scale_b[n], groups, how);
    for (unsigned i = 0; i < MMA_M; i++)
      sums.c[n][i] = bits_f32(c[n][i] = any ? draw() : f32_bits(number(draw() & 1 ? SMALL : ORDINARY) * 100.0f));
  }
  fp4_take(rows.twice[0], a[0], MMA_M, 2 * groups, false);
  fp4_take(columns.twice[0], b[0], MMA_N, 2 * groups, negate);
  if (!fp4_tile(&sums, &rows, &columns, groups, how)) return false;
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) {
      int32_t group[FP4_MAX_GROUPS] = {0};
      for (unsigned k = 0; k < groups * FP4_GROUP; k++)
        group[k / FP4_GROUP] +=
            fp4_twice(a[k / 8][i] >> k % 8 * 4 & 15) * fp4_twice(b[k / 8][n] >> k % 8 * 4 & 15) * (negate ? -1 : 1);
      assert_int_equal(f32_bits(sums.c[n][i]), fp4_element(c[n][i], scale_a[i], scale_b[n], group, groups, how));
    }
  return true;
}

static void nibbles(void **unused)
{
  static const struct fp4_scaling way[] = {{true, 1}, {false, 2}, {false, 1}, {true, 2}};
  (void)unused;
  for (unsigned t = 0; t < TRIALS; t++)
    for (unsigned w = 0; w < 4; w++)
      for (unsigned groups = 4; groups <= FP4_MAX_GROUPS; groups += 2) {
        assert_true(fp4_is_same(groups, way[w], false));
        fp4_is_same(groups, way[w], true);
      }
}

/* Negative groups that are truncated to zero, and C = -0: the sum is +0. Scales of 2^-127 each, elements of -0.5 and 1. */
static void nibbles_cut_to_zero(void **unused)
{
  const struct fp4_scaling how = {false, 2};
  uint32_t a[FP4_DEPTH / 8][MMA_M], b[FP4_DEPTH / 8][MMA_N];
  struct fp4_rows rows = {.nan = false};
  struct fp4_columns columns = {.nan = false};
  struct mma_sums sums;
  const int32_t groups[4] = {-32, -32, -32, -32};
  (void)unused;
  memset(a, 0x99, sizeof a), memset(b, 0x22, sizeof b);
  for (unsigned i = 0; i < MMA_M; i++) fp4_take_scales(rows.sig[0], rows.exp[0], &rows.nan, i, MMA_M, 0, 4, how);
  for (unsigned n = 0; n < MMA_N; n++) fp4_take_scales(columns.sig[0], columns.exp[0], &columns.nan, n, MMA_N, 0, 4, how);
  for (unsigned n = 0; n < MMA_N; n++)
    for (unsigned i = 0; i < MMA_M; i++) sums.c[n][i] = i % 2 ? -0.0f : -0x1p-149f;
  fp4_take(rows.twice[0], a[0], MMA_M, 8, false);
  fp4_take(columns.twice[0], b[0], MMA_N, 8, false);
  assert_true(fp4_tile(&sums, &rows, &columns, 4, how));
  for (unsigned i = 0; i < MMA_M; i++)
    assert_int_equal(f32_bits(sums.c[0][i]), fp4_element(i % 2 ? F32_SIGN : F32_SIGN | 1, 0, 0, groups, 4, how));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(halves), cmocka_unit_test(bytes), cmocka_unit_test(special_bytes),
                                     cmocka_unit_test(cut_to_zero), cmocka_unit_test(nibbles),
                                     cmocka_unit_test(nibbles_cut_to_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
