/* Instructions across lanes, and tensor cores, against scalar loops over the whole warp. */
#include "suite.h"

static bool is_warp(unsigned sem)
{
  return ref_of(sem) == ref_warp;
}

static bool is_tensor(unsigned sem)
{
  return ref_of(sem) == ref_mma;
}

static void instructions_across_lanes_match_reference(void **state)
{
  (void)state;
  suite_run(is_warp, "across lanes");
}

static void tensor_instructions_match_reference(void **state)
{
  (void)state;
  suite_run(is_tensor, "tensor cores");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instructions_across_lanes_match_reference),
      cmocka_unit_test(tensor_instructions_match_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
