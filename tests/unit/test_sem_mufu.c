/* MUFU against the long double functions of libm, within the documented error bounds (CUDA
 * programming guide, intrinsic functions; PTX ISA, approx instructions), and its special values.
 * Every case runs on all x86 levels and with lane masks (sem_box.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sem_box.h"

enum { COS, SIN, EX2, LG2, RCP, RSQ, RCP64H, RSQ64H, SQRT, TANH };
enum { SAMPLES = 100000 };
static const uint32_t INF = 0x7f800000u, NEG_INF = 0xff800000u, QNAN = 0x7fffffffu;

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

static struct word128 mufu(unsigned op, uint64_t lo, uint64_t hi)
{
  struct word128 w = box_word_ab(0x308, lo, FIELD_HI(op, 74) | hi);
  w.lo &= ~((uint64_t)255 << 24);
  return w;
}

/* Results for up to 32 arguments. */
static void run(unsigned op, const uint32_t *in, uint32_t *out, unsigned n)
{
  static struct box b;
  for (unsigned i = 0; i < LANES; i++) b.b[0][i] = in[i % n];
  box_run(&b, mufu(op, 0, 0));
  memcpy(out, b.d[0], n * sizeof *out);
}

static uint32_t one(unsigned op, uint32_t v)
{
  uint32_t r;
  run(op, &v, &r, 1);
  return r;
}

typedef long double fn(long double);

static long double rcp(long double x)
{
  return 1 / x;
}

static long double rsq(long double x)
{
  return 1 / sqrtl(x);
}

static long double cos_turns(long double x)
{
  return cosl(2 * 3.14159265358979323846264338327950288L * (x - rintl(x)));
}

static long double sin_turns(long double x)
{
  return sinl(2 * 3.14159265358979323846264338327950288L * (x - rintl(x)));
}

/* SAMPLES arguments: sign and exponent range as given. The error is relative, or absolute where the
 * result is below `floor`. */
static void check(unsigned op, fn *f, bool negative, int emin, int emax, long double bound,
                  long double floor)
{
  for (unsigned n = 0; n < SAMPLES; n += LANES) {
    uint32_t in[LANES], out[LANES];
    for (unsigned i = 0; i < LANES; i++) {
      uint32_t e = (uint32_t)(127 + emin) + random32() % (uint32_t)(emax - emin + 1);
      in[i] = (random32() & 0x7fffffu) | e << 23 | (negative ? random32() & 0x80000000u : 0);
    }
    run(op, in, out, LANES);
    for (unsigned i = 0; i < LANES; i++) {
      long double want = f((long double)as_float(in[i])), size = fabsl(want);
      long double err = fabsl((long double)as_float(out[i]) - want);
      if (err > bound * (size > floor ? size : floor))
        fail_msg("op %u: argument %a gives %a", op, (double)as_float(in[i]),
                 (double)as_float(out[i]));
    }
  }
}

static void test_rcp(void **state)
{
  (void)state;
  check(RCP, rcp, true, -126, 125, 0x1p-23L, 0);
  assert_int_equal(one(RCP, 0), INF);
  assert_int_equal(one(RCP, 0x80000000u), NEG_INF);
  assert_int_equal(one(RCP, 1), INF); /* subnormal */
  assert_int_equal(one(RCP, 0x807fffffu), NEG_INF);
  assert_int_equal(one(RCP, INF), 0);
  assert_int_equal(one(RCP, NEG_INF), 0x80000000u);
  assert_int_equal(one(RCP, 0xffc00001u), QNAN);
  assert_int_equal(one(RCP, 0x7f7fffffu), 0); /* subnormal result */
  assert_int_equal(one(RCP, 0x3f800000u), 0x3f800000u);
  assert_int_equal(one(RCP, 0xc0800000u), 0xbe800000u);
}

static void test_rsq_sqrt(void **state)
{
  (void)state;
  check(RSQ, rsq, false, -126, 127, 0x1p-22L * 0.757858L, 0); /* 2^-22.4 */
  check(SQRT, sqrtl, false, -126, 127, 0x1p-23L, 0);
  assert_int_equal(one(RSQ, 0), INF);
  assert_int_equal(one(RSQ, 0x80000000u), NEG_INF);
  assert_int_equal(one(RSQ, 0x80000001u), NEG_INF);
  assert_int_equal(one(RSQ, 0xbf800000u), QNAN);
  assert_int_equal(one(RSQ, INF), 0);
  assert_int_equal(one(RSQ, 0xffc00000u), QNAN);
  assert_int_equal(one(RSQ, 0x40800000u), 0x3f000000u);
  assert_int_equal(one(SQRT, 0), 0);
  assert_int_equal(one(SQRT, 0x80000000u), 0x80000000u);
  assert_int_equal(one(SQRT, 0xbf800000u), QNAN);
  assert_int_equal(one(SQRT, INF), INF);
  assert_int_equal(one(SQRT, 0x41100000u), 0x40400000u);
}

