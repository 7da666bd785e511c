/* Runs without time on several host threads: which kernels may, and that they compute the same. Expected: read off
 * the kernels' sources, sums by formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/host_memory.h"
#include "few_threads.h"
#include "func/sass/independent.h"
#include "host/launch.h"

enum { THREADS = 256, SLOTS = 64 };

struct box {
  struct device device;
  struct device_code code;
  struct launch launch;
};

static void open_kernel(struct box *b, const char *name)
{
  struct err e = {""};
  char path[512];
  struct device_config config = device_config_default(86);
  config.slots_per_worker = SLOTS;
  snprintf(path, sizeof path, WS_SOURCE_DIR "/kernels/%s/%s.sm_86.cubin", name, name);
  if (!device_init(&b->device, &config, &e) || !device_load(&b->device, path, name, &b->code, &e))
    fail_msg("%s: %s", name, e.msg);
}

static void launch(struct box *b, const char *name, uint32_t ctas, const void *args)
{
  struct err e = {""};
  struct launch_desc desc = { .code = b->code.instance, .grid = {ctas, 1, 1}, .block = {THREADS, 1, 1},
                              .kernel = module_kernel(b->code.module, name, &e), .params = args };
  desc.param_bytes = desc.kernel->param_bytes;
  if (!launch_init(&b->launch, &b->device, &desc, &e)) fail_msg("%s: %s", name, e.msg);
}

static void close_kernel(struct box *b)
{
  launch_free(&b->launch);
  device_unload(&b->code);
  device_free(&b->device);
}

static void test_which(void **state)
{
  static const struct {
    const char *name;
    bool independent;
  } kernel[] = {
    {"vecadd", true}, {"sgemm_tiled", true}, {"mma_f16", true}, {"hist_shared", true},
    {"hist_global", true},       /* integer additions whose results are not used */
    {"red_then_load", false},    /* additions, maxima and exclusive-ors */
    {"atomics", false}, {"spin_lock_inside", false}, {"grid_barrier", false}, {"memory_order", false},
    {"printf_demo", false}, {"device_list", false}, /* malloc */
    {"nanosleep_clock", false},  /* reads the clock */
    {"func_ptr", false},         /* calls by pointer */
  };
  static const uint8_t no_args[4096];
  (void)state;
  for (unsigned i = 0; i < sizeof kernel / sizeof kernel[0]; i++) {
    struct box b;
    open_kernel(&b, kernel[i].name);
    launch(&b, kernel[i].name, 1, no_args);
    if (func_ctas_independent(b.launch.func) != kernel[i].independent)
      fail_msg("%s: independent: %d", kernel[i].name, !kernel[i].independent);
    close_kernel(&b);
  }
}

/* In as many CTAs as keep helpers busy. */
static struct func_stats run(struct box *b, unsigned threads)
{
  struct func_stats stats = {0};
  struct fault f = {0};
  struct run_watch w = { .threads = threads };
  if (func_run_watched(b->launch.func, &w, &stats, &f) != RUN_DONE) fail_msg("%s", f.text);
  return stats;
}

static void test_sums(void **state)
{
  enum { CTAS = 4000, N = CTAS * THREADS - 5 };
  uint64_t insts = 0, lanes = 0;
  (void)state;
  for (unsigned threads = 1; threads <= 5; threads += 2) {
    struct box b;
    open_kernel(&b, "vecadd");
    struct { uint64_t x, y, z; uint32_t n; } args = { .n = N };
    args.x = gmem_alloc(b.device.mem, N * 4, "x");
    args.y = gmem_alloc(b.device.mem, N * 4, "y");
    args.z = gmem_alloc(b.device.mem, N * 4, "z");
    for (uint32_t i = 0; i < N; i++) {
      float x = (float)i, y = (float)(2 * i);
      gmem_write(b.device.mem, args.x + 4 * i, &x, 4);
      gmem_write(b.device.mem, args.y + 4 * i, &y, 4);
    }
    launch(&b, "vecadd", CTAS, &args);
    struct func_stats s = run(&b, threads);
    if (threads == 1) insts = s.warp_insts, lanes = s.thread_insts;
    assert_int_equal(s.warp_insts, insts);
    assert_int_equal(s.thread_insts, lanes);
    for (uint32_t i = 0; i < N; i++) {
      float z;
      gmem_read(b.device.mem, args.z + 4 * i, &z, 4);
      if (z != (float)i + (float)(2 * i)) fail_msg("%u threads: z[%u] = %g", threads, i, (double)z);
    }
    close_kernel(&b);
  }
}

