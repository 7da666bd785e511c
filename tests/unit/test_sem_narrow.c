/* F2FP to pairs of FP4, FP6 and powers of two (sm_100a, sm_120a): every result is the nearest number of the
 * format, found by trying them all (OCP Microscaling Formats; rounding, saturation and NaN as the PTX ISA
 * says of cvt). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sem_box.h"

enum { F2FP = 0x23e, RZ = 255, ROUNDS = 400 };

struct format {
  const char *name;
  unsigned exp, frac; /* bits */
  uint64_t word;      /* bits of the instruction */
};

/* words: compiler output (CUDA 13.0, sm_120a) */
static const struct format formats[] = {
    {"E2M1", 2, 1, 0x04207000u}, {"E2M3", 2, 3, 0x04606000u}, {"E3M2", 3, 2, 0x04607000u}};

static float float_of(uint32_t v)
{
  float x;
  memcpy(&x, &v, sizeof x);
  return x;
}

static double value(unsigned v, const struct format *f)
{
  const int m = (int)(v & ((1u << f->frac) - 1)), e = (int)(v >> f->frac);
  const int least = 2 - (1 << (f->exp - 1)) - (int)f->frac;
  return ldexp(e ? m + (1 << f->frac) : m, least + (e ? e - 1 : 0));
}

/* Nearest, of two equally near ones the even pattern; the largest beyond it and for NaN. */
static uint32_t nearest(float x, const struct format *f, bool relu)
{
  const uint32_t n = 1u << (f->exp + f->frac), sign = signbit(x) ? n : 0;
  if (isnan(x)) return n - 1;
  if (relu && sign) return 0;
  uint32_t best = 0;
  const double mag = fabs((double)x);
  if (mag > value(n - 1, f)) return sign | (n - 1);
  for (uint32_t v = 1; v < n; v++) {
    const double d = fabs(value(v, f) - mag), old = fabs(value(best, f) - mag);
    if (d < old || (d == old && !(v & 1))) best = v;
  }
  return sign | best;
}

static uint32_t random_input(void)
{
  const uint32_t r = random32();
  switch (r & 7) {
  case 0: return r;
  case 1: return (r & 0x80000000u) | 0x7f800000u | (r & 8 ? 0x1234u : 0);
  case 2: return (r & 0x80000000u);
  case 3: return (r & 0x80700000u) | (120u + (r >> 8 & 15)) << 23; /* ties */
  default: return (r & 0x807fffffu) | (118u + (r >> 8 & 15)) << 23;
  }
}

static void pack(struct box *b, uint64_t hi)
{
  struct word128 w = box_word_ab(F2FP, 0, 0);
  w.hi = hi | RZ;
  b->sm = 120;
  for (unsigned i = 0; i < LANES; i++) b->a[0][i] = random_input(), b->b[0][i] = random_input();
  box_run(b, w);
}

static void test_narrow(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++)
    for (unsigned n = 0; n < ROUNDS; n++) {
      const struct format *f = &formats[k];
      const bool relu = n & 1;
      pack(&b, f->word | (relu ? HI(75) : 0));
      for (unsigned i = 0; i < LANES; i++) {
        uint32_t high = nearest(float_of(b.a[0][i]), f, relu);
        uint32_t low = nearest(float_of(b.b[0][i]), f, relu);
        assert_int_equal(b.d[0][i], high << (f->frac == 1 ? 4 : 8) | low);
      }
    }
}

/* Exponent plus 127 of the power of two below, or not below, |x|. */
static uint32_t power(float x, bool up)
{
  const double mag = fabs((double)x);
  if (isnan(x)) return 0xff;
  if (mag == 0) return 0;
  int e = isinf(mag) ? 200 : ilogb(mag);
  if (up && !isinf(mag) && mag != ldexp(1, e)) e++;
  return (uint32_t)(e < -127 ? 0 : e > 127 ? 0xfe : e + 127);
}

static void test_power_of_two(void **state)
{
  static struct box b;
  (void)state;
  for (unsigned n = 0; n < ROUNDS; n++) {
    const bool up = n & 1;
    pack(&b, up ? 0x04c16000u : 0x04c1e000u);
    for (unsigned i = 0; i < LANES; i++)
      assert_int_equal(b.d[0][i], power(float_of(b.a[0][i]), up) << 8 | power(float_of(b.b[0][i]), up));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_narrow),
      cmocka_unit_test(test_power_of_two),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
