/* What the counters of whole kernels say: instructions, requests, sectors, bank passes, DRAM bytes follow from grid, block and addresses
 * by hand. Kernels of the corpus, on cold caches, through the C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "warpstep/warpstep.h"

enum { WARP = 32, SECTOR = 32, LINE = 128 };

struct run {
  ws_device *d;
  ws_module *m;
  const ws_kernel *k;
  ws_result *r;
};

static void must(int status, const ws_error *e)
{
  if (status) fail_msg("status %d: %s", status, e->message);
}

static void run_begin(struct run *x, const char *name)
{
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  ws_error e = WS_ERROR_INIT;
  char path[4096];
  o.preset = "rtx-3070";
  must(ws_device_create(&o, &x->d, &e), &e);
  snprintf(path, sizeof path, WS_SOURCE_DIR "/kernels/%s/%s.sm_86.cubin", name, name);
  must(ws_module_load(x->d, path, &x->m, &e), &e);
  must(ws_module_kernel(x->m, name, &x->k, &e), &e);
}

static ws_address buffer(const struct run *x, uint64_t bytes)
{
  ws_error e = WS_ERROR_INIT;
  ws_address p = 0;
  must(ws_alloc(x->d, bytes, &p, &e), &e);
  return p;
}

static void run_launch(struct run *x, const uint32_t grid[3], const uint32_t block[3], void *const *arguments, int mode)
{
  struct ws_launch l = WS_LAUNCH_INIT;
  ws_error e = WS_ERROR_INIT;
  for (unsigned i = 0; i < 3; i++) l.grid[i] = grid[i], l.block[i] = block[i];
  l.arguments = arguments;
  l.mode = mode;
  must(ws_launch(x->k, &l, &x->r, &e), &e);
  assert_int_equal(ws_result_end(x->r), WS_ENDED);
}

static void run_end(struct run *x)
{
  ws_result_destroy(x->r);
  ws_module_unload(x->m);
  ws_device_destroy(x->d);
}

static uint64_t count(const struct run *x, const char *name)
{
  ws_error e = WS_ERROR_INIT;
  uint64_t v = 0;
  if (ws_result_counter(x->r, name, &v, &e)) fail_msg("%s: %s", name, e.message);
  return v;
}

struct want {
  const char *name;
  uint64_t value;
};

static void check(const struct run *x, const struct want *w, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (count(x, w[i].name) != w[i].value)
      fail_msg("%s: %llu, not %llu", w[i].name, (unsigned long long)count(x, w[i].name), (unsigned long long)w[i].value);
}
#define CHECK(x, w) check(x, w, sizeof(w) / sizeof(w)[0])

/* z = x + y: 64 CTAs of 8 warps; 509 warps have 32 elements, one has 12 (48 bytes, two sectors), two have none. Every sector is
 * touched once: no hit anywhere; what is written stays in L2. */
static void streams_of_single_words(void **state)
{
  enum { N = 16300, FULL = N / WARP, WARPS = 512, LAST_SECTORS = 2, SECTORS = FULL * LINE / SECTOR + LAST_SECTORS };
  const uint32_t grid[3] = {64, 1, 1}, block[3] = {256, 1, 1};
  struct run x, f;
  uint32_t n = N;
  (void)state;
  run_begin(&x, "vecadd");
  ws_address a = buffer(&x, 4 * N), b = buffer(&x, 4 * N), c = buffer(&x, 4 * N);
  void *const arguments[] = {&a, &b, &c, &n};
  run_launch(&x, grid, block, arguments, WS_TIMED);
  const struct want want[] = {
      {"sm.ctas", 64}, {"sm.warps", WARPS},
      {"sm.mem_class.global_ld", 2 * (FULL + 1)}, {"sm.mem_class.global_st", FULL + 1},
      {"sm.global_insts", 3 * (FULL + 1)}, {"sm.global_lines", 3 * (FULL + 1)},
      {"sm.class_sectors.global_ld", 2 * SECTORS}, {"sm.class_sectors.global_st", SECTORS},
      {"sm.class_hits.global_ld", 0}, {"sm.l1_read_sectors", 2 * SECTORS}, {"sm.l1_miss_sectors", 2 * SECTORS},
      {"sm.l1_hit_sectors", 0}, {"sm.l1_merge_sectors", 0}, {"sm.l1_write_sectors", SECTORS},
      {"sm.sent_sectors.read", 2 * SECTORS}, {"sm.sent_sectors.write", SECTORS}, {"sm.sent_sectors.atom", 0},
      {"sm.shared_insts", 0}, {"sm.shared_passes", 0}, {"sm.strong_insts", 0}, {"sm.texture_insts", 0},
      {"l2.op_sectors.read", 2 * SECTORS}, {"l2.op_sectors.write", SECTORS}, {"l2.op_misses.read", 2 * SECTORS},
      {"l2.l2_write_sectors", SECTORS}, {"l2.strong_requests", 0}, {"l2.l2_far_sectors", 0}, {"l2.l2_evicted_lines", 0},
      {"dram.dram_writes", 0}, {"dram.dram_write_bytes", 0},
  };
  CHECK(&x, want);
  /* code comes from DRAM, too: whole lines */
  uint64_t bytes = count(&x, "dram.dram_read_bytes") - 2 * SECTORS * SECTOR;
  assert_int_equal(bytes % LINE, 0);
  assert_int_equal(bytes / SECTOR, count(&x, "l2.op_misses.code"));
  /* a request each for line and direction; answers bring sectors, those to stores a flit of 32 bytes */
  uint64_t code = count(&x, "sm.l1i_code_lines"), prefetched = count(&x, "sm.code_prefetches");
  assert_int_equal(count(&x, "noc.noc_requests"), 3 * (FULL + 1) + code + prefetched);
  assert_int_equal(count(&x, "noc.noc_reply_bytes"),
                   (2 * SECTORS + FULL + 1) * SECTOR + code * LINE + prefetched * SECTOR);
  /* the same instructions as without time */
  run_begin(&f, "vecadd");
  ws_address fa = buffer(&f, 4 * N), fb = buffer(&f, 4 * N), fc = buffer(&f, 4 * N);
  void *const same[] = {&fa, &fb, &fc, &n};
  run_launch(&f, grid, block, same, WS_FUNCTIONAL);
  assert_int_equal(ws_result_instructions(f.r), ws_result_instructions(x.r));
  assert_int_equal(ws_result_thread_instructions(f.r), ws_result_thread_instructions(x.r));
  assert_int_equal(count(&x, "sm.warp_insts"), ws_result_instructions(f.r));
  assert_int_equal(count(&x, "sm.thread_insts"), ws_result_thread_instructions(f.r));
  run_end(&f);
  run_end(&x);
}

