/* Double precision and conversions against exact values rounded by fp_reference.h, and against the
 * host's rounding modes. Every case runs on all x86 levels and with lane masks (sem_box.h). */
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

enum { ROUNDS = 12 };
enum { F16 = 1, F32, F64, BF16 };

static const int fe_mode[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

/* ---- operands -------------------------------------------------------------------------------- */

static uint64_t random_f64(void)
{
  static const uint64_t edge[] = {0,
                                  1,
                                  0x8000000000000000u,
                                  0x000fffffffffffffu,
                                  0x0010000000000000u,
                                  0x7fefffffffffffffu,
                                  0x7ff0000000000000u,
                                  0xfff0000000000000u,
                                  0x7ff8000000000001u,
                                  0xfff0000000001234u,
                                  0x3ff0000000000000u,
                                  0xbff0000000000000u,
                                  0x47efffffefffffffu,
                                  0x47effffff0000000u,
                                  0x36a0000000000000u,
                                  0x3690000000000000u,
                                  0x3690000000000001u,
                                  0x41dfffffffe00000u,
                                  0x41efffffffe00000u,
                                  0x43e0000000000000u,
                                  0x43f0000000000000u,
                                  0xc3e0000000000000u,
                                  0x3fe0000000000000u,
                                  0xbfe0000000000000u,
                                  0x3fdfffffffffffffu,
                                  0x3ff8000000000000u,
                                  0x4004000000000000u,
                                  0x40effc0000000000u,
                                  0x40efe00000000000u,
                                  0x40efefffffffffffu};
  uint64_t r = random64();
  switch (r & 7) {
  case 0: return edge[(r >> 8) % (sizeof edge / sizeof *edge)];
  case 1: return (r & 0x800fffffffffffffu) | (1023 - 8 + (random64() & 63)) << 52; /* integers */
  case 2:
    return (r & 0x800fffffffffffffu) | (1023 - 160 + random64() % 320) << 52;     /* FP32's range */
  case 3: return (r & 0x800fffffffffffffu) | (1023 - 28 + random64() % 48) << 52; /* FP16's range */
  case 4: return ((r & 0x800fffffe0000000u) | (1023 - 20 + random64() % 40) << 52) ^ 0x10000000u;
  default: return random64();
  }
}

static uint64_t random_float(unsigned format)
{
  uint64_t v = random_f64();
  double x;
  float y;
  if (format == F64) return v;
  memcpy(&x, &v, 8);
  y = (float)x;
  uint32_t f;
  memcpy(&f, &y, 4);
  if (random32() % 8 == 0) f = random32();
  if (format == F32) return f;
  if (format == BF16 || random32() & 1) return f >> 16;
  return random32() & 0xffffu;
}

static struct ref_format ref_of(unsigned format)
{
  return format == F16 ? REF_F16 : format == F32 ? REF_F32 : format == F64 ? REF_F64 : REF_BF16;
}

/* Number v of a format into lane i of the source in slot B, half `sel`; the rest is noise. */
static void put_source(struct box *b, unsigned i, uint64_t v, unsigned format, unsigned sel)
{
  b->b[0][i] = (uint32_t)v;
  b->b[1][i] = format == F64 ? (uint32_t)(v >> 32) : random32();
  if (format == F16 || format == BF16)
    b->b[0][i] = sel ? (uint32_t)v << 16 | (random32() & 0xffffu) : (uint32_t)v | random32() << 16;
}

static uint64_t get_result(const struct box *b, unsigned i, bool wide)
{
  return b->d[0][i] | (wide ? (uint64_t)b->d[1][i] << 32 : 0);
}

static struct word128 unary(unsigned opcode, uint64_t lo, uint64_t hi)
{
  struct word128 w = box_word_ab(opcode, lo, hi);
  w.lo &= ~((uint64_t)255 << 24);
  return w;
}

/* ---- DADD, DMUL, DFMA, DSETP ----------------------------------------------------------------- */

static double as_double(uint64_t v)
{
  double x;
  memcpy(&x, &v, 8);
  return x;
}

static uint64_t as_bits64(double x)
{
  uint64_t v;
  memcpy(&v, &x, 8);
  return v;
}

static uint64_t nan_result(const uint64_t *v, unsigned n)
{
  for (unsigned k = 0; k < n; k++)
    if (as_double(v[k]) != as_double(v[k])) return v[k] | 0x0008000000000000u;
  return 0xfff8000000000000u;
}

static void put64(uint32_t (*row)[LANES], unsigned i, uint64_t v)
{
  row[0][i] = (uint32_t)v;
  row[1][i] = (uint32_t)(v >> 32);
}

static void test_double_arithmetic(void **state)
{
  static struct box b;
  static uint64_t v[3][LANES];
  (void)state;
  for (unsigned n = 0; n < 4 * 3 * 2 * ROUNDS * 2; n++) {
    const unsigned mode = n & 3, op = n / 4 % 3;
    const bool neg = n / 12 & 1;
    for (unsigned i = 0; i < LANES; i++) {
      for (unsigned k = 0; k < 3; k++) v[k][i] = random_f64();
      if (random32() & 1) v[1][i] = v[0][i] ^ (random64() & 0x8000000000000003u);
      if (random32() & 1) v[2][i] = as_bits64(-as_double(v[0][i]) * as_double(v[1][i]));
      put64(b.a, i, v[0][i]);
      put64(b.b, i, v[1][i]);
      put64(b.c, i, op == 0 ? v[1][i] : v[2][i]);
      if (neg) v[0][i] ^= 0x8000000000000000u;
    }
    const uint64_t hi = FIELD_HI(mode, 78) | (neg ? HI(72) : 0);
    struct word128 w = op == 0   ? box_word(0x229, 0, hi)
                       : op == 1 ? box_word_ab(0x228, 0, hi)
                                 : box_word(0x22b, 0, hi);
    if (op == 0) w.lo &= ~((uint64_t)255 << 32); /* DADD: second source in slot C */
    box_run(&b, w);
    for (unsigned i = 0; i < LANES; i++) {
      volatile double x = as_double(v[0][i]), y = as_double(v[1][i]), z = as_double(v[2][i]), r;
      fesetround(fe_mode[mode]);
      if (op == 0)
        r = x + y;
      else if (op == 1)
        r = x * y;
      else
        r = fma(x, y, z);
      fesetround(FE_TONEAREST);
      uint64_t in[3] = {v[0][i], v[1][i], v[2][i]};
      uint64_t want = r != r ? nan_result(in, op == 2 ? 3 : 2) : as_bits64(r);
      assert_true(get_result(&b, i, true) == want);
    }
  }
}

static void test_dsetp(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 16 * 3 * 2; n++) {
    const unsigned code = n & 15, op = n / 16 % 3;
    if (code == 0 || code == 15) continue; /* MIN, MAX */
    for (unsigned p = 0; p < 7; p++) b.pred[p] = random32();
    for (unsigned i = 0; i < LANES; i++) {
      put64(b.a, i, random_f64());
      put64(b.b, i, random32() & 1 ? random_f64() : (uint64_t)b.a[1][i] << 32 | b.a[0][i]);
    }
    struct box in = b;
    box_run(&b, box_word_pred(0x22a, 0, FIELD_HI(code, 76) | FIELD_HI(op, 74) | BOX_PREDS));
    for (unsigned i = 0; i < LANES; i++) {
      double x = as_double((uint64_t)in.a[1][i] << 32 | in.a[0][i]);
      double y = as_double((uint64_t)in.b[1][i] << 32 | in.b[0][i]);
      bool nan = isnan(x) || isnan(y), p = in.pred[BOX_PP] >> i & 1;
      bool r =
          (x < y && code & 1) || (x == y && code & 2) || (x > y && code & 4) || (nan && code & 8);
      bool u = op == 0 ? r && p : op == 1 ? r || p : r != p;
      bool v = op == 0 ? !r && p : op == 1 ? !r || p : !r != p;
      assert_int_equal(b.pred[BOX_PU] >> i & 1, u);
      assert_int_equal(b.pred[BOX_PV] >> i & 1, v);
    }
  }
}

