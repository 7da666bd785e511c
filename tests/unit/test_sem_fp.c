/* FP32 and packed FP16/BF16 instructions against independent arithmetic (fp_reference.h), the
 * host's own rounding modes, and plain definitions. Every case runs on all x86 levels and with lane
 * masks (sem_box.h). Modifier bits are those of compiler output (CUDA 13.0). */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fp_reference.h"
#include "sem_box.h"

enum { ROUNDS = 40 };

/* ---- operands -------------------------------------------------------------------------------- */

/* Half edge cases and neighbours of powers of two, half random; exponents often close together. */
static uint32_t random_f32(void)
{
  static const uint32_t edge[] = {0,           0x80000000u, 1,           0x80000001u, 0x007fffffu,
                                  0x00800000u, 0x807fffffu, 0x7f7fffffu, 0xff7fffffu, 0x7f800000u,
                                  0xff800000u, 0x7fc00000u, 0xffc12345u, 0x7f800001u, 0x3f800000u,
                                  0xbf800000u, 0x3f7fffffu, 0x3f800001u, 0x33800000u, 0x34000000u};
  uint32_t r = random32();
  switch (r & 7) {
  case 0: return edge[(r >> 8) % (sizeof edge / sizeof *edge)];
  case 1: return (r & 0x80ffffffu) | 0x3f000000u;
  case 2: return (r & 0x807fff00u) | (127 - 12 + (r >> 3 & 31)) << 23;
  case 3: return (r & 0x83ffffffu); /* small and subnormal */
  case 4: return (random32() & 0x80000003u) | (120 + (r >> 3 & 15)) << 23;
  default: return random32();
  }
}

static uint32_t random_half(bool bf16)
{
  static const uint32_t edge[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,
                                  0x7bff, 0x7c00, 0xfc00, 0x7e01, 0x3c00, 0x7f80,
                                  0xff80, 0x7fc0, 0x0080, 0x007f, 0x7f7f, 0x3f80};
  uint32_t r = random32();
  if ((r & 7) == 0) return edge[(r >> 8) % (sizeof edge / sizeof *edge)];
  if ((r & 7) < 4) return bf16 ? (r >> 8 & 0x83ff) | 0x3c00 : (r >> 8 & 0x8fff) | 0x3000;
  return r >> 16;
}

static void fill_f32(struct box *b)
{
  for (unsigned i = 0; i < LANES; i++) {
    b->a[0][i] = random_f32();
    b->b[0][i] = random_f32();
    b->c[0][i] = random_f32();
    b->d[0][i] = random32();
    if (random32() % 8 == 0) b->b[0][i] = b->a[0][i] ^ (random32() & 0x80000000u);
    if (random32() % 8 == 0) b->c[0][i] = b->a[0][i] ^ 0x80000000u;
  }
  for (unsigned p = 0; p < 7; p++) b->pred[p] = random32();
}

static float as_float(uint32_t v)
{
  float x;
  memcpy(&x, &v, 4);
  return x;
}

static uint32_t as_bits(float x)
{
  uint32_t v;
  memcpy(&v, &x, 4);
  return v;
}

static uint32_t flush(uint32_t v, bool on)
{
  return on && (v & 0x7f800000u) == 0 ? v & 0x80000000u : v;
}

/* Result modifiers by their definition. */
static uint32_t finish(uint32_t v, bool ftz, bool sat)
{
  v = flush(v, ftz);
  if (!sat) return v;
  float x = as_float(v);
  if (x != x || x <= 0) return 0;
  return x > 1 ? 0x3f800000u : v;
}

/* ---- FADD, FMUL, FFMA ------------------------------------------------------------------------ */

struct f32_case {
  enum ref_mode mode;
  bool ftz, sat, neg_a, abs_b, fmz;
};

static struct f32_case f32_case(unsigned n)
{
  return (struct f32_case){
      (enum ref_mode)(n & 3), n >> 2 & 1, n >> 3 & 1, n >> 4 & 1, n >> 5 & 1, n >> 6 & 1};
}

static uint64_t f32_mods(struct f32_case k)
{
  return FIELD_HI(k.mode, 78) | (k.ftz ? HI(80) : 0) | (k.sat ? HI(77) : 0) |
         (k.neg_a ? HI(72) : 0);
}

