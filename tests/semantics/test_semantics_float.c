/* FP32, FP16, BF16 and FP64 arithmetic, comparison and selection against MPFR. */
#include "suite.h"

static bool is_f32(unsigned sem)
{
  return ref_of(sem) == ref_f32;
}

static bool is_half(unsigned sem)
{
  return ref_of(sem) == ref_half;
}

static bool is_f64(unsigned sem)
{
  return ref_of(sem) == ref_f64;
}

static void all_fp32_instructions_match_reference(void **state)
{
  (void)state;
  suite_run(is_f32, "FP32");
}

static void all_packed_half_instructions_match_reference(void **state)
{
  (void)state;
  suite_run(is_half, "FP16 and BF16 pairs");
}

static void all_fp64_instructions_match_reference(void **state)
{
  (void)state;
  suite_run(is_f64, "FP64");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_fp32_instructions_match_reference),
      cmocka_unit_test(all_packed_half_instructions_match_reference),
      cmocka_unit_test(all_fp64_instructions_match_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
