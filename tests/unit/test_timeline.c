/* The host's clock, kernels that are simulated alone beside each other, and durations by their formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/timeline.h"

static const struct params params = {
  .host_api_ns = 100, .host_launch_ns = 2000, .pcie_latency_ns = 1000, .pcie_h2d_mbps = 20000,
  .pcie_d2h_mbps = 10000, .pcie_pageable_permille = 500, .gpu_clock_khz = 1000000,
  .launch_latency_cycles = 500, .dram_bus_bits = 256, .dram_pin_mbps = 14000,
  .dram_efficiency_permille = 900, .gpu_sms = 10,
};

/* Launches a kernel of so many CTAs that could start at `at`; its end. */
static uint64_t launch(struct timeline *t, uint64_t at, uint64_t ctas, uint64_t ps)
{
  uint64_t end = timeline_kernel_start(t, at, ctas) + ps;
  timeline_kernel_end(t, ctas, end);
  return end;
}

static void test_host(void **state)
{
  (void)state;
  struct timeline t;
  timeline_init(&t, &params);
  timeline_call(&t);
  assert_int_equal(t.now, 100000);
  timeline_launch_call(&t);
  assert_int_equal(t.now, 2100000);
  timeline_wait(&t, 5000000);
  timeline_wait(&t, 1000000); /* in the past */
  assert_int_equal(t.now, 5000000);
}

/* Ten SMs. */
static void test_kernels_overlap(void **state)
{
  (void)state;
  struct timeline t;
  timeline_init(&t, &params);
  assert_int_equal(launch(&t, 0, 4, 100), 100);
  assert_int_equal(launch(&t, 0, 6, 300), 300);    /* beside the first */
  assert_int_equal(launch(&t, 0, 1, 50), 150);     /* no SM is free before that ends */
  assert_int_equal(launch(&t, 100, 3, 100), 200);  /* beside the second and third: 10 SMs */
  assert_int_equal(launch(&t, 150, 10, 10), 310);  /* needs all */
  assert_int_equal(launch(&t, 200, 4, 10), 320);   /* not before those given: the last will need all */
  assert_int_equal(launch(&t, 400, 99, 10), 410);  /* more than there are: all */
  assert_int_equal(launch(&t, 1000, 99, 1), 1001); /* not before it could start */
  /* more than a device holds at once: the 129th waits for the first to end */
  timeline_init(&t, &(struct params){ .gpu_sms = 1000 });
  for (unsigned i = 0; i < TIMELINE_MAX_KERNELS; i++)
    assert_int_equal(launch(&t, 0, 1, 1000 + i), 1000 + i);
  assert_int_equal(launch(&t, 0, 1, 5), 1005);
  assert_int_equal(launch(&t, 0, 1, 5), 1006);
}

static void test_durations(void **state)
{
  (void)state;
  struct timeline t;
  timeline_init(&t, &params);
  /* latency + bytes / rate: 20 MB at 20 GB/s is 1 ms */
  assert_int_equal(timeline_copy_ps(&t, TIMELINE_TO_DEVICE, 20000000, false), 1000000 + 1000000000);
  assert_int_equal(timeline_copy_ps(&t, TIMELINE_TO_HOST, 20000000, false), 1000000 + 2000000000);
  assert_int_equal(timeline_copy_ps(&t, TIMELINE_TO_DEVICE, 20000000, true), 1000000 + 2000000000);
  /* 256 bit x 14 Gb/s x 0.9 = 403.2 GB/s behind 500 cycles at 1 GHz */
  assert_int_equal(timeline_device_ps(&t, 403200), 500000 + 1000000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_host), cmocka_unit_test(test_kernels_overlap), cmocka_unit_test(test_durations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