static uint64_t abs_b_bit(struct f32_case k)
{
  return k.abs_b ? (uint64_t)1 << 62 : 0;
}

static void sources(const struct box *b, unsigned i, struct f32_case k, uint32_t v[3])
{
  bool ftz = k.ftz || k.fmz;
  v[0] = flush(b->a[0][i] ^ (k.neg_a ? 0x80000000u : 0), ftz);
  v[1] = flush(b->b[0][i] & (k.abs_b ? 0x7fffffffu : 0xffffffffu), ftz);
  v[2] = flush(b->c[0][i], ftz);
}

static void test_fadd(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 64 * ROUNDS / 8; n++) {
    struct f32_case k = f32_case(n % 64);
    fill_f32(&b);
    struct box in = b;
    box_run(&b, box_word_ab(0x221, abs_b_bit(k), f32_mods(k)));
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t v[3], one = 0x3f800000u;
      sources(&in, i, k, v);
      uint32_t want = ref_fma(v[0], one, &v[1], REF_F32, k.mode);
      assert_int_equal(b.d[0][i], finish(want, k.ftz, k.sat));
    }
  }
}

static void test_fmul(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 128 * ROUNDS / 8; n++) {
    struct f32_case k = f32_case(n % 128);
    if (k.fmz && k.ftz) continue;
    static const int shift[8] = {0, -3, -2, -1, 0, 1, 2, 3};
    unsigned scale = 1 + random32() % 7;
    fill_f32(&b);
    struct box in = b;
    uint64_t hi = f32_mods(k) | FIELD_HI(scale, 84) | (k.fmz ? HI(76) : 0);
    box_run(&b, box_word_ab(0x220, abs_b_bit(k), hi));
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t v[3];
      quad x, y;
      bool sx, sy;
      sources(&in, i, k, v);
      enum ref_class cx = ref_value(&x, &sx, v[0], REF_F32), cy = ref_value(&y, &sy, v[1], REF_F32);
      uint32_t want = ref_fma(v[0], v[1], NULL, REF_F32, k.mode);
      if (cx == REF_FINITE && cy == REF_FINITE)
        want = (uint32_t)ref_round(quad_scale(x * y, shift[scale]), REF_F32, k.mode, sx != sy);
      if (k.fmz && (v[0] << 1 == 0 || v[1] << 1 == 0)) want = 0;
      assert_int_equal(b.d[0][i], finish(want, k.ftz || k.fmz, k.sat));
    }
  }
}

static void test_ffma(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 128 * ROUNDS / 4; n++) {
    struct f32_case k = f32_case(n % 128);
    if (k.fmz && k.ftz) continue;
    fill_f32(&b);
    struct box in = b;
    box_run(&b, box_word(0x223, abs_b_bit(k), f32_mods(k) | (k.fmz ? HI(76) : 0)));
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t v[3], zero = 0;
      sources(&in, i, k, v);
      bool kill = k.fmz && (v[0] << 1 == 0 || v[1] << 1 == 0);
      uint32_t want = kill ? ref_fma(zero, zero, &v[2], REF_F32, k.mode)
                           : ref_fma(v[0], v[1], &v[2], REF_F32, k.mode);
      assert_int_equal(b.d[0][i], finish(want, k.ftz || k.fmz, k.sat));
    }
  }
}

