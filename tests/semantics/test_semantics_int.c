/* Integer, logic and move instructions, vector and uniform, against C integer arithmetic. */
#include "suite.h"

static bool wanted(unsigned sem)
{
  return ref_of(sem) == ref_int || ref_of(sem) == ref_int64;
}

static void all_integer_instructions_match_reference(void **state)
{
  (void)state;
  suite_run(wanted, "integer");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_integer_instructions_match_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