/* fmin and fmax as the compiler writes them: select by Pu, under Pv b made quiet. */
static void test_dsetp_minmax(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 40; n++) {
    const bool max = n & 1;
    for (unsigned i = 0; i < LANES; i++) {
      put64(b.a, i, random_f64());
      put64(b.b, i, random_f64());
      if (random32() % 4 == 0)
        put64(b.b, i, ((uint64_t)b.a[1][i] << 32 | b.a[0][i]) ^ (random64() & 1ull << 63));
    }
    struct box in = b;
    box_run(&b, box_word_pred(0x22a, 0,
                              FIELD_HI(max ? 15 : 0, 76) | FIELD_HI(BOX_PU, 81) |
                                  FIELD_HI(BOX_PV, 84) | FIELD_HI(7, 87)));
    for (unsigned i = 0; i < LANES; i++) {
      uint64_t x = (uint64_t)in.a[1][i] << 32 | in.a[0][i],
               y = (uint64_t)in.b[1][i] << 32 | in.b[0][i];
      uint64_t got = b.pred[BOX_PU] >> i & 1 ? x : y, want;
      if (b.pred[BOX_PV] >> i & 1) got |= 0x0008000000000000u;
      const double dx = as_double(x), dy = as_double(y);
      const bool less = dx != dy ? dx < dy : x >> 63 > y >> 63;
      if (isnan(dx) && isnan(dy))
        want = y | 0x0008000000000000u;
      else if (isnan(dx) || isnan(dy))
        want = isnan(dx) ? y : x;
      else
        want = less == !max ? x : y;
      assert_true(got == want);
    }
  }
}

