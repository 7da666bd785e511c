/* Loads, stores, atomics, matrix loads and stores, asynchronous copies against a byte-wise
 * reference. */
#include "mem_rig.h"
#include "suite.h"

static void memory_instructions_match_reference(void **state)
{
  struct tally t = {0};
  (void)state;
  mem_rig_all(suite_sets(), &t);
  suite_end(&t, "memory");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_instructions_match_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