/* The same operations against the host's arithmetic in each rounding mode: checks the reference. */
static void test_reference_against_host(void **state)
{
  static const int mode[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  (void)state;
  for (unsigned n = 0; n < 20000; n++) {
    uint32_t a = random_f32(), b = random_f32(), c = random_f32();
    volatile float x = as_float(a), y = as_float(b), z = as_float(c);
    fesetround(mode[n & 3]);
    volatile float r = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    uint32_t want = r != r ? 0x7fffffffu : as_bits(r);
    assert_int_equal(ref_fma(a, b, &c, REF_F32, (enum ref_mode)(n & 3)), want);
  }
}

static void test_fmul_scale_zero_is_refused(void **state)
{
  (void)state;
  assert_true(box_refused(box_word_ab(0x220, 0, 0), 86));
}

static void test_fswzadd(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < ROUNDS; n++) {
    unsigned code = random32() & 255;
    fill_f32(&b);
    struct box in = b;
    memcpy(b.c, in.b, sizeof b.c); /* its second source sits in slot C */
    struct word128 w = box_word(0x822, 0, 0);
    w.lo = (w.lo & ~((uint64_t)255 << 32)) | (uint64_t)code << 32;
    box_run(&b, w);
    for (unsigned i = 0; i < LANES; i++) {
      unsigned op = code >> (6 - 2 * (i % 4)) & 3;
      uint32_t x = in.a[0][i], y = in.b[0][i], one = 0x3f800000u;
      if (op == 1) y ^= 0x80000000u;
      if (op == 2) x ^= 0x80000000u;
      uint32_t want = ref_fma(x, one, &y, REF_F32, REF_RN);
      if (op == 3) want = as_float(y) != as_float(y) ? 0x7fffffffu : y;
      assert_int_equal(b.d[0][i], want);
    }
  }
}

/* ---- FMNMX, FSEL, FSET, FSETP, FCHK ---------------------------------------------------------- */

static bool is_nan(uint32_t v)
{
  return (v & 0x7fffffffu) > 0x7f800000u;
}

/* a is less than b, with -0 below +0; no NaN. */
static bool below(uint32_t a, uint32_t b)
{
  if (as_float(a) != as_float(b)) return as_float(a) < as_float(b);
  return a >> 31 && !(b >> 31);
}

static void test_fmnmx(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 8 * ROUNDS; n++) {
    bool ftz = n & 1, nan = n & 2, xorsign = n & 4;
    fill_f32(&b);
    struct box in = b;
    uint64_t hi = BOX_PP_ONLY | (ftz ? HI(80) : 0) | (nan ? HI(81) : 0) | (xorsign ? HI(82) : 0);
    uint64_t abs = xorsign ? (uint64_t)1 << 62 : 0;
    box_run(&b, box_word_ab(0x209, abs, hi | (xorsign ? HI(73) : 0)));
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t mask = xorsign ? 0x7fffffffu : 0xffffffffu;
      uint32_t x = flush(in.a[0][i] & mask, ftz), y = flush(in.b[0][i] & mask, ftz), want;
      bool min = in.pred[BOX_PP] >> i & 1;
      if (is_nan(x) || is_nan(y)) {
        want = nan || (is_nan(x) && is_nan(y)) ? 0x7fffffffu : is_nan(x) ? y : x;
      } else {
        want = below(x, y) == min ? x : y;
      }
      if (xorsign && want != 0x7fffffffu)
        want = (want & 0x7fffffffu) | ((in.a[0][i] ^ in.b[0][i]) & 0x80000000u);
      assert_int_equal(b.d[0][i], want);
    }
  }
}

static void test_fsel(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < ROUNDS; n++) {
    fill_f32(&b);
    struct box in = b;
    box_run(&b, box_word_ab(0x208, 0, BOX_PP_ONLY | HI(72)));
    for (unsigned i = 0; i < LANES; i++)
      assert_int_equal(b.d[0][i], in.pred[BOX_PP] >> i & 1 ? in.a[0][i] ^ 0x80000000u : in.b[0][i]);
  }
}

/* Comparison by the names of the codes (PTX ISA). */
static bool compare(unsigned code, double x, double y)
{
  const bool nan = x != x || y != y;
  switch (code) {
  case 0: return false;
  case 1: return x < y;
  case 2: return x == y;
  case 3: return x <= y;
  case 4: return x > y;
  case 5: return !nan && x != y;
  case 6: return x >= y;
  case 7: return !nan;
  case 8: return nan;
  case 9: return nan || x < y;
  case 10: return nan || x == y;
  case 11: return nan || x <= y;
  case 12: return nan || x > y;
  case 13: return x != y;
  case 14: return nan || x >= y;
  default: return true;
  }
}

static bool combine(unsigned op, bool x, bool p)
{
  return op == 0 ? x && p : op == 1 ? x || p : x != p;
}