/* ---- F2F ------------------------------------------------------------------------------------- */

static uint64_t flush32(uint64_t v, bool on)
{
  return on && (v & 0x7f800000u) == 0 ? v & 0x80000000u : v;
}

static uint64_t want_f2f(uint64_t v, unsigned src, unsigned dst, enum ref_mode mode, bool ftz)
{
  quad x;
  bool neg;
  if (src == F32) v = flush32(v, ftz);
  enum ref_class c = ref_value(&x, &neg, v, ref_of(src));
  if (c == REF_NAN) {
    if (dst != F64) return ref_nan(ref_of(dst));
    if (src == F64) return v | 0x0008000000000000u;
    const unsigned frac = src == F16 ? 10 : src == F32 ? 23 : 7;
    return (uint64_t)neg << 63 | 0x7ff8000000000000u |
           (v & (((uint64_t)1 << frac) - 1)) << (52 - frac); /* payload kept, quiet */
  }
  if (c == REF_INF) return ref_inf(ref_of(dst), neg);
  uint64_t r = ref_round(x, ref_of(dst), mode, neg);
  return dst == F32 ? flush32(r, ftz) : r;
}

static void check_f2f(struct box *b, const uint64_t *v, unsigned src, unsigned dst, unsigned mode,
                      bool ftz, unsigned sel)
{
  const uint64_t hi =
      FIELD_HI(dst, 75) | FIELD_HI(src, 84) | FIELD_HI(mode, 78) | (ftz ? HI(80) : 0);
  for (unsigned i = 0; i < LANES; i++) put_source(b, i, v[i], src, sel);
  box_run(b, unary(src == F64 || dst == F64 ? 0x310 : 0x304, (uint64_t)sel << 60, hi));
  for (unsigned i = 0; i < LANES; i++)
    assert_true(get_result(b, i, dst == F64) == want_f2f(v[i], src, dst, (enum ref_mode)mode, ftz));
}

