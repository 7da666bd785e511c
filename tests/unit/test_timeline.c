/* Timeline of a host program: the ordering rules of streams (CUDA programming guide, "Default Stream",
 * "Overlapping Behavior"), and durations by their formulas. */
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

/* Issues an operation of `ps`; its end. */
static uint64_t issue(struct timeline *t, struct stream_clock *s, enum timeline_engine e, uint64_t ps)
{
  uint64_t end = timeline_start(t, s, e) + ps;
  timeline_finish(t, s, e, end);
  return end;
}

/* Launches a kernel of so many CTAs; its end. */
static uint64_t launch(struct timeline *t, struct stream_clock *s, uint64_t ctas, uint64_t ps)
{
  uint64_t end = timeline_start_kernel(t, s, ctas) + ps;
  timeline_finish_kernel(t, s, ctas, end);
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

static void test_streams_overlap(void **state)
{
  (void)state;
  struct timeline t;
  struct stream_clock a = {0}, b = {0};
  timeline_init(&t, &params);
  assert_int_equal(issue(&t, &a, TIMELINE_TO_DEVICE, 100), 100);
  assert_int_equal(issue(&t, &b, TIMELINE_TO_DEVICE, 100), 200); /* one engine for each direction */
  assert_int_equal(launch(&t, &a, 99, 300), 400);                /* behind its own copy */
  assert_int_equal(launch(&t, &b, 99, 300), 700);                /* full kernels one after the other */
  assert_int_equal(issue(&t, &a, TIMELINE_TO_HOST, 50), 450);    /* beside b's kernel */
  assert_int_equal(timeline_stream_ready(&t, &b), 700);
  assert_int_equal(t.all_done, 700);
  timeline_wait(&t, 1000);
  assert_int_equal(launch(&t, &a, 99, 1), 1001); /* not before it is issued */
}

/* Ten SMs. */
static void test_kernels_overlap(void **state)
{
  (void)state;
  struct timeline t;
  struct stream_clock s[140] = {{0}}, *a = &s[0], *b = &s[1], *c = &s[2];
  timeline_init(&t, &params);
  assert_int_equal(launch(&t, a, 4, 100), 100);
  assert_int_equal(launch(&t, b, 6, 300), 300);  /* beside a's */
  assert_int_equal(launch(&t, c, 1, 50), 150);   /* no SM is free before a's ends */
  assert_int_equal(launch(&t, a, 3, 100), 200);  /* beside b's and c's: 10 SMs */
  assert_int_equal(launch(&t, c, 10, 10), 310);  /* needs all */
  assert_int_equal(launch(&t, a, 4, 10), 320);   /* not before those issued: c's will need all */
  /* more than a device holds at once: the 129th waits for the first to end */
  timeline_init(&t, &(struct params){ .gpu_sms = 1000 });
  struct stream_clock *idle = &s[3];
  for (unsigned i = 0; i < TIMELINE_MAX_KERNELS; i++)
    assert_int_equal(launch(&t, idle++, 1, 1000 + i), 1000 + i);
  assert_int_equal(launch(&t, idle++, 1, 5), 1005);
  assert_int_equal(launch(&t, idle++, 1, 5), 1006);
}

static void test_legacy_stream(void **state)
{
  (void)state;
  struct timeline t;
  struct stream_clock legacy = {.legacy = true}, a = {0}, free_running = {.non_blocking = true};
  timeline_init(&t, &params);
  launch(&t, &a, 99, 500);
  assert_int_equal(issue(&t, &legacy, TIMELINE_TO_HOST, 10), 510); /* waits for a */
  assert_int_equal(issue(&t, &a, TIMELINE_TO_DEVICE, 10), 520);    /* waits for the legacy stream */
  assert_int_equal(issue(&t, &free_running, TIMELINE_NONE, 10), 10);
  issue(&t, &free_running, TIMELINE_NONE, 9990);
  assert_int_equal(issue(&t, &legacy, TIMELINE_NONE, 0), 520);
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
    cmocka_unit_test(test_host), cmocka_unit_test(test_streams_overlap),
    cmocka_unit_test(test_kernels_overlap),
    cmocka_unit_test(test_legacy_stream), cmocka_unit_test(test_durations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