static void test_histogram(void **state)
{
  enum { CTAS = 64, BINS = 64, N = CTAS * THREADS * 40 };
  (void)state;
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    struct box b;
    open_kernel(&b, "hist_global");
    struct { uint64_t data, hist; uint32_t n; } args = { .n = N };
    args.data = gmem_alloc(b.device.mem, N * 4, "data");
    args.hist = gmem_alloc(b.device.mem, BINS * 4, "hist");
    for (uint32_t i = 0; i < N; i++) gmem_write(b.device.mem, args.data + 4 * i, &i, 4);
    launch(&b, "hist_global", CTAS, &args);
    run(&b, threads);
    for (uint32_t i = 0; i < BINS; i++) {
      uint32_t v;
      gmem_read(b.device.mem, args.hist + 4 * i, &v, 4);
      assert_int_equal(v, N / BINS);
    }
    close_kernel(&b);
  }
}

/* On a host that has none, one or two more threads, in the middle of the run: the same results. */
static void test_few_threads(void **state)
{
  enum { CTAS = 64, BINS = 64, N = CTAS * THREADS * 40 };
  (void)state;
  for (unsigned n = 0; n < 3; n++) {
    struct box b;
    open_kernel(&b, "hist_global");
    struct { uint64_t data, hist; uint32_t n; } args = { .n = N };
    args.data = gmem_alloc(b.device.mem, N * 4, "data");
    args.hist = gmem_alloc(b.device.mem, BINS * 4, "hist");
    for (uint32_t i = 0; i < N; i++) gmem_write(b.device.mem, args.data + 4 * i, &i, 4);
    launch(&b, "hist_global", CTAS, &args);
    struct few_threads old = few_threads_begin(n);
    run(&b, 8);
    few_threads_end(&old);
    for (uint32_t i = 0; i < BINS; i++) {
      uint32_t v;
      gmem_read(b.device.mem, args.hist + 4 * i, &v, 4);
      assert_int_equal(v, N / BINS);
    }
    close_kernel(&b);
  }
}

/* All CTAs behind the 100th lack memory: that one is named, whatever thread came first. */
static void test_fault(void **state)
{
  enum { CTAS = 2000, GOOD = 1024 };
  (void)state;
  for (unsigned threads = 1; threads <= 4; threads++) {
    struct box b;
    open_kernel(&b, "vecadd");
    struct { uint64_t x, y, z; uint32_t n; } args = { .n = CTAS * THREADS };
    args.x = args.y = gmem_alloc(b.device.mem, CTAS * THREADS * 4, "x");
    args.z = gmem_alloc(b.device.mem, GOOD * THREADS * 4, "z");
    launch(&b, "vecadd", CTAS, &args);
    struct func_stats stats = {0};
    struct fault f = {0};
    struct run_watch w = { .threads = threads };
    assert_int_equal(func_run_watched(b.launch.func, &w, &stats, &f), RUN_FAULT);
    assert_int_equal(f.kind, FAULT_ILLEGAL_ADDRESS);
    uint64_t end = (args.z + GOOD * THREADS * 4 + 0xffff) & ~(uint64_t)0xffff; /* the page is mapped to its end */
    assert_int_equal(f.addr, end);
    assert_int_equal(f.cta[0], (end - args.z) / 4 / THREADS);
    close_kernel(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_which),
    cmocka_unit_test(test_sums),
    cmocka_unit_test(test_histogram),
    cmocka_unit_test(test_few_threads),
    cmocka_unit_test(test_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