static void test_f2f(void **state)
{
  static struct box b;
  uint64_t v[LANES];
  (void)state;
  for (unsigned src = F16; src <= BF16; src++)
    for (unsigned dst = F16; dst <= BF16; dst++)
      for (unsigned n = 0; n < 8 * ROUNDS / 2; n++) {
        const bool half = src == F16 || src == BF16;
        for (unsigned i = 0; i < LANES; i++) v[i] = random_float(src);
        check_f2f(&b, v, src, dst, n & 3, (n & 4) && (src == F32 || dst == F32),
                  half ? random32() & 1 : 0);
      }
}

/* Every half to FP64 and back. */
static void test_f2f_all_halves(void **state)
{
  static struct box b;
  uint64_t v[LANES], wide[LANES];
  (void)state;
  for (unsigned h = 0; h < 65536; h += LANES) {
    for (unsigned i = 0; i < LANES; i++) v[i] = h + i;
    check_f2f(&b, v, F16, F64, 0, false, 0);
    for (unsigned i = 0; i < LANES; i++) wide[i] = get_result(&b, i, true);
    check_f2f(&b, wide, F64, F16, 0, false, 0);
    for (unsigned i = 0; i < LANES; i++)
      assert_int_equal(b.d[0][i], (v[i] & 0x7fff) > 0x7c00 ? 0x7fff : v[i]);
  }
}

/* ---- F2I, FRND ------------------------------------------------------------------------------- */

/* x, of FP64 precision, rounded to an integral value. */
static quad round_quad(quad x, unsigned mode)
{
  const bool neg = x < 0;
  const quad a = neg ? -x : x;
  if (a >= quad_scale(1, 60)) return x; /* an integer already */
  const uint64_t whole = (uint64_t)a;
  const quad rest = a - (quad)whole;
  const bool odd = whole & 1;
  quad t = (quad)whole;
  bool up = mode == 0   ? rest > 0.5 || (rest == 0.5 && odd)
            : mode == 1 ? neg && rest > 0
            : mode == 2 ? !neg && rest > 0
                        : false;
  t += up;
  return neg ? -t : t;
}

static uint64_t want_f2i(uint64_t v, unsigned src, unsigned bits, bool is_signed, unsigned mode,
                         bool ntz, bool ftz)
{
  quad x;
  bool neg;
  const uint64_t mask = bits <= 32 ? 0xffffffffu : ~0ull;
  if (src == F32) v = flush32(v, ftz);
  enum ref_class c = ref_value(&x, &neg, v, ref_of(src));
  const quad hi = quad_scale(1, (int)bits - is_signed) - 1, lo = is_signed ? -hi - 1 : 0;
  if (c == REF_NAN) {
    if (ntz) return 0;
    uint64_t top = (uint64_t)1 << (bits - 1);
    return (is_signed ? 0 - top : top) & mask;
  }
  if (c == REF_INF)
    x = neg ? lo : hi;
  else
    x = round_quad(x, mode);
  if (x > hi) x = hi;
  if (x < lo) x = lo;
  return (x < 0 ? 0 - (uint64_t)-x : (uint64_t)x) & mask;
}

static void test_f2i(void **state)
{
  static struct box b;
  uint64_t v[LANES];
  (void)state;
  for (unsigned src = F16; src <= BF16; src++)
    for (unsigned size = 0; size < 4; size++)
      for (unsigned n = 0; n < 64; n++) {
        const unsigned mode = n & 3;
        const bool is_signed = n & 4, ntz = n & 8, ftz = n & 16 && src == F32;
        const unsigned sel = (src == F16 || src == BF16) && n & 32;
        const bool wide = src == F64 || size == 3;
        for (unsigned i = 0; i < LANES; i++) {
          v[i] = random_float(src);
          put_source(&b, i, v[i], src, sel);
        }
        box_run(&b, unary(wide ? 0x311 : 0x305, (uint64_t)sel << 60,
                          FIELD_HI(size, 75) | FIELD_HI(src, 84) | FIELD_HI(mode, 78) |
                              (is_signed ? HI(72) : 0) | (ntz ? HI(77) : 0) | (ftz ? HI(80) : 0)));
        for (unsigned i = 0; i < LANES; i++)
          assert_true(get_result(&b, i, size == 3) ==
                      want_f2i(v[i], src, 8u << size, is_signed, mode, ntz, ftz));
      }
}

