/* Which launches an option of `warpstep exec` or `capture` chooses (docs/exec.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/choice.h"

static bool chosen(const char *text, uint64_t number, const char *kernel)
{
  struct choice c;
  struct err e = {0};
  if (!choice_parse(&c, "--time-kernels", text, &e)) fail_msg("%s", e.msg);
  bool is = choice_has(&c, number, kernel);
  choice_free(&c);
  assert_memory_equal(&c, &(struct choice){0}, sizeof c); /* one that chooses nothing, to be used again */
  return is;
}

/* N, N..M, N.., several with commas: launches from 1. */
static void numbers(void **state)
{
  static const struct {
    const char *text;
    uint64_t in; /* bit i: launch i + 1 */
  } row[] = {{"1", 0x1}, {"3", 0x4}, {"2..4", 0xe}, {"6..", 0xffe0}, {"1,3", 0x5}, {"2..3,5,7..8", 0xd6},
             {"4..4", 0x8}, {"1..", 0xffff}, {"5,2", 0x12}, {"3..6,5..9", 0x1fc}};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
    for (unsigned n = 1; n <= 16; n++)
      assert_int_equal(chosen(row[i].text, n, "k"), row[i].in >> (n - 1) & 1);
  assert_true(chosen("17..", UINT64_MAX, "k"));
}

static void mistaken_ranges(void **state)
{
  static const char *const bad[] = {"0", "0..3", "4..3", "1,", ",1", "1..2..3", "1...3", "1.3", "..", "..4", "1,,2", "", "1,0"};
  (void)state;
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct choice c;
    struct err e = {0};
    assert_false(choice_parse(&c, "--launches", bad[i], &e));
    assert_non_null(strstr(e.msg, "--launches"));
    choice_free(&c);
  }
}

/* The last launch after which a program can end: of "N.." there is none. */
static void last_of_them(void **state)
{
  static const struct {
    const char *text;
    uint64_t last;
  } row[] = {{"3", 3}, {"2..7,4", 7}, {"4,2..7", 7}, {"9,2", 9}, {"5..", UINT64_MAX}, {"kernel", UINT64_MAX}};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct choice c;
    struct err e = {0};
    assert_true(choice_parse(&c, "", row[i].text, &e));
    assert_true(c.last == row[i].last);
    choice_free(&c);
  }
}

/* An extended regular expression, found in the symbol or in the name that reports show. */
static void names(void **state)
{
  static const char symbol[] = "_ZN3lib6vecaddIfEEvPKT_S3_PS1_j"; /* void lib::vecadd<float>(…) */
  (void)state;
  assert_true(chosen("vecadd", 5, "vecadd"));
  assert_true(chosen("^vec", 5, "vecadd"));
  assert_false(chosen("^add", 5, "vecadd"));
  assert_true(chosen("add$", 5, "vecadd"));
  assert_true(chosen("sgemm|vec", 5, "vecadd"));
  assert_false(chosen("sgemm|scan", 5, "vecadd"));
  assert_true(chosen("^vecadd$", 1, symbol)); /* without namespace and parameters */
  assert_true(chosen("^_ZN3lib", 1, symbol));
  assert_false(chosen("^lib$", 1, symbol));
  struct choice c;
  struct err e = {0};
  assert_false(choice_parse(&c, "--time-kernels", "a(b", &e));
  assert_non_null(strstr(e.msg, "regular expression"));
  choice_free(&c);
}

/* All zeros: every launch. */
static void no_choice(void **state)
{
  const struct choice c = {0};
  (void)state;
  assert_true(choice_has(&c, 1, "k"));
  assert_true(choice_has(&c, 1000000, "other"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers), cmocka_unit_test(mistaken_ranges), cmocka_unit_test(last_of_them),
      cmocka_unit_test(names),   cmocka_unit_test(no_choice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
