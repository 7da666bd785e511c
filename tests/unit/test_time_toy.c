/* The engine runs an instruction set that it has never heard of (toy_isa.h): values from C references, with and without
 * time; cycles from formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "func/run_source.h"
#include "gpu_rig.h"
#include "time/gpu/netlist.h"
#include "time_rig.h"
#include "toy_isa.h"

enum { LINE = 128, PAGE_BITS = 21, FLAG = 1 /* any place of a register that nobody reads */ };

/* With warm caches of code. Counters into *stats, when it is not NULL. */
static void run_timed(struct toy *t, struct gmem *image, unsigned threads, struct netlist_stats *stats)
{
  struct rig preset;
  rig_params(&preset, "rtx-3070");
  preset.params.const_perfect = false;
  struct gpu_rig r = gpu_rig_new(&preset.params, threads);
  gpu_rig_run(&r, &(struct gpu_launch){.source = &t->source}, 1, image);
  if (stats) gpu_counters(r.gpu, stats);
  gpu_rig_free(&r);
}

/* Runs the program on input words i -> value(i), with time and without, and compares all of the output with want(i). */
static void check(struct toy *t, unsigned n_in, unsigned n_out, uint32_t (*value)(unsigned), uint32_t (*want)(unsigned))
{
  struct fault f = {0};
  toy_build(t);
  for (unsigned way = 0; way < 3; way++) {
    struct gmem *image = gmem_new(PAGE_BITS);
    uint64_t in = gmem_alloc(image, n_in * 4 + 4, "in"), out = gmem_alloc(image, n_out * 4, "out");
    for (uint32_t i = 0, v; i < n_in; i++) v = value(i), assert_true(gmem_write(image, in + 4 * i, &v, 4));
    t->args[0] = in, t->args[1] = out;
    if (way) run_timed(t, image, way, NULL);
    else assert_int_equal(run_source(&t->source, image, &gpu_rig_watch, &(struct func_stats){0}, &f), RUN_DONE);
    for (uint32_t i = 0, v; i < n_out; i++) {
      assert_true(gmem_read(image, out + 4 * i, &v, 4));
      if (v != want(i)) fail_msg("way %u: word %u is %u, not %u", way, i, v, want(i));
    }
    gmem_free(image);
  }
  free(t);
}

static uint32_t scrambled(unsigned i)
{
  return i * 2654435761u ^ i >> 3;
}

enum { CTAS = 12, WARPS = 3, THREADS = CTAS * WARPS * TOY_LANES, ROUNDS = 7 };

static uint32_t both(unsigned i)
{
  return scrambled(i) + scrambled(i + THREADS);
}

static void adds_vectors(void **state)
{
  (void)state;
  struct toy *t = toy_new(CTAS, WARPS);
  toy(t, V_THREAD, 0, 0, 0, 0);
  toy_lit(t, V_LOAD, 1, 0, 0, 0);
  toy_lit(t, V_LOAD, 2, 0, 0, 4 * THREADS);
  toy(t, S_WAIT, 0, 0, TOY_ANY, TOY_ANY);
  toy(t, V_ADD, 3, 1, 2, 0);
  toy_lit(t, V_STORE, 3, 1, 0, 0);
  check(t, 2 * THREADS, THREADS, scrambled, both);
}

/* Each thread sums one word of each of ROUNDS blocks; the number of rounds lies behind them. */
static uint32_t blocks_and_rounds(unsigned i)
{
  return i < ROUNDS * THREADS ? scrambled(i) : ROUNDS;
}

static uint32_t sum_of_blocks(unsigned i)
{
  uint32_t sum = 0;
  for (unsigned k = 0; k < ROUNDS; k++) sum += scrambled(i + k * THREADS);
  return sum;
}

static void sums_in_a_scalar_loop(void **state)
{
  (void)state;
  struct toy *t = toy_new(CTAS, WARPS);
  toy_lit(t, S_LOAD, 8, 0, 0, 4 * ROUNDS * THREADS);
  toy_lit(t, S_SET, 9, 0, 0, 0);
  toy_lit(t, S_SET, 10, 0, 0, 1);
  toy_lit(t, S_SET, 11, 0, 0, 4 * THREADS);
  toy(t, V_THREAD, 0, 0, 0, 0);
  toy_lit(t, V_SET, 2, 0, 0, 0);
  toy(t, S_WAIT, 0, TOY_ANY, TOY_ANY, 0);
  unsigned loop = toy_lit(t, V_LOAD, 1, 0, 0, 0);
  toy(t, S_ADD, 0, 0, 11, 0);
  toy(t, S_ADD, 9, 9, 10, 0);
  toy(t, S_LESS, FLAG, 9, 8, 0); /* S1 keeps its value: S_LESS writes the flag alone */
  toy(t, S_WAIT, 0, 0, TOY_ANY, TOY_ANY);
  toy(t, V_ADD, 2, 2, 1, 0);
  toy_branch(t, loop);
  toy_lit(t, V_STORE, 2, 1, 0, 0);
  check(t, ROUNDS * THREADS + 1, THREADS, blocks_and_rounds, sum_of_blocks);
}