static void test_ex2(void **state)
{
  (void)state;
  check(EX2, exp2l, true, -30, 5, 0x1p-22L * 0.70711L, 0); /* 2^-22.5 */
  check(EX2, exp2l, false, 6, 6, 0x1p-22L * 0.70711L, 0);
  for (int n = -126; n <= 127; n++)
    assert_int_equal(one(EX2, as_bits((float)n)), (uint32_t)(n + 127) << 23);
  assert_int_equal(one(EX2, 0), 0x3f800000u);
  assert_int_equal(one(EX2, 0x80000001u), 0x3f800000u);
  assert_int_equal(one(EX2, as_bits(128.0f)), INF);
  assert_int_equal(one(EX2, as_bits(1e30f)), INF);
  assert_int_equal(one(EX2, INF), INF);
  assert_int_equal(one(EX2, NEG_INF), 0);
  assert_int_equal(one(EX2, as_bits(-127.0f)), 0); /* subnormal result */
  assert_int_equal(one(EX2, as_bits(-1e30f)), 0);
  assert_int_equal(one(EX2, 0x7f800001u), QNAN);
}

static void test_lg2(void **state)
{
  (void)state;
  check(LG2, log2l, false, -126, 127, 0x1p-22L, 1);
  check(LG2, log2l, false, -1, 0, 0x1p-22L, 1);
  for (int n = -126; n <= 127; n++)
    assert_int_equal(one(LG2, (uint32_t)(n + 127) << 23), as_bits((float)n));
  assert_int_equal(one(LG2, 0), NEG_INF);
  assert_int_equal(one(LG2, 0x80000000u), NEG_INF);
  assert_int_equal(one(LG2, 0x007fffffu), NEG_INF);
  assert_int_equal(one(LG2, 0xbf800000u), QNAN);
  assert_int_equal(one(LG2, NEG_INF), QNAN);
  assert_int_equal(one(LG2, INF), INF);
  assert_int_equal(one(LG2, 0x7fc00000u), QNAN);
}

static void test_sin_cos(void **state)
{
  const long double bound = 0x1p-21L * 1.41421L; /* 2^-20.5 absolute */
  (void)state;
  check(SIN, sin_turns, true, -40, -2, bound, 1);
  check(COS, cos_turns, true, -40, -2, bound, 1);
  check(SIN, sin_turns, true, -2, 22, bound, 1);
  check(COS, cos_turns, true, -2, 22, bound, 1);
  assert_int_equal(one(SIN, 0), 0);
  assert_int_equal(one(SIN, 0x80000000u), 0x80000000u);
  assert_int_equal(one(COS, 0), 0x3f800000u);
  assert_int_equal(one(SIN, as_bits(0.25f)), 0x3f800000u);
  assert_int_equal(one(COS, as_bits(-0.5f)), 0xbf800000u);
  assert_int_equal(one(SIN, INF), QNAN);
  assert_int_equal(one(COS, NEG_INF), QNAN);
  assert_int_equal(one(SIN, 0xffffffffu), QNAN);
}

static void test_tanh(void **state)
{
  (void)state;
  check(TANH, tanhl, true, -60, 5, 0x1p-11L, 0);
  assert_int_equal(one(TANH, 0), 0);
  assert_int_equal(one(TANH, 0x80000000u), 0x80000000u);
  assert_int_equal(one(TANH, 0x80000001u), 0x80000001u); /* subnormals are kept */
  assert_int_equal(one(TANH, INF), 0x3f800000u);
  assert_int_equal(one(TANH, NEG_INF), 0xbf800000u);
  assert_int_equal(one(TANH, 0x7fc00000u), QNAN);
}

static double of_high(uint32_t v)
{
  uint64_t w = (uint64_t)v << 32;
  double x;
  memcpy(&x, &w, 8);
  return x;
}

static void check_high(unsigned op, fn *f, bool negative)
{
  for (unsigned n = 0; n < SAMPLES; n += LANES) {
    uint32_t in[LANES], out[LANES];
    for (unsigned i = 0; i < LANES; i++)
      in[i] = (random32() & 0xfffffu) | (1 + random32() % 2044) << 20 |
              (negative ? random32() & 0x80000000u : 0);
    run(op, in, out, LANES);
    for (unsigned i = 0; i < LANES; i++) {
      long double want = f((long double)of_high(in[i]));
      assert_true(fabsl((long double)of_high(out[i]) - want) <= fabsl(want) * 0x1p-20L);
    }
  }
}