static void test_fsetp_fset(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 16 * 3 * 4; n++) {
    unsigned code = n & 15, op = (n >> 4) % 3;
    bool ftz = n & 64;
    uint64_t hi = FIELD_HI(code, 76) | FIELD_HI(op, 74) | (ftz ? HI(80) : 0);
    fill_f32(&b);
    struct box in = b;
    box_run(&b, box_word_pred(0x20b, 0, hi | BOX_PREDS));
    struct box set = in;
    box_run(&set, box_word_ab(0x20a, 0, hi | BOX_PP_ONLY));
    for (unsigned i = 0; i < LANES; i++) {
      bool r = compare(code, as_float(flush(in.a[0][i], ftz)), as_float(flush(in.b[0][i], ftz)));
      bool p = in.pred[BOX_PP] >> i & 1;
      assert_int_equal(b.pred[BOX_PU] >> i & 1, combine(op, r, p));
      assert_int_equal(b.pred[BOX_PV] >> i & 1, combine(op, !r, p));
      assert_int_equal(set.d[0][i], combine(op, r, p) ? 0x3f800000u : 0);
    }
  }
}

/* Where FCHK allows it, the compiler's fast division is exact: with a reciprocal within 1 ulp, and
 * with the nearest one where the divisor's significand is all ones (Markstein's exception). */
static void test_fchk(void **state)
{
  static struct box b;
  unsigned fast = 0;
  (void)state;
  for (unsigned n = 0; n < 20 * ROUNDS; n++) {
    fill_f32(&b);
    struct box in = b;
    box_run(&b, box_word_pred(0x302, 0, FIELD_HI(BOX_PU, 81)));
    for (unsigned i = 0; i < LANES; i++) {
      float x = as_float(in.a[0][i]), y = as_float(in.b[0][i]);
      if (b.pred[BOX_PU] >> i & 1) continue;
      uint32_t off = (in.b[0][i] & 0x7fffffu) == 0x7fffffu ? 0 : random32() % 3 - 1;
      float rcp = as_float(as_bits(1.0f / y) + off);
      float e = fmaf(rcp, fmaf(-y, rcp, 1.0f), rcp), q = fmaf(x, e, 0.0f);
      float r = fmaf(e, fmaf(-y, q, x), q);
      assert_int_equal(as_bits(r), as_bits(x / y));
      fast++;
    }
  }
  assert_true(fast > 5000);
}

/* ---- packed halves --------------------------------------------------------------------------- */

struct half_case {
  bool bf16, ftz, sat, relu;
  unsigned swz[3];
};

static struct half_case half_case(unsigned n)
{
  static const unsigned swz[4] = {0, 2, 3, 0};
  return (struct half_case){
      n & 1, n & 2, n & 4, n & 8, {swz[n >> 4 & 3], swz[n >> 6 & 3], swz[random32() & 3]}};
}

static void fill_half(struct box *b, bool bf16)
{
  fill_f32(b);
  for (unsigned i = 0; i < LANES; i++) {
    b->a[0][i] = random_half(bf16) | random_half(bf16) << 16;
    b->b[0][i] = random_half(bf16) | random_half(bf16) << 16;
    b->c[0][i] = random_half(bf16) | random_half(bf16) << 16;
    if (random32() % 8 == 0) b->b[0][i] = b->a[0][i];
  }
}

static uint32_t half_flush(uint32_t h, struct half_case k)
{
  return k.ftz && (h & (k.bf16 ? 0x7f80u : 0x7c00u)) == 0 ? h & 0x8000u : h;
}

/* Half j of a source after swizzle and flush. */
static uint32_t half_of(uint32_t v, unsigned j, unsigned swz, struct half_case k)
{
  unsigned which = swz == 2 ? 0 : swz == 3 ? 1 : j;
  return half_flush(v >> 16 * which & 0xffffu, k);
}

static struct ref_format half_format(struct half_case k)
{
  return k.bf16 ? REF_BF16 : REF_F16;
}

static uint32_t half_done(uint32_t h, struct half_case k)
{
  const uint32_t inf = k.bf16 ? 0x7f80u : 0x7c00u, one = k.bf16 ? 0x3f80u : 0x3c00u;
  bool nan = (h & 0x7fffu) > inf;
  h = half_flush(h, k);
  if (k.sat) h = nan || h & 0x8000u ? 0 : h > one ? one : h;
  if (k.relu && !nan && h & 0x8000u) h = 0;
  return h;
}