static void test_frnd(void **state)
{
  static struct box b;
  uint64_t v[LANES];
  (void)state;
  for (unsigned fmt = F16; fmt <= BF16; fmt++)
    for (unsigned n = 0; n < 16 * ROUNDS / 2; n++) {
      const unsigned mode = n & 3, sel = (fmt == F16 || fmt == BF16) && n & 8;
      const bool ftz = n & 4 && fmt == F32;
      for (unsigned i = 0; i < LANES; i++) {
        v[i] = random_float(fmt);
        put_source(&b, i, v[i], fmt, sel);
      }
      box_run(&b, unary(fmt == F64 ? 0x313 : 0x307, (uint64_t)sel << 60,
                        FIELD_HI(fmt, 75) | FIELD_HI(fmt, 84) | FIELD_HI(mode, 78) |
                            (ftz ? HI(80) : 0)));
      for (unsigned i = 0; i < LANES; i++) {
        quad x;
        bool neg;
        enum ref_class c = ref_value(&x, &neg, fmt == F32 ? flush32(v[i], ftz) : v[i], ref_of(fmt));
        uint64_t want = c == REF_FINITE ? ref_round(round_quad(x, mode), ref_of(fmt), REF_RN, neg)
                                        : want_f2f(v[i], fmt, fmt, REF_RN, ftz);
        assert_true(get_result(&b, i, fmt == F64) == want);
      }
    }
}

/* ---- I2F, I2FP ------------------------------------------------------------------------------- */

static uint64_t random_int(void)
{
  uint64_t r = random64();
  switch (r & 7) {
  case 0: return 0;
  case 1: return ~0ull << (random32() & 63);
  case 2: return 1ull << (random32() & 63);
  case 3: return (1ull << (random32() & 63)) - 1;
  case 4: return (0x1000001ull << (random32() & 38)) + (random32() & 1);
  default: return random64() >> (random32() & 63);
  }
}

static quad int_value(uint64_t v, unsigned bits, bool is_signed)
{
  uint64_t x = bits == 64 ? v : v & ((1ull << bits) - 1);
  bool neg = is_signed && x >> (bits - 1) & 1;
  if (!neg) return (quad)x;
  return (quad)x - quad_scale(1, (int)bits);
}

static void test_i2f(void **state)
{
  static struct box b;
  uint64_t v[LANES];
  (void)state;
  for (unsigned size = 0; size < 4; size++)
    for (unsigned dst = F16; dst <= BF16; dst++)
      for (unsigned n = 0; n < 32; n++) {
        const unsigned mode = n & 3;
        const unsigned sel = size == 0 ? n >> 3 & 3 : size == 1 ? n >> 3 & 1 : 0;
        const bool is_signed = n & 4;
        for (unsigned i = 0; i < LANES; i++) {
          v[i] = random_int();
          put64(b.b, i, v[i]);
        }
        box_run(&b, unary(size == 3 || dst == F64 ? 0x312 : 0x306, (uint64_t)sel << 60,
                          FIELD_HI(dst, 75) | FIELD_HI(size, 84) | FIELD_HI(mode, 78) |
                              (is_signed ? HI(74) : 0)));
        for (unsigned i = 0; i < LANES; i++) {
          quad x = int_value(v[i] >> sel * (8u << size), 8u << size, is_signed);
          uint64_t want = ref_round(x, ref_of(dst), (enum ref_mode)mode, false);
          assert_true(get_result(&b, i, dst == F64) == want);
        }
      }
}

