/* Where warps were: the order of the rows, which is that of what is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host/positions.h"

/* Most warps first, then by pc, then by what they wait for: the same list whatever order the rows came in. */
static void sorted(void **state)
{
  const struct position in_order[] = {
    {.pc = 0x40, .wait = PATH_WAIT_BAR, .warps = 3},
    {.pc = 0x10, .wait = PATH_READY, .warps = 2},
    {.pc = 0x10, .wait = PATH_WAIT_BAR, .warps = 2},
    {.pc = 0x10, .wait = PATH_WAIT_CONVERGE, .warps = 2},
    {.pc = 0x20, .wait = PATH_READY, .warps = 2},
  };
  enum { N = sizeof in_order / sizeof *in_order };
  (void)state;
  for (unsigned step = 1; step < N; step++) { /* N is a prime: each step visits all */
    struct position row[N];
    for (unsigned i = 0; i < N; i++) row[i] = in_order[(i + 1) * step % N];
    positions_sort(&(struct positions){.row = row, .n = N});
    for (unsigned i = 0; i < N; i++) {
      assert_int_equal(row[i].warps, in_order[i].warps);
      assert_int_equal(row[i].pc, in_order[i].pc);
      assert_int_equal(row[i].wait, in_order[i].wait);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sorted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