static uint64_t swz_lo(struct half_case k)
{
  return (uint64_t)k.swz[1] << 60;
}

static uint64_t half_mods(struct half_case k)
{
  return FIELD_HI(k.swz[0], 74) | (k.bf16 ? HI(85) : 0) | (k.ftz ? HI(80) : 0) |
         (k.sat ? HI(77) : 0);
}

static void test_hadd2(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 256; n++) {
    struct half_case k = half_case(n & ~8u);
    fill_half(&b, k.bf16);
    struct box in = b;
    box_run(&b, box_word_ab(0x230, swz_lo(k), half_mods(k)));
    for (unsigned i = 0; i < LANES; i++)
      for (unsigned j = 0; j < 2; j++) {
        uint32_t x = half_of(in.a[0][i], j, k.swz[0], k), y = half_of(in.b[0][i], j, k.swz[1], k);
        uint32_t one = k.bf16 ? 0x3f80u : 0x3c00u;
        uint32_t want = half_done(ref_fma(x, one, &y, half_format(k), REF_RN), k);
        assert_int_equal(b.d[0][i] >> 16 * j & 0xffffu, want);
      }
  }
}

static void test_hmul2(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 256; n++) {
    struct half_case k = half_case(n & ~8u);
    fill_half(&b, k.bf16);
    struct box in = b;
    box_run(&b, box_word_ab(0x232, swz_lo(k), half_mods(k)));
    for (unsigned i = 0; i < LANES; i++)
      for (unsigned j = 0; j < 2; j++) {
        uint32_t x = half_of(in.a[0][i], j, k.swz[0], k), y = half_of(in.b[0][i], j, k.swz[1], k);
        uint32_t want = half_done(ref_fma(x, y, NULL, half_format(k), REF_RN), k);
        assert_int_equal(b.d[0][i] >> 16 * j & 0xffffu, want);
      }
  }
}

static void test_hfma2(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 1024; n++) {
    struct half_case k = half_case(n);
    fill_half(&b, k.bf16);
    struct box in = b;
    uint64_t hi = half_mods(k) | FIELD_HI(k.swz[2], 81) | (k.relu ? HI(79) | FIELD_HI(7, 87) : 0);
    box_run(&b, box_word(n & 512 ? 0x231 : 0x235, swz_lo(k), hi));
    for (unsigned i = 0; i < LANES; i++)
      for (unsigned j = 0; j < 2; j++) {
        uint32_t x = half_of(in.a[0][i], j, k.swz[0], k), y = half_of(in.b[0][i], j, k.swz[1], k);
        uint32_t z = half_of(in.c[0][i], j, k.swz[2], k);
        uint32_t want = half_done(ref_fma(x, y, &z, half_format(k), REF_RN), k);
        assert_int_equal(b.d[0][i] >> 16 * j & 0xffffu, want);
      }
  }
}

/* -RZ * RZ + immediate loads the immediate, subnormals and signed zeros included. */
static void test_hfma2_constant(void **state)
{
  struct sass_inst s;
  struct uop u;
  struct word128 w = box_word(0x431, 0, HI(72) | 0xff);
  (void)state;
  w.lo = (w.lo & 0xffffffffull) | (uint64_t)255 << 24 | (uint64_t)0x80000001u << 32;
  w.hi |= 0xff;
  box_decode(&s, w, 86);
  box_uop(&u, &s);
  static struct box_state st;
  static struct box in;
  box_load(&st, &in, NULL);
  for (unsigned i = 0; i < LANES; i++) st.pool[1][i] = s.src[2].imm;
  u.c.off = ROW_BYTES;
  uop_fn *fn = box_pick(0, &s, &u);
  assert_non_null(fn);
  assert_true(fn(&st.w, &u, FULL_MASK, NULL, NULL));
  assert_int_equal(st.reg[BOX_D][5], 0x80000001u);
}

