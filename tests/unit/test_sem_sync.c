/* mbarrier objects and narrow conversions against scalar references: an mbarrier as counts in
 * structs (PTX ISA, mbarrier), FP8 values by search over all 256 patterns (OCP 8-bit floating point).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "func/sass/lanes.h"
#include "func/sass/mbarrier.h"
#include "sem_box.h"

enum { STEPS = 200000, PACK_ROUNDS = 4000 };

struct model {
  uint32_t pending, expected;
  int64_t tx;
  unsigned phase;
};

static void model_apply(struct model *m, struct mbar_event ev)
{
  m->expected -= ev.drop;
  m->tx += ev.tx;
  m->pending -= ev.arrivals;
  if (m->pending || m->tx) return;
  m->phase ^= 1;
  m->pending = m->expected;
}

/* As the compiler writes mbarrier.init. */
static uint64_t init90(uint32_t n)
{
  uint32_t u = 0x100000 - n;
  return (uint64_t)(u << 11) << 32 | u << 1;
}

static uint64_t init80(uint32_t n)
{
  return (uint64_t)(0x80000000u - n) << 32 | (0x40000000u - n);
}

/* mbarrier.pending_count of a state, as the compiler computes it. */
static uint32_t pending(unsigned sm, uint64_t v)
{
  uint32_t high = (uint32_t)(v >> 32);
  return sm < 90 ? 0x80000000u - (high & 0x7fffffff) : 0x100000 - (high >> 11 & 0xfffff);
}

static void run_mbarrier(unsigned sm)
{
  struct model m = {0};
  uint64_t v = 0;
  for (unsigned n = 0; n < STEPS; n++) {
    if (n % 1000 == 0) {
      uint32_t count = 1 + random32() % 2000;
      m = (struct model){.pending = count, .expected = count};
      v = sm < 90 ? init80(count) : init90(count);
    }
    struct mbar_event ev = {.arrivals = random32() % 4 % (m.pending + 1)};
    if (random32() % 16 == 0 && m.expected > ev.arrivals + 1) ev.drop = ev.arrivals;
    if (sm >= 90 && m.pending > ev.arrivals) ev.tx = (int32_t)(random32() % 4096);
    if (sm >= 90 && random32() % 2 && m.tx + ev.tx > 0) ev.tx -= (int32_t)(m.tx + ev.tx);
    if (sm < 90 && !ev.arrivals) ev.drop = 0;
    model_apply(&m, ev);
    v = mbar_apply(sm, v, ev);
    assert_int_equal(v >> 63, m.phase);
    if (m.pending) assert_int_equal(pending(sm, v), m.pending);
  }
}

static void test_mbarrier(void **state)
{
  (void)state;
  run_mbarrier(80);
  run_mbarrier(90);
}

/* ---- FP8 ---------------------------------------------------------------------------------- */

static double f8_value(uint32_t v, bool e4m3)
{
  const int frac = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
  int e = (int)(v & 0x7f) >> frac, m = (int)v & ((1 << frac) - 1);
  double x = e ? ldexp((1 << frac) + m, e - bias - frac) : ldexp(m, 1 - bias - frac);
  return v & 0x80 ? -x : x;
}

/* Nearest of all finite patterns; of two, the even one. */
static uint32_t f8_nearest(float x, bool e4m3, bool relu)
{
  if (isnan(x)) return 0x7f;
  if (relu && signbit(x)) return 0;
  const uint32_t most = e4m3 ? 0x7e : 0x7b, sign = signbit(x) ? 0x80 : 0;
  double a = fabs((double)x);
  uint32_t best = 0;
  for (uint32_t v = 1; v <= most; v++) {
    double now = fabs(f8_value(v, e4m3) - a), before = fabs(f8_value(best, e4m3) - a);
    if (now < before || (now == before && !(v & 1))) best = v;
  }
  return sign | (a >= f8_value(most, e4m3) ? most : best);
}

static float some_float(void)
{
  uint32_t r = random32();
  if (r % 4 == 0) return bits_f32(random32());
  return (float)ldexp((double)(int32_t)random32() / 0x1p31, (int)(r >> 8 & 31) - 18);
}

static void test_to_f8(void **state)
{
  static struct box b;
  (void)state;
  b.sm = 90;
  for (unsigned n = 0; n < PACK_ROUNDS / 8; n++) {
    bool e4m3 = n & 1, relu = n & 2;
    for (unsigned i = 0; i < LANES; i++) {
      b.a[0][i] = f32_bits(some_float());
      b.b[0][i] = f32_bits(some_float());
      b.c[0][i] = random32();
    }
    const uint64_t kind = (uint64_t)1 << 23 | (uint64_t)1 << 26; /* bits 87, 90 */
    struct word128 w = box_word(0x23e, 0, 0);
    w.hi = BOX_C | kind | 1u << 14 | 1u << 13 | (e4m3 ? 1u << 12 : 0) | (relu ? 1u << 11 : 0) |
           (uint64_t)15 << 41 | (uint64_t)7 << 46 | (uint64_t)7 << 49;
    box_run(&b, w);
    for (unsigned i = 0; i < LANES; i++)
      assert_int_equal(b.d[0][i], b.c[0][i] << 16 |
                                      f8_nearest(bits_f32(b.a[0][i]), e4m3, relu) << 8 |
                                      f8_nearest(bits_f32(b.b[0][i]), e4m3, relu));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mbarrier), cmocka_unit_test(test_to_f8)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
