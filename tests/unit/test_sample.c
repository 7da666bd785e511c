/* Runs that are cut short (host/simulate.h): `--sample-ctas`, how many CTAs of a grid are timed and what the estimate is worth;
 * limits of cycles and instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_rig.h"

/* vecadd on one SM: CTAs of 256 threads, 1536 threads an SM (CUDA C++ Programming Guide, compute capability 8.6). */
enum { CTAS_PER_SM = 6, WAVES = 3, LEAST = WAVES * CTAS_PER_SM + GPU_RATE_STEPS };

static struct sim_result run(struct kernel_rig *k, uint32_t ctas, uint64_t sample)
{
  struct err e = {0};
  struct sim_result r;
  struct simulator *s = simulator_new(&k->params);
  struct launch l = kernel_rig_again(k, ctas);
  if (!simulate(s, &l, &(struct sim_options){.timed = true, .threads = 1, .sample_ctas = sample}, &r, &e)) fail_msg("%s", e.msg);
  assert_int_equal(r.end, RUN_DONE);
  assert_int_equal(r.ctas_per_sm, CTAS_PER_SM);
  func_launch_free(l.func);
  simulator_free(s);
  return r;
}

/* Three waves and the batches at least; of a grid that is up to a quarter larger than the sample all are. */
static void how_many(void **state)
{
  static const struct {
    uint32_t ctas;
    uint64_t wanted, sampled;
  } want[] = {
      {LEAST, 1, 0}, {LEAST + LEAST / 4, 1, 0}, {LEAST + LEAST / 4 + 1, 1, LEAST}, {200, 0, 0}, {200, 1, LEAST},
      {200, LEAST, LEAST}, {200, LEAST + 1, LEAST + 1}, {100, 80, 0}, {101, 80, 80}, {60, 100, 0},
  };
  struct kernel_rig k;
  (void)state;
  kernel_rig_build(&k, "vecadd", 1);
  k.params.gpu_sms = 1;
  for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
    struct sim_result r = run(&k, want[i].ctas, want[i].wanted);
    if (r.sampled_ctas != want[i].sampled)
      fail_msg("%u CTAs, %u wanted: %u were timed", want[i].ctas, (unsigned)want[i].wanted, (unsigned)r.sampled_ctas);
    const struct sim_result all = run(&k, want[i].ctas, 0);
    assert_int_equal(r.warp_insts, all.warp_insts); /* each CTA ran once, timed or not */
    if (!r.sampled_ctas) assert_int_equal(r.cycles, all.cycles);
  }
  kernel_rig_free(&k);
}

/* CTAs that all do the same: instructions are those of all of them, the time is near. */
static void estimate(void **state)
{
  enum { CTAS = 63 }; /* 64 have elements */
  struct kernel_rig k;
  (void)state;
  kernel_rig_build(&k, "vecadd", 1);
  k.params.gpu_sms = 1;
  struct sim_result all = run(&k, CTAS, 0), some = run(&k, CTAS, 40);
  assert_int_equal(some.sampled_ctas, 40);
  assert_int_equal(all.error_cycles, 0);
  assert_int_equal(some.warp_insts, all.warp_insts);
  assert_int_equal(some.thread_insts, all.thread_insts);
  assert_true(some.error_cycles > 0);
  assert_in_range(some.cycles, all.cycles - all.cycles / 10, all.cycles + all.cycles / 10);
  assert_in_range(all.cycles, some.cycles - some.error_cycles, some.cycles + some.error_cycles);
  assert_in_range(some.time_ps / params_clock_ps(&k.params), some.cycles - 1, some.cycles + 1);
  kernel_rig_free(&k);
}

/* A run in time ends at a window's end behind its limit, and without one when it is done. */
static void limits(void **state)
{
  static const struct {
    uint64_t cycles, insts;
    enum run_end end;
  } want[] = {{0, 0, RUN_DONE}, {1, 0, RUN_CYCLE_LIMIT}, {0, 1, RUN_INST_LIMIT}, {1000000, 1000000, RUN_DONE}, {1000000, 50, RUN_INST_LIMIT}};
  struct kernel_rig k;
  (void)state;
  kernel_rig_build(&k, "vecadd", 1);
  k.params.gpu_sms = 1;
  for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
    struct err e = {0};
    struct sim_result r;
    struct simulator *s = simulator_new(&k.params);
    struct launch l = kernel_rig_again(&k, 8);
    const struct sim_options o = {.timed = true, .threads = 1, .max_cycles = want[i].cycles, .max_insts = want[i].insts};
    if (!simulate(s, &l, &o, &r, &e)) fail_msg("%s", e.msg);
    assert_int_equal(r.end, want[i].end);
    if (r.end == RUN_INST_LIMIT) assert_true(r.warp_insts >= want[i].insts);
    func_launch_free(l.func);
    simulator_free(s);
  }
  kernel_rig_free(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(how_many), cmocka_unit_test(estimate), cmocka_unit_test(limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