enum { BORDER = 777 };

static uint32_t by_side(unsigned i)
{
  return i < BORDER ? 5 * i : i;
}

/* Lanes below a border take part in what stands between V_MASK and V_UNMASK; the border goes through a warp. */
static void diverges_by_mask(void **state)
{
  (void)state;
  struct toy *t = toy_new(CTAS, WARPS);
  toy(t, V_THREAD, 0, 0, 0, 0);
  toy(t, V_THREAD, 1, 0, 0, 0);
  toy_lit(t, V_SET, 2, 0, 0, BORDER);
  toy(t, V_MASK, 3, 0, 2, 0);
  toy_lit(t, V_SCALE, 1, 0, 0, 5);
  toy(t, V_UNMASK, 3, 0, 0, 0);
  toy_lit(t, V_STORE, 1, 1, 0, 0);
  check(t, 0, THREADS, scrambled, by_side);
}

enum { IN_ORDER = 1 << TOY_LOADS, FAR = 1 << 16, NO_WAIT = 64, L1_HIT = 20, L2_HIT = 200 /* cycles, at least */ };

/* A program of one warp, which has no more than S0: 128 KiB of zeros. */
static struct netlist_stats run_alone(struct toy *t)
{
  struct gmem *image = gmem_new(PAGE_BITS);
  struct netlist_stats s;
  t->args[0] = gmem_alloc(image, 2 * FAR, "in");
  toy_build(t);
  run_timed(t, image, 1, &s);
  gmem_free(image);
  return s;
}

/* The warp brings one line into L1, then loads from far away and from that line, and waits until of `loads` at most so
 * many are on their way. Cycles from the last load to the instruction behind the wait. */
static uint64_t waited(unsigned loads, unsigned at_most, uint8_t in_order)
{
  enum { FIRST = 3 };
  struct toy *t = toy_new(1, 1);
  t->source.in_order = in_order;
  toy(t, V_THREAD, 0, 0, 0, 0);
  toy_lit(t, V_LOAD, 1, 0, 0, 0);
  toy(t, S_WAIT, 0, 0, TOY_ANY, TOY_ANY);
  if (loads > 1) toy_lit(t, V_LOAD, 2, 0, 0, FAR);
  toy_lit(t, V_LOAD, 3, 0, 0, 0);
  if (at_most != NO_WAIT) toy(t, S_WAIT, 0, at_most, TOY_ANY, TOY_ANY);
  toy(t, V_ADD, 4, 3, 3, 0);
  run_alone(t);
  uint64_t cycles = t->issued[FIRST + loads + (at_most != NO_WAIT)] - t->issued[FIRST + loads - 1];
  free(t);
  return cycles;
}

static void waits_gate(void **state)
{
  (void)state;
  uint64_t hit = waited(1, 0, IN_ORDER), both_done = waited(2, 0, IN_ORDER);
  assert_int_equal(waited(1, NO_WAIT, IN_ORDER), 2); /* nothing stops it: the stall count of the load */
  assert_true(hit > L1_HIT);
  assert_int_equal(waited(1, 1, IN_ORDER), 3); /* the wait's own issue, and no more */
  assert_int_equal(waited(2, 2, IN_ORDER), 3);
  assert_true(both_done > L2_HIT); /* from DRAM */
  assert_int_equal(waited(2, 0, 0), both_done);
}

/* The far load is the older one: only where counters count down in order is it the one that "at most 1" waits for. */
static void counters_count_down_in_order(void **state)
{
  (void)state;
  uint64_t both_done = waited(2, 0, IN_ORDER);
  assert_int_equal(waited(2, 1, IN_ORDER), both_done);
  assert_true(waited(2, 1, 0) < both_done / 2);
}

struct fetched {
  uint64_t cycles /* from the first issue to the last */, lines, fetches;
};

/* One warp runs straight through the program on one SM, for which L2 has all code; no line is prefetched. */
static struct fetched straight(struct toy *t)
{
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.icache_perfect = false;
  r.params.l0i_stream_lines = 0;
  rig_init(&r);
  toy_build(t);
  rig_run_source(&r, &t->source);
  struct fetched f = {t->issued[t->n_insts - 1] - t->issued[0], r.sm->stats.l1i_code_lines, r.sm->stats.l0i_fetches};
  assert_int_equal(r.sm->stats.warp_insts, t->n_insts);
  rig_free(&r);
  free(t);
  return f;
}

