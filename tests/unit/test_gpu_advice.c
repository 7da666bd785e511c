/* What is said to somebody whose code no GPU, or not the chosen one, runs (host/gpu_advice.h), by the presets of the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/gpu_advice.h"

#define PRESETS WS_SOURCE_DIR "/presets"

/* The SM of no preset: the targets that presets have, once each, in order, and one of them for nvcc. */
static void none_runs(void **state)
{
  static const unsigned target[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
  char said[512], want[512] = "no GPU that can be simulated runs it; compile for ";
  (void)state;
  for (size_t i = 0; i < sizeof target / sizeof *target; i++)
    snprintf(want + strlen(want), sizeof want - strlen(want), "%ssm_%u", i ? ", " : "", target[i]);
  snprintf(want + strlen(want), sizeof want - strlen(want), ": nvcc -gencode arch=compute_86,code=sm_86");
  assert_string_equal(gpu_advice(PRESETS, 60, TARGET_PLAIN, said, sizeof said), want);
  assert_string_equal(gpu_advice(PRESETS, 255, TARGET_PLAIN, said, sizeof said), want);
}

/* At most six names, those of the very target first; the text ends where the buffer does. */
static void some_run(void **state)
{
  char said[512], few[24];
  unsigned names = 0;
  (void)state;
  gpu_advice(PRESETS, 87, TARGET_PLAIN, said, sizeof said);
  assert_ptr_equal(strstr(said, "choose --gpu jetson-orin"), said); /* the only one of sm_87 */
  gpu_advice(PRESETS, 80, TARGET_PLAIN, said, sizeof said);
  assert_ptr_equal(strstr(said, "choose --gpu a"), said);
  assert_non_null(strstr(said, " … (warpstep gpus)"));
  for (const char *c = said; (c = strstr(c, ", ")); c++) names++;
  assert_int_equal(names + 1, 6);
  memset(few, 'x', sizeof few);
  gpu_advice(PRESETS, 80, TARGET_PLAIN, few, sizeof few);
  assert_true(strlen(few) < sizeof few);
  assert_memory_equal(few, said, strlen(few));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(none_runs), cmocka_unit_test(some_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
