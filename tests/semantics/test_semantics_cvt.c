/* Conversions against MPFR, special functions against their documented error bounds. */
#include "suite.h"

static bool is_conversion(unsigned sem)
{
  return ref_of(sem) == ref_cvt;
}

static bool is_mufu(unsigned sem)
{
  return ref_of(sem) == ref_mufu;
}

static void all_conversions_match_reference(void **state)
{
  (void)state;
  suite_run(is_conversion, "conversions");
}

static void special_functions_are_within_their_bounds(void **state)
{
  (void)state;
  suite_run(is_mufu, "special functions");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_conversions_match_reference),
      cmocka_unit_test(special_functions_are_within_their_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