static struct toy *no_ops(enum toy_op op, unsigned n)
{
  struct toy *t = toy_new(1, 1);
  for (unsigned i = 0; i < n; i++)
    if (op < TOY_LITERAL)
      toy(t, op, 0, 0, 0, 0);
    else
      toy_lit(t, op, 0, 0, 0, 0);
  return t;
}

/* As many instructions in half the bytes take half the lines. Each line but the first costs the same wait, which all else
 * is equal to: cycles = instructions + lines * wait. */
static void code_is_bytes(void **state)
{
  (void)state;
  enum { N = 128, SHORT_LINES = N * 4 / LINE, LONG_LINES = N * 8 / LINE };
  struct fetched narrow = straight(no_ops(NOP, N)), wide = straight(no_ops(NOP_LONG, N));
  struct fetched twice = straight(no_ops(NOP, 2 * N));
  assert_int_equal(narrow.lines, SHORT_LINES + 1); /* the end lies behind them */
  assert_int_equal(wide.lines, LONG_LINES + 1);
  assert_int_equal(twice.lines, wide.lines);
  assert_int_equal(twice.cycles - wide.cycles, N);
  uint64_t wait = (wide.cycles - N) / LONG_LINES;
  assert_int_equal(wide.cycles, N + LONG_LINES * wait);
  assert_int_equal(narrow.cycles, N + SHORT_LINES * wait);
}

/* Behind one short instruction, and not behind two, every sixteenth long one lies in two lines and is fetched twice. */
static void instructions_across_lines(void **state)
{
  (void)state;
  enum { N = 64, LONG_PER_LINE = LINE / 8 };
  struct fetched behind[2];
  for (unsigned k = 0; k < 2; k++) {
    struct toy *t = no_ops(NOP, 1 + k);
    for (unsigned i = 0; i < N; i++) toy_lit(t, NOP_LONG, 0, 0, 0, 0);
    behind[k] = straight(t);
    assert_int_equal(behind[k].lines, N / LONG_PER_LINE + 1);
  }
  assert_int_equal(behind[0].fetches + 1, behind[1].fetches + N / LONG_PER_LINE);
}

/* Three instructions beside a slot: fetched as four words, issued as three. */
static void control_slots_are_fetched_only(void **state)
{
  (void)state;
  enum { BUNDLES = 64 };
  struct toy *t = toy_new(1, 1);
  for (unsigned i = 0; i < BUNDLES; i++) {
    for (unsigned k = 0; k < 3; k++) toy(t, NOP, 0, 0, 0, 0);
    toy(t, SLOT, 0, 0, 0, 0);
  }
  struct fetched with = straight(t), without = straight(no_ops(NOP, 3 * BUNDLES));
  assert_int_equal(with.fetches, without.fetches);
  assert_int_equal(with.lines, 4 * BUNDLES * TOY_WORD / LINE + 1);
  assert_int_equal(without.lines, 3 * BUNDLES * TOY_WORD / LINE + 1);
  assert_int_equal((with.cycles - 3 * BUNDLES) * (without.lines - 1), (without.cycles - 3 * BUNDLES) * (with.lines - 1));
}

/* 64 lanes with 4 bytes each are 256 bytes, two lines, and count as 64 lanes. Scalar loads do not go to L1. */
static void warps_are_64_lanes(void **state)
{
  (void)state;
  struct toy *t = toy_new(1, 1);
  toy(t, V_THREAD, 0, 0, 0, 0);
  toy_lit(t, V_LOAD, 1, 0, 0, 0);
  for (unsigned i = 0; i < 2; i++) toy_lit(t, S_LOAD, 8, 0, 0, FAR);
  struct netlist_stats s = run_alone(t);
  assert_int_equal(s.sm.const_misses, 1);
  assert_int_equal(s.sm.global_lines, 4 * TOY_LANES / LINE);
  assert_int_equal(s.sm.l1_read_sectors, 4 * TOY_LANES / 32);
  assert_int_equal(s.sm.thread_insts, 5 * TOY_LANES);
  free(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adds_vectors),       cmocka_unit_test(sums_in_a_scalar_loop),
      cmocka_unit_test(diverges_by_mask),   cmocka_unit_test(waits_gate),
      cmocka_unit_test(code_is_bytes),      cmocka_unit_test(counters_count_down_in_order),
      cmocka_unit_test(warps_are_64_lanes), cmocka_unit_test(instructions_across_lines),
      cmocka_unit_test(control_slots_are_fetched_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
