/* Costs that a what-if run leaves out (ideal.*), each on what is made of it alone. Expected cycles follow from issue slots, stall
 * counts, lanes and sectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time/gpu/occupancy.h"
#include "time/mem/dram.h"
#include "time/sm/coalescer.h"
#include "time/sm/ideal.h"
#include "time_rig.h"

enum { INSTS = 60, FOUR = 16 /* warps, four on each sub-core */ };

static struct inst ffma(unsigned stall)
{
  struct inst in = mock_alu(stall, false);
  in.pipe = PIPE_FMA;
  in.lat = LAT_FMA;
  return in;
}

/* Cycles in which a sub-core with four warps is between its first and its last FFMA. */
static uint64_t of_four_warps(struct rig *r, unsigned stall)
{
  struct mock *m = mock_new(INSTS, FOUR);
  uint64_t first = UINT64_MAX, last = 0;
  for (unsigned i = 0; i < INSTS; i++) mock_set(m, i, ffma(stall));
  rig_init(r);
  rig_run(r, m);
  for (unsigned w = 0; w < FOUR; w += 4)
    for (unsigned i = 8; i < INSTS; i++) { /* buffers are full, or as deep as they get, from the start */
      if (m->issued[w][i] < first) first = m->issued[w][i];
      if (m->issued[w][i] > last) last = m->issued[w][i];
    }
  free(m);
  rig_free(r);
  return last - first;
}

/* Two FP32 pipes of one instruction per cycle each: one slot feeds one, slots without end both. */
static void issue_slots(void **state)
{
  (void)state;
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.pipe_interval[PIPE_FMA] = r.params.pipe_interval[PIPE_ALU] = 1;
  uint64_t slots = of_four_warps(&r, 1);
  rig_params(&r, "rtx-3070");
  r.params.pipe_interval[PIPE_FMA] = r.params.pipe_interval[PIPE_ALU] = 1;
  r.params.ideal_issue = true;
  uint64_t ideal = of_four_warps(&r, 1);
  assert_in_range(slots, 4 * (INSTS - 8) - 1, 4 * INSTS);
  assert_in_range(ideal, 2 * (INSTS - 8) - 1, 2 * INSTS);
}

/* A lone warp with a stall count of 9 issues every ninth cycle, and without stall counts every second, for its pipe. */
static void stall_counts(void **state)
{
  (void)state;
  for (unsigned ideal = 0; ideal < 2; ideal++) {
    struct rig r;
    rig_params(&r, "rtx-3070");
    r.params.ideal_stalls = ideal;
    r.params.issue_fp32_on_alu = false;
    struct mock *m = mock_new(INSTS, 1);
    for (unsigned i = 0; i < INSTS; i++) mock_set(m, i, ffma(9));
    rig_init(&r);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][50] - m->issued[0][20], 30 * (ideal ? r.params.pipe_interval[PIPE_FMA] : 9));
    free(m);
    rig_free(&r);
  }
}

/* Of a path with n of 32 lanes, n of 32 instructions take their time; of one with all lanes each. */
static void divergence(void **state)
{
  (void)state;
  struct params p = {.ideal_divergence = true};
  struct arena a = {0};
  struct ideal *i = ideal_new(&a, &p);
  const struct inst arithmetic = ffma(1), memory = {.pipe = PIPE_MEM};
  static const lane_mask masks[] = {0x1, 0xff, 0xffff, 0x7fffffff};
  static const unsigned timed[] = {1, 8, 16, 31};
  for (unsigned k = 0; k < 4; k++) {
    struct step_warp step = {.paths = {.n = 2, .n_ready = 2}};
    struct warp_slot w = {.step = &step, .path = 0};
    step.paths.p[0].mask = masks[k];
    step.paths.p[1].mask = ~masks[k] & UINT32_MAX;
    unsigned n = 0;
    ideal_new_warp(i, 0);
    for (unsigned j = 0; j < 32; j++) n += !ideal_take(i, &w, 0, &arithmetic);
    assert_int_equal(n, timed[k]);
    assert_false(ideal_take(i, &w, 0, &memory));
  }
  struct step_warp whole = {.paths = {.n = 1, .n_ready = 1, .p = {{.mask = 0xff}}}};
  struct warp_slot w = {.step = &whole};
  for (unsigned j = 0; j < 32; j++) assert_false(ideal_take(i, &w, 0, &arithmetic));
  arena_free(&a);
}