static void test_high_words(void **state)
{
  (void)state;
  check_high(RCP64H, rcp, true);
  check_high(RSQ64H, rsq, false);
  assert_int_equal(one(RCP64H, 0), 0x7ff00000u);
  assert_int_equal(one(RCP64H, 0x80000000u), 0xfff00000u);
  assert_int_equal(one(RCP64H, 0x7ff00000u), 0);
  assert_int_equal(one(RCP64H, 0xfff80000u), QNAN);
  assert_int_equal(one(RCP64H, 0x3ff00000u), 0x3ff00000u);
  assert_int_equal(one(RSQ64H, 0x40100000u), 0x3fe00000u);
  assert_int_equal(one(RSQ64H, 0xbff00000u), QNAN);
  assert_int_equal(one(RSQ64H, 0), 0x7ff00000u);
}

/* |x| and -x of the source. */
static void test_source_modifiers(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned i = 0; i < LANES; i++) b.b[0][i] = as_bits(-2.0f);
  box_run(&b, mufu(RCP, (uint64_t)1 << 62, 0));
  assert_int_equal(b.d[0][7], as_bits(0.5f));
  for (unsigned i = 0; i < LANES; i++) b.b[0][i] = as_bits(2.0f);
  box_run(&b, mufu(RCP, (uint64_t)1 << 63, 0));
  assert_int_equal(b.d[0][7], as_bits(-0.5f));
}

static double half_value(uint32_t h, bool bf16)
{
  if (bf16) return (double)as_float(h << 16);
  int e = (int)(h >> 10 & 31);
  double m = (double)(h & 1023) / 1024, x = e ? ldexp(1 + m, e - 15) : ldexp(m, -14);
  if (e == 31) x = h & 1023 ? (double)NAN : HUGE_VAL;
  return h >> 15 ? -x : x;
}

/* EX2 and TANH of halves: code 2 is FP16 up to sm_89; on sm_90 code 1 is FP16 and 2 is BF16. */
static void check_half(unsigned sm, unsigned fmt, bool bf16, unsigned op, fn *f)
{
  static struct box b;
  b.sm = sm;
  for (unsigned h = 0; h < 65536; h += LANES) {
    const unsigned sel = h / LANES & 1;
    for (unsigned i = 0; i < LANES; i++)
      b.b[0][i] = sel ? (h + i) << 16 | 0x55aau : (h + i) | 0x55aa0000u;
    box_run(&b, mufu(op, (uint64_t)sel << 60, FIELD_HI(fmt, 72)));
    for (unsigned i = 0; i < LANES; i++) {
      double x = half_value(h + i, bf16), r = half_value(b.d[0][i], bf16);
      assert_int_equal(b.d[0][i] >> 16, 0);
      if (isnan(x)) {
        assert_int_equal(b.d[0][i], 0x7fff);
        continue;
      }
      long double want = f((long double)x);
      if (isinf(r)) {
        assert_true(want >= (bf16 ? 0x1.fep127L : 65504.0L));
        continue;
      }
      /* one rounding: half a unit in the last place */
      long double ulp = bf16 ? 0x1p-133L : 0x1p-24L, rel = bf16 ? 0x1p-8L : 0x1p-11L;
      assert_true(fabsl(r - want) <= fmaxl(ulp * 0.501L, fabsl(want) * rel * 1.001L));
    }
  }
}

static void test_halves(void **state)
{
  (void)state;
  check_half(86, 2, false, EX2, exp2l);
  check_half(80, 2, false, TANH, tanhl);
  check_half(90, 1, false, EX2, exp2l);
  check_half(90, 2, true, EX2, exp2l);
  check_half(90, 2, true, TANH, tanhl);
}

/* Roots are those of FP64, rounded. Two octaves stand for all: the others differ by powers of two. */
static void test_root_bits(void **state)
{
  (void)state;
  const uint32_t first = 0x3f800000u, octaves = 2u << 23, stride = 61; /* odd: all places in a row of lanes */
  for (uint32_t k = 0; k < octaves; k += LANES * stride) {
    uint32_t in[LANES], reciprocal[LANES], root[LANES];
    for (uint32_t i = 0; i < LANES; i++) in[i] = first + (k + i * stride) % octaves;
    run(RSQ, in, reciprocal, LANES);
    run(SQRT, in, root, LANES);
    for (uint32_t i = 0; i < LANES; i++) {
      double x = (double)as_float(in[i]);
      assert_int_equal(reciprocal[i], as_bits((float)(1 / sqrt(x))));
      assert_int_equal(root[i], as_bits((float)sqrt(x)));
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rcp),        cmocka_unit_test(test_rsq_sqrt),
      cmocka_unit_test(test_ex2),        cmocka_unit_test(test_lg2),
      cmocka_unit_test(test_sin_cos),    cmocka_unit_test(test_tanh),
      cmocka_unit_test(test_high_words), cmocka_unit_test(test_source_modifiers),
      cmocka_unit_test(test_halves),     cmocka_unit_test(test_root_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
