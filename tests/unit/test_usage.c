/* The series of what a launch did over its time: sums are exact for any number of points, points are bounded and about
 * as far from each other, the end is always there. Expected values by formula. A real run: its last point has the run's
 * counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "config/presets.h"
#include "host/case.h"
#include "host/launchfile.h"
#include "host/simulate.h"
#include "host/usage.h"
#include "time/msg.h"

/* n windows of 10 ps, in each of which i-th amounts grow by i + 1. */
static void fill(struct usage *u, unsigned n)
{
  uint64_t amount[USAGE__N] = {0};
  usage_start(u, 10);
  for (unsigned i = 1; i <= n; i++) {
    for (unsigned k = 0; k < USAGE__N; k++) amount[k] += k + 1;
    usage_add(u, 10 * (uint64_t)i, amount, false);
  }
  usage_add(u, 10 * (uint64_t)n, amount, true);
}

static void check(const struct usage *u, unsigned windows)
{
  unsigned n;
  const struct usage_point *p = usage_points(u, &n);
  assert_in_range(n, 2, USAGE_POINTS);
  assert_int_equal(p[0].at, 0);
  assert_int_equal(p[n - 1].at, 10 * (uint64_t)windows);
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < USAGE__N; k++) assert_int_equal(p[i].amount[k], p[i].at / 10 * (k + 1));
  for (unsigned i = 1; i < n; i++) assert_true(p[i].at > p[i - 1].at);
  /* All but the last are equally far from each other: the least power of two that lets them fit, or the next. */
  for (unsigned i = 2; i + 1 < n; i++) assert_int_equal(p[i].at - p[i - 1].at, p[1].at);
  uint64_t width = p[1].at / 10;
  assert_true((width & (width - 1)) == 0 || n == 2);
  assert_true(n == 2 || windows / width + 2 > USAGE_POINTS / 2 || width == 1);
}

static void test_points(void **state)
{
  (void)state;
  const unsigned windows[] = {1, 2, 3, 100, 510, 511, 512, 513, 1000, 1023, 1024, 1025, 5000, 123456};
  struct usage *u = usage_new();
  for (unsigned i = 0; i < sizeof windows / sizeof windows[0]; i++) {
    fill(u, windows[i]);
    check(u, windows[i]);
  }
  usage_free(u);
}

/* Windows in which nobody has anything to do are skipped: a long stretch is one step. */
static void test_skipped(void **state)
{
  (void)state;
  struct usage *u = usage_new();
  uint64_t amount[USAGE__N] = {5};
  unsigned n;
  usage_start(u, 10);
  usage_add(u, 1000, amount, false);
  usage_add(u, 1005, amount, false); /* not due */
  amount[0] = 8;
  usage_add(u, 1010, amount, false);
  usage_add(u, 1012, amount, true);
  const struct usage_point *p = usage_points(u, &n);
  assert_int_equal(n, 4);
  assert_int_equal(p[1].at, 1000);
  assert_int_equal(p[1].amount[0], 5);
  assert_int_equal(p[2].at, 1010);
  assert_int_equal(p[2].amount[0], 8);
  assert_int_equal(p[3].at, 1012);
  amount[0] = 9;
  usage_add(u, 1008, amount, true); /* windows behind the end: what they did is of the last stretch */
  p = usage_points(u, &n);
  assert_int_equal(n, 3);
  assert_int_equal(p[2].at, 1008);
  assert_int_equal(p[2].amount[0], 9);
  usage_free(u);
}

static struct case_run *set_up(const char *file, const struct params *p, struct launch_case *lc)
{
  struct err e = {0};
  struct device_config config = device_config_for(p, true);
  if (!launchfile_read(lc, file, &e)) fail_msg("%s", e.msg);
  struct case_run *cr = case_setup(lc, &config, &e);
  if (!cr) fail_msg("%s", e.msg);
  return cr;
}

static void test_run(void **state)
{
  (void)state;
  struct err e = {0};
  struct params p;
  struct launch_case lc = {0};
  struct sim_result r;
  char dir[4096];
  unsigned n;
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &p, &e)) fail_msg("%s", e.msg);
  struct case_run *cr = set_up(WS_SOURCE_DIR "/kernels/scan/scan.launch", &p, &lc);
  struct simulator *s = simulator_new(&p);
  struct usage *u = usage_new();
  const struct sim_options o = {.timed = true, .threads = 2, .usage = u};
  for (unsigned again = 0; again < 2; again++) {
    if (!simulate(s, case_launch(cr), &o, &r, &e)) fail_msg("%s", e.msg);
    const struct usage_point *x = usage_points(u, &n);
    const uint64_t *end = x[n - 1].amount;
    assert_true(n > 10);
    assert_int_equal(x[n - 1].at, r.time_ps);
    assert_int_equal(end[USAGE_INSTS], r.warp_insts);
    assert_int_equal(end[USAGE_L1_BUSY], sim_counter(&r, "mem_busy"));
    assert_int_equal(end[USAGE_DRAM_BYTES], sim_counter(&r, "dram_read_bytes") + sim_counter(&r, "dram_write_bytes"));
    assert_int_equal(end[USAGE_L2_BYTES],
                     stat_sum(sim_counters(&r, "op_sectors", L2_OP__N), L2_OP__N) * SECTOR_BYTES);
    /* The dispatcher hears of a CTA's end a window or two later, and hands it out that much ahead; one that has stored keeps
     * its place for a while. */
    double warps = (double)sim_counter(&r, "warp_cycles");
    double late = (double)sim_counter(&r, "warps") * (4 * p.noc_request_latency + p.launch_cta_store_cycles);
    assert_true((double)end[USAGE_WARP_CYCLES] > warps - late && (double)end[USAGE_WARP_CYCLES] < warps + late);
  }
  simulator_free(s);
  usage_free(u);
  case_free(cr);
  launch_case_free(&lc);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points),
      cmocka_unit_test(test_skipped),
      cmocka_unit_test(test_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
