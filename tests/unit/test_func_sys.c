/* Device printf: the same text as the host's printf for the same arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "func/sass/sys.h"

static uint8_t guest[4096];

static bool read_guest(void *ctx, uint64_t addr, void *buf, size_t bytes)
{
  (void)ctx;
  if (addr + bytes > sizeof guest) return false;
  memcpy(buf, guest + addr, bytes);
  return true;
}

enum { FMT = 0, ARGS = 1024, STR = 2048 };

static void check(const char *fmt, const void *args, size_t bytes, int n, const char *want)
{
  memset(guest, 0, sizeof guest);
  strcpy((char *)guest + FMT, fmt);
  memcpy(guest + ARGS, args, bytes);
  strcpy((char *)guest + STR, "text");
  char *out = NULL;
  size_t size;
  FILE *f = open_memstream(&out, &size);
  int got = sys_printf(f, read_guest, NULL, FMT, ARGS);
  fclose(f);
  assert_string_equal(out, want);
  assert_int_equal(got, n);
  free(out);
}

static void test_formats(void **state)
{
  (void)state;
  struct {
    int32_t a, b;
    double c;
    uint64_t d;
    int32_t e;
  } x = {-5, 7, 2.5, 0x123456789abcull, 'z'};
  check("%d %5i|%-8.3f|%#llx %c%%\n", &x, sizeof x, 5, "-5     7|2.500   |0x123456789abc z%\n");
  struct {
    int32_t width, prec;
    double v;
  } y = {10, 2, 3.14159};
  check("[%*.*f]", &y, sizeof y, 3, "[      3.14]");
  struct {
    int32_t i, pad;
    uint64_t s;
    int64_t l;
  } z = {3, 0, STR, -9000000000};
  check("%u:%-6s:%ld", &z, sizeof z, 3, "3:text  :-9000000000");
  double g[3] = {1e10, 0.5, 255.0};
  check("%g %e %a", g, sizeof g, 3, "1e+10 5.000000e-01 0x1.fep+7");
  uint32_t o[3] = {8, 255, 255};
  check("%o %x %X", o, sizeof o, 3, "10 ff FF");
  uint64_t p = 0x7f00;
  check("%p", &p, sizeof p, 1, "0x7f00");
}

/* What the host's printf must never be given. */
static void test_hostile(void **state)
{
  (void)state;
  uint64_t x[4] = {1, 2, 3, 4};
  check("%n%q%", x, sizeof x, 0, "%n%q%");
  check("%0000000000000000000000000000000000000000d", x, sizeof x, 1, "1");
  check("%-+ #0-+ #0-+ #0-+ #0-+ #0-+ #0-+ #0-+ #0x|", x, sizeof x, 1, "0x1|");
}

/* Characters that a conversion makes, in the guest's memory at FMT and ARGS. */
static size_t length_of(const char *fmt, const int32_t *args, size_t bytes)
{
  char *out = NULL;
  size_t size;
  memset(guest, 0, sizeof guest);
  strcpy((char *)guest + FMT, fmt);
  memcpy(guest + ARGS, args, bytes);
  FILE *f = open_memstream(&out, &size);
  assert_int_not_equal(sys_printf(f, read_guest, NULL, FMT, ARGS), -1);
  fclose(f);
  free(out);
  return size;
}

/* Widths and precisions end at SYS_PRINTF_MOST, however they are given. */
static void test_sizes(void **state)
{
  static const char *const digits[] = {"%2147483647d", "%4294967297d", "%-99999999999999999999d", "%.2147483647d", "%04097x"};
  static const char *const stars[] = {"%*d", "%-*d", "%.*d", "%0*d"};
  static const int32_t most[] = {INT32_MAX, 1, 0, 0}, least[] = {INT32_MIN, 1, 0, 0};
  (void)state;
  for (unsigned i = 0; i < 5; i++) assert_int_equal(length_of(digits[i], most, sizeof most), SYS_PRINTF_MOST);
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(length_of(stars[i], most, sizeof most), SYS_PRINTF_MOST);
    assert_int_equal(length_of(stars[i], least, sizeof least), i == 2 ? 1 : SYS_PRINTF_MOST);
  }
  assert_int_equal(length_of("%4095d|", most, sizeof most), 4096);
}

static bool endless(void *ctx, uint64_t addr, void *buf, size_t bytes)
{
  (void)ctx, (void)addr;
  memset(buf, 'x', bytes);
  return true;
}

/* A format that never ends. */
static void test_endless(void **state)
{
  (void)state;
  assert_int_equal(sys_printf(NULL, endless, NULL, FMT, ARGS), -1);
}

static void test_unmapped(void **state)
{
  (void)state;
  memset(guest, 'x', sizeof guest); /* no terminator before the end of memory */
  assert_int_equal(sys_printf(NULL, read_guest, NULL, FMT, ARGS), -1);
  strcpy((char *)guest, "%s");
  uint64_t far = 1 << 20;
  memcpy(guest + ARGS, &far, 8);
  assert_int_equal(sys_printf(NULL, read_guest, NULL, FMT, ARGS), -1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_unmapped),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_endless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