static void test_i2fp(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 8; n++) {
    for (unsigned i = 0; i < LANES; i++) b.b[0][i] = (uint32_t)random_int();
    struct box in = b;
    box_run(&b,
            unary(0x245, 0,
                  FIELD_HI(2, 75) | FIELD_HI(2, 84) | FIELD_HI(n & 3, 78) | (n & 4 ? HI(74) : 0)));
    for (unsigned i = 0; i < LANES; i++)
      assert_int_equal(b.d[0][i], ref_round(int_value(in.b[0][i], 32, n & 4), REF_F32,
                                            (enum ref_mode)(n & 3), false));
  }
}

/* ---- F2FP, I2I, I2IP ------------------------------------------------------------------------- */

static uint32_t want_pack(uint32_t v, bool bf16, bool relu, unsigned mode)
{
  uint32_t r = (uint32_t)want_f2f(v, F32, bf16 ? BF16 : F16, (enum ref_mode)mode, false);
  return relu && r != 0x7fff && r & 0x8000 ? 0 : r;
}

static void test_f2fp(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 32 * ROUNDS; n++) {
    const unsigned mode = n >> 3 & 3;
    const bool bf16 = n & 1, relu = n & 2, merge = n & 4 && mode == 0;
    for (unsigned i = 0; i < LANES; i++) {
      b.a[0][i] = (uint32_t)random_float(F32);
      b.b[0][i] = (uint32_t)random_float(F32);
      b.c[0][i] = random32();
    }
    struct box in = b;
    uint64_t hi =
        (bf16 ? HI(76) : 0) | (relu ? HI(75) : 0) | (merge ? HI(78) : 0) | FIELD_HI(mode, 79);
    box_run(&b, box_word(0x23e, 0, hi));
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t lo = want_pack(in.b[0][i], bf16, relu, mode);
      uint32_t top = merge ? in.c[0][i] : want_pack(in.a[0][i], bf16, relu, mode);
      assert_int_equal(b.d[0][i], lo | top << 16);
    }
  }
}

static int64_t clamp_to(int32_t x, unsigned format)
{
  static const int64_t lo[4] = {0, -128, 0, -32768}, hi[4] = {255, 127, 65535, 32767};
  return x < lo[format] ? lo[format] : x > hi[format] ? hi[format] : x;
}

static void test_i2i_i2ip(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < 4 * ROUNDS; n++) {
    const unsigned format = n & 3;
    for (unsigned i = 0; i < LANES; i++) {
      b.a[0][i] = (uint32_t)random_int();
      b.b[0][i] = (uint32_t)random_int();
      b.c[0][i] = random32();
    }
    struct box in = b, pack = b;
    box_run(&b, unary(0x238, 0, FIELD_HI(format, 76)));
    box_run(&pack, box_word(0x239, 0, FIELD_HI(format, 76)));
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t hi = (uint32_t)clamp_to((int32_t)in.a[0][i], format);
      uint32_t lo = (uint32_t)clamp_to((int32_t)in.b[0][i], format);
      assert_int_equal(b.d[0][i], lo);
      uint32_t want = format >= 2 ? hi << 16 | (lo & 0xffff)
                                  : in.c[0][i] << 16 | (hi & 0xff) << 8 | (lo & 0xff);
      assert_int_equal(pack.d[0][i], want);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_double_arithmetic),
      cmocka_unit_test(test_dsetp),
      cmocka_unit_test(test_dsetp_minmax),
      cmocka_unit_test(test_f2f),
      cmocka_unit_test(test_f2f_all_halves),
      cmocka_unit_test(test_f2i),
      cmocka_unit_test(test_frnd),
      cmocka_unit_test(test_i2f),
      cmocka_unit_test(test_i2fp),
      cmocka_unit_test(test_f2fp),
      cmocka_unit_test(test_i2i_i2ip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