/* 16 bytes a thread: a warp's access covers four lines; 64 warps go round four times. */
static void streams_of_four_words(void **state)
{
  enum { WARPS = 64, TURNS = 4, LINES = WARPS * TURNS * 4, SECTORS = LINES * 4 };
  struct run x;
  uint32_t n = 8192;
  (void)state;
  run_begin(&x, "stream_copy");
  ws_address out = buffer(&x, 16 * 8192), in = buffer(&x, 16 * 8192);
  void *const arguments[] = {&out, &in, &n};
  run_launch(&x, (const uint32_t[]){16, 1, 1}, (const uint32_t[]){128, 1, 1}, arguments, WS_TIMED);
  const struct want want[] = {
      {"sm.warps", WARPS}, {"sm.mem_class.global_ld", WARPS * TURNS}, {"sm.mem_class.global_st", WARPS * TURNS},
      {"sm.global_lines", 2 * LINES}, {"sm.class_sectors.global_ld", SECTORS}, {"sm.class_sectors.global_st", SECTORS},
      {"sm.l1_miss_sectors", SECTORS}, {"l2.op_sectors.read", SECTORS}, {"l2.op_sectors.write", SECTORS},
      {"l2.op_requests.read", LINES}, {"l2.op_requests.write", LINES}, {"l2.op_misses.read", SECTORS},
  };
  CHECK(&x, want);
  run_end(&x);
}

/* A tile of 32 x 32 words, written by rows and read by columns: without padding all lanes of a load are in one bank, 32 passes
 * where one is the least. 48 warps make four of each access. */
static void bank_passes(void **state)
{
  enum { WARPS = 48, EACH = 4 * WARPS, W = 96, H = 64 };
  (void)state;
  for (unsigned padded = 0; padded < 2; padded++) {
    struct run x;
    int32_t w = W, h = H;
    run_begin(&x, padded ? "transpose_padded" : "transpose_naive");
    ws_address in = buffer(&x, 4 * W * H), out = buffer(&x, 4 * W * H);
    void *const arguments[] = {&in, &out, &w, &h};
    run_launch(&x, (const uint32_t[]){3, 2, 1}, (const uint32_t[]){32, 8, 1}, arguments, WS_TIMED);
    const unsigned passes = padded ? 1 : 32;
    const struct want want[] = {
        {"sm.warps", WARPS}, {"sm.shared_insts", 2 * EACH}, {"sm.shared_passes", EACH + EACH * passes},
        {"sm.shared_conflicts", EACH * (passes - 1)}, {"sm.mem_class.shared_ld", EACH}, {"sm.mem_class.shared_st", EACH},
        {"sm.class_passes.shared_ld", EACH * passes}, {"sm.class_passes.shared_st", EACH},
        {"sm.class_conflicts.shared_ld", EACH * (passes - 1)}, {"sm.class_conflicts.shared_st", 0},
        {"sm.mem_class.global_ld", EACH}, {"sm.class_sectors.global_ld", 4 * EACH}, {"sm.class_sectors.global_st", 4 * EACH},
    };
    CHECK(&x, want);
    run_end(&x);
  }
}

/* A second launch of the same kernel finds its data in L2, and in L1 nothing: that is emptied between launches. */
static void a_warm_launch(void **state)
{
  enum { N = 4096, SECTORS = N * 4 / SECTOR };
  struct run x;
  uint32_t n = N;
  (void)state;
  run_begin(&x, "vecadd");
  ws_address a = buffer(&x, 4 * N), b = buffer(&x, 4 * N), c = buffer(&x, 4 * N);
  void *const arguments[] = {&a, &b, &c, &n};
  run_launch(&x, (const uint32_t[]){16, 1, 1}, (const uint32_t[]){256, 1, 1}, arguments, WS_TIMED);
  uint64_t cold = ws_result_cycles(x.r);
  ws_result_destroy(x.r);
  run_launch(&x, (const uint32_t[]){16, 1, 1}, (const uint32_t[]){256, 1, 1}, arguments, WS_TIMED);
  const struct want want[] = {{"sm.l1_miss_sectors", 2 * SECTORS}, {"l2.op_sectors.read", 2 * SECTORS},
                              {"l2.op_misses.read", 0}, {"l2.op_misses.code", 0}, {"dram.dram_read_bytes", 0}};
  CHECK(&x, want);
  assert_true(ws_result_cycles(x.r) < cold);
  run_end(&x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_of_single_words),
      cmocka_unit_test(streams_of_four_words),
      cmocka_unit_test(bank_passes),
      cmocka_unit_test(a_warm_launch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
