/* Suggestions for misspelt names. Distances are counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *const names[] = {"rtx-3070", "rtx-3080", "a100", "a40", "v100-pcie", "sm.max_warps", "mem.queue_entries", "run", "exec"};

static const char *hint(const char *asked)
{
  static char buf[NEAREST_HINT];
  struct nearest n;
  nearest_start(&n, asked);
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) nearest_offer(&n, names[i]);
  return nearest_hint(&n, buf);
}

static void distances(void **state)
{
  (void)state;
  assert_int_equal(nearest_distance("", ""), 0);
  assert_int_equal(nearest_distance("", "abc"), 3);
  assert_int_equal(nearest_distance("abc", ""), 3);
  assert_int_equal(nearest_distance("kitten", "sitting"), 3);
  assert_int_equal(nearest_distance("exce", "exec"), 1); /* neighbours swapped */
  assert_int_equal(nearest_distance("A_B.c", "a-b_C"), 0);
  assert_int_equal(nearest_distance("abcdef", "badcfe"), 3);
}

static void near_names(void **state)
{
  (void)state;
  assert_string_equal(hint("rtx3070"), "; did you mean 'rtx-3070'?");
  assert_string_equal(hint("RTX_3080"), "; did you mean 'rtx-3080'?");
  assert_string_equal(hint("rtx-3090"), "; did you mean 'rtx-3070'?"); /* as near as 3080: the first */
  assert_string_equal(hint("exce"), "; did you mean 'exec'?");
  assert_string_equal(hint("ru"), "; did you mean 'run'?");
  assert_string_equal(hint("a00"), "; did you mean 'a100'?");
  assert_string_equal(hint("max_warps"), "; did you mean 'sm.max_warps'?");
  assert_string_equal(hint("mem.queue_entrys"), "; did you mean 'mem.queue_entries'?");
  assert_string_equal(hint("3070"), "; did you mean 'rtx-3070'?");
  assert_string_equal(hint("V100"), "; did you mean 'v100-pcie'?");
}

static void far_names(void **state)
{
  (void)state;
  char asked[4 * NEAREST_LONGEST];
  assert_string_equal(hint(""), "");
  assert_string_equal(hint("gtx-9999"), "");
  assert_string_equal(hint("x"), "");
  assert_string_equal(hint("70"), ""); /* no part of a name */
  assert_string_equal(hint("sm"), ""); /* a group is no parameter */
  assert_string_equal(hint("simulate"), "");
  memset(asked, 'a', sizeof asked - 1);
  asked[sizeof asked - 1] = '\0';
  assert_string_equal(hint(asked), "");
  struct nearest n;
  char buf[NEAREST_HINT];
  nearest_start(&n, "a");
  nearest_offer(&n, asked);
  nearest_offer(&n, "");
  assert_string_equal(nearest_hint(&n, buf), "");
  asked[NEAREST_LONGEST] = '\0'; /* the longest that counts, all of it in the hint */
  nearest_start(&n, asked);
  nearest_offer(&n, asked);
  assert_int_equal(strlen(nearest_hint(&n, buf)), NEAREST_LONGEST + strlen("; did you mean ''?"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances),
      cmocka_unit_test(near_names),
      cmocka_unit_test(far_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