static void local_memory(void **state)
{
  (void)state;
  struct params none = {0}, p = {.ideal_local = true};
  struct arena a = {0};
  struct step_warp step = {.paths = {.n = 1, .n_ready = 1, .p = {{.mask = UINT32_MAX}}}};
  const struct warp_slot w = {.step = &step};
  const struct inst ldl = {.pipe = PIPE_MEM, .mem.space = MEM_LOCAL}, ldg = {.pipe = PIPE_MEM, .mem.space = MEM_GLOBAL};
  assert_null(ideal_new(&a, &none));
  struct ideal *i = ideal_new(&a, &p);
  assert_true(ideal_is_free(i, &w, 0, &ldl));
  assert_false(ideal_is_free(i, &w, 0, &ldg));
  arena_free(&a);
}

/* 32 words in as many lines ask for 32 sectors; next to each other they are one line of four. */
static void coalescing(void **state)
{
  (void)state;
  static struct txn_access access;
  static struct txn_line lines[TXN_MAX_LINES];
  struct txn t = {.access = &access, .line = lines};
  access.mem = (struct mem_effect){.space = MEM_GLOBAL, .op = MEM_LOAD, .bytes = 4, .lanes = UINT32_MAX};
  for (unsigned i = 0; i < 32; i++) access.mem.addr[i] = 0x10000 + 256u * i;
  coalesce_global(&t, 32);
  assert_int_equal(t.n_lines, 32);
  assert_int_equal(coalescer_excess(&t), 32 - 4);
  assert_true(coalesce_ideal(&t));
  assert_int_equal(t.n_lines, 1);
  assert_int_equal(t.line[0].line, 0x10000 / LINE_BYTES);
  assert_int_equal(t.line[0].sectors, 0xf);
  assert_int_equal(coalescer_excess(&t), 0);
  access.mem.op = MEM_RED;
  coalesce_global(&t, 32);
  assert_int_equal(coalescer_excess(&t), 0);
  assert_false(coalesce_ideal(&t));
}

/* 48 KiB of shared memory let two CTAs of four warps on an SM of 48 warps; L1 stays what two leave of it. */
static void occupancy(void **state)
{
  (void)state;
  struct rig r;
  rig_params(&r, "rtx-3070");
  const struct step_source s = {.n_ctas = 100000, .warps_per_cta = 4, .lanes = 32, .regs_per_thread = 32, .shared_bytes = 48 << 10};
  struct occupancy is, ideal;
  assert_true(occupancy_of(&r.params, &s, &is, NULL));
  r.params.ideal_occupancy = true;
  assert_true(occupancy_of(&r.params, &s, &ideal, NULL));
  assert_int_equal(is.ctas, 2);
  assert_int_equal(ideal.ctas, 48 / 4);
  assert_int_equal(ideal.carveout, is.carveout);
  assert_int_equal(ideal.cta.registers + ideal.cta.shared, 0);
}

/* Reads of as many rows of one bank: each waits for the last one's row, or all are answered after one latency. */
static void dram_bandwidth(void **state)
{
  (void)state;
  enum { READS = 16, APART = 1 << 20 };
  picos took[2];
  for (unsigned ideal = 0; ideal < 2; ideal++) {
    struct rig r;
    struct dram c;
    struct dram_answer answer;
    unsigned n = 0;
    rig_params(&r, "rtx-3070");
    r.params.ideal_dram_bandwidth = ideal;
    dram_init(&c, &r.arena, &r.params, 64, 64, 16);
    for (unsigned i = 0; i < READS; i++) dram_request(&c, DRAM_READ, 0, (uint64_t)i * APART, i, 1, 0);
    while (n < READS) {
      took[ideal] = dram_next(&c);
      n += dram_step(&c, took[ideal], &answer);
    }
    assert_int_equal(c.stats.dram_read_bytes, READS * SECTOR_BYTES);
    arena_free(&r.arena);
    if (ideal) assert_int_equal(took[1], dram_core_latency(&r.params) + c.extra);
  }
  assert_true(took[0] > 2 * took[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(issue_slots), cmocka_unit_test(stall_counts), cmocka_unit_test(divergence),
      cmocka_unit_test(local_memory), cmocka_unit_test(coalescing),  cmocka_unit_test(occupancy),
      cmocka_unit_test(dram_bandwidth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
