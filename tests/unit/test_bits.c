/* Bit fields of 128-bit words. Expected values are computed with unsigned __int128. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arith.h"
#include "base/bits.h"

__extension__ typedef unsigned __int128 u128;

static u128 wide(struct word128 w)
{
  return (u128)w.hi << 64 | w.lo;
}

static const struct word128 SAMPLE = {.lo = 0x0123456789abcdefu, .hi = 0xfedcba9876543210u};

static void test_ones(void **state)
{
  (void)state;
  assert_int_equal(bits_ones(0), 0);
  assert_int_equal(bits_ones(1), 1);
  assert_int_equal(bits_ones(63), 0x7fffffffffffffffu);
  assert_int_equal(bits_ones(64), 0xffffffffffffffffu);
}

static void test_get_every_field(void **state)
{
  (void)state;
  for (unsigned width = 1; width <= 64; width++) {
    for (unsigned pos = 0; pos + width <= 128; pos++) {
      u128 mask = ((u128)1 << width) - 1;
      assert_int_equal(bits_get(SAMPLE, pos, width), (uint64_t)(wide(SAMPLE) >> pos & mask));
    }
  }
}

static void test_or_then_get(void **state)
{
  (void)state;
  for (unsigned width = 1; width <= 64; width++) {
    for (unsigned pos = 0; pos + width <= 128; pos++) {
      uint64_t v = SAMPLE.hi & bits_ones(width);
      struct word128 w = {0};
      bits_or(&w, pos, width, SAMPLE.hi); /* excess bits of the value are dropped */
      assert_true(wide(w) == (u128)v << pos);
      assert_int_equal(bits_get(w, pos, width), v);
    }
  }
}

static void test_or_keeps_neighbours(void **state)
{
  (void)state;
  struct word128 w = {0};
  bits_or(&w, 60, 8, 0xa5);
  bits_or(&w, 0, 60, 0x123);
  bits_or(&w, 68, 60, 0x456);
  assert_int_equal(bits_get(w, 0, 60), 0x123);
  assert_int_equal(bits_get(w, 60, 8), 0xa5);
  assert_int_equal(bits_get(w, 68, 60), 0x456);
}

static void test_sext(void **state)
{
  (void)state;
  assert_int_equal(bits_sext(0x800000, 24), -0x800000);
  assert_int_equal(bits_sext(0x7fffff, 24), 0x7fffff);
  assert_int_equal(bits_sext(0xff7fffff, 24), 0x7fffff); /* bits above the field do not count */
  assert_int_equal(bits_sext(1, 1), -1);
  assert_int_equal(bits_sext(UINT64_MAX, 64), -1);
}

static void test_count_and_first(void **state)
{
  (void)state;
  assert_int_equal(bits_count(0), 0);
  assert_int_equal(bits_count(UINT64_MAX), 64);
  assert_int_equal(bits_count(0x8000000000000001u), 2);
  for (unsigned i = 0; i < 64; i++) assert_int_equal(bits_first(UINT64_MAX << i), i);
}

/* Against what the words say, for all small numbers; and beyond 32 bits. */
static void test_rounding(void **state)
{
  (void)state;
  for (unsigned unit = 1; unit < 70; unit++)
    for (unsigned n = 0; n < 300; n++) {
      unsigned least = 0;
      while (least < n) least += unit;
      assert_int_equal(round_up(n, unit), least);
      assert_int_equal(div_up(n, unit), least / unit);
      if ((unit & (unit - 1)) == 0) assert_int_equal(align_up(n, unit), least);
    }
  assert_int_equal(align_up(0x123456789a, 0x1000), 0x1234568000);
  assert_int_equal(later(5, UINT64_MAX), UINT64_MAX);
  assert_int_equal(earlier(5, UINT64_MAX), 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ones),
      cmocka_unit_test(test_get_every_field),
      cmocka_unit_test(test_or_then_get),
      cmocka_unit_test(test_or_keeps_neighbours),
      cmocka_unit_test(test_sext),
      cmocka_unit_test(test_count_and_first),
      cmocka_unit_test(test_rounding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