/* HADD2.F32 d, -RZ, h: every half exactly, NaN canonical. */
static void test_hadd2_f32_all_halves(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned h = 0; h < 65536; h += LANES) {
    for (unsigned i = 0; i < LANES; i++) b.b[0][i] = (h + i) << 16 | 0x1234u;
    box_run(&b, box_word_ab(0x230, (uint64_t)3 << 60 | (uint64_t)255 << 24, HI(78) | HI(72)));
    for (unsigned i = 0; i < LANES; i++) {
      quad x;
      bool neg;
      enum ref_class c = ref_value(&x, &neg, h + i, REF_F16);
      uint32_t want = c == REF_NAN   ? 0x7fffffffu
                      : c == REF_INF ? (uint32_t)ref_inf(REF_F32, neg)
                                     : (uint32_t)ref_round(x, REF_F32, REF_RN, neg);
      assert_int_equal(b.d[0][i], want);
    }
  }
}

/* HADD2 d, -RZ.H0_H0, x.F32 and HADD2 d, x.F32, -RZ.H0_H0 make an FP16 of an FP32, in both halves: each
 * FP16 exactly (sm_75 loads constants with the first), what lies between toward zero. */
static void test_hadd2_narrow_either_side(void **state)
{
  static const uint64_t rz_first = (uint64_t)1 << 60 | (uint64_t)255 << 24;
  static const uint64_t rz_second = (uint64_t)2 << 60 | (uint64_t)1 << 63 | (uint64_t)255 << 32;
  static struct box b;
  (void)state;
  for (unsigned h = 0; h < 2 * 65536; h += LANES)
    for (unsigned side = 0; side < 2; side++) {
      uint32_t want[LANES];
      for (unsigned i = 0; i < LANES; i++) {
        quad x;
        bool neg;
        uint32_t half = (h + i) >> 1;
        if (ref_value(&x, &neg, half, REF_F16) == REF_NAN || (half & 0x7fffu) == 0x7c00u) half = 0x3c00u;
        if (half == 0x3c00u) x = 1, neg = false;
        want[i] = half * 0x10001u;
        uint32_t v = (uint32_t)ref_round(x, REF_F32, REF_RN, neg);
        (side ? b.a : b.b)[0][i] = (h + i) & 1 ? v | 0xfffu : v; /* 13 bits fall away, 12 of them set */
        if ((half & 0x7fffu) < 0x400u) (side ? b.a : b.b)[0][i] = v;
      }
      box_run(&b, box_word_ab(0x230, side ? rz_second : rz_first, side ? HI(74) : HI(75) | HI(72)));
      assert_memory_equal(b.d[0], want, sizeof(want));
    }
}

/* HMUL2.F32: the product of two FP16 numbers, which FP32 holds exactly. */
static void test_hmul2_f32(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 2048; n++) {
    fill_half(&b, false);
    struct box in = b;
    box_run(&b, box_word_ab(0x232, (uint64_t)2 << 60, HI(78) | HI(75)));
    for (unsigned i = 0; i < LANES; i++) {
      quad x, y;
      bool neg_x, neg_y;
      enum ref_class cx = ref_value(&x, &neg_x, in.a[0][i] & 0xffffu, REF_F16);
      enum ref_class cy = ref_value(&y, &neg_y, in.b[0][i] & 0xffffu, REF_F16);
      bool neg = neg_x != neg_y;
      if (cx != REF_NAN && cy != REF_NAN && cx != REF_INF && cy != REF_INF)
        assert_int_equal(b.d[0][i], (uint32_t)ref_round(x * y, REF_F32, REF_RN, neg));
    }
  }
}

static double half_value(uint32_t h, struct half_case k)
{
  quad x;
  bool neg;
  enum ref_class c = ref_value(&x, &neg, h, half_format(k));
  return c == REF_NAN   ? NAN
         : c == REF_INF ? (neg ? -HUGE_VAL : HUGE_VAL)
         : neg          ? -(double)(-x)
                        : (double)x;
}

static void test_hmnmx2(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 256; n++) {
    struct half_case k = {.bf16 = n & 1, .ftz = n & 2, .swz = {n & 16 ? 3 : 0, n & 32 ? 2 : 0, 0}};
    bool nan = n & 4, xorsign = n & 8;
    fill_half(&b, k.bf16);
    struct box in = b;
    uint64_t hi = half_mods(k) | BOX_PP_ONLY | (nan ? HI(81) : 0) | (xorsign ? HI(82) | HI(73) : 0);
    box_run(&b, box_word_ab(0x240, swz_lo(k) | (xorsign ? (uint64_t)1 << 62 : 0), hi));
    for (unsigned i = 0; i < LANES; i++)
      for (unsigned j = 0; j < 2; j++) {
        uint32_t mask = xorsign ? 0x7fff7fffu : 0xffffffffu;
        uint32_t x = half_of(in.a[0][i] & mask, j, k.swz[0], k);
        uint32_t y = half_of(in.b[0][i] & mask, j, k.swz[1], k), want;
        double dx = half_value(x, k), dy = half_value(y, k);
        bool min = in.pred[BOX_PP] >> i & 1;
        if (dx != dx || dy != dy) {
          want = nan || (dx != dx && dy != dy) ? 0x7fffu : dx != dx ? y : x;
        } else {
          bool less = dx != dy ? dx < dy : x >> 15 && !(y >> 15);
          want = less == min ? x : y;
        }
        struct half_case raw = {.bf16 = k.bf16};
        uint32_t sx = half_of(in.a[0][i], j, k.swz[0], raw),
                 sy = half_of(in.b[0][i], j, k.swz[1], raw);
        if (xorsign && want != 0x7fffu) want = (want & 0x7fffu) | ((sx ^ sy) & 0x8000u);
        assert_int_equal(b.d[0][i] >> 16 * j & 0xffffu, want);
      }
  }
}

static void test_hsetp2_hset2(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 16 * 3 * 8; n++) {
    struct half_case k = {.ftz = n & 128, .bf16 = n & 256, .swz = {n & 16 ? 3 : 0, 0, 0}};
    unsigned code = n & 15, op = n / 16 % 3;
    bool both = n & 64;
    uint64_t hi = FIELD_HI(code, 76) | FIELD_HI(op, 69) | (k.ftz ? HI(80) : 0) |
                  (k.bf16 ? HI(65) : 0) | FIELD_HI(k.swz[0], 74);
    fill_half(&b, k.bf16);
    struct box in = b, set = b;
    hi |= both ? HI(71) : 0;
    box_run(&b, box_word_pred(0x234, 0, hi | BOX_PREDS | (both ? FIELD_HI(7, 84) : 0)));
    box_run(&set, box_word_ab(0x233, 0, hi | BOX_PP_ONLY));
    for (unsigned i = 0; i < LANES; i++) {
      bool r[2], p = in.pred[BOX_PP] >> i & 1;
      for (unsigned j = 0; j < 2; j++)
        r[j] = compare(code, half_value(half_of(in.a[0][i], j, k.swz[0], k), k),
                       half_value(half_of(in.b[0][i], j, 0, k), k));
      if (both) {
        assert_int_equal(b.pred[BOX_PU] >> i & 1, combine(op, r[0] && r[1], p));
      } else {
        assert_int_equal(b.pred[BOX_PU] >> i & 1, combine(op, r[0], p));
        assert_int_equal(b.pred[BOX_PV] >> i & 1, combine(op, r[1], p));
      }
      uint32_t yes = !both ? 0xffffu : k.bf16 ? 0x3f80u : 0x3c00u;
      uint32_t want = (combine(op, r[0], p) ? yes : 0) | (combine(op, r[1], p) ? yes << 16 : 0);
      assert_int_equal(set.d[0][i], want);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference_against_host),
      cmocka_unit_test(test_fadd),
      cmocka_unit_test(test_fmul),
      cmocka_unit_test(test_ffma),
      cmocka_unit_test(test_fmul_scale_zero_is_refused),
      cmocka_unit_test(test_fswzadd),
      cmocka_unit_test(test_fmnmx),
      cmocka_unit_test(test_fsel),
      cmocka_unit_test(test_fsetp_fset),
      cmocka_unit_test(test_fchk),
      cmocka_unit_test(test_hadd2),
      cmocka_unit_test(test_hmul2),
      cmocka_unit_test(test_hfma2),
      cmocka_unit_test(test_hfma2_constant),
      cmocka_unit_test(test_hadd2_f32_all_halves),
      cmocka_unit_test(test_hadd2_narrow_either_side),
      cmocka_unit_test(test_hmul2_f32),
      cmocka_unit_test(test_hmnmx2),
      cmocka_unit_test(test_hsetp2_hset2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
