/* Scoreboards in the place of control bits (Huerta et al., MICRO 2025, section 7.5): exact cycles from
 * the published latencies (FP32 4 cycles, Table 2 for memory) and the pipeline of section 5.1: issue,
 * Control, Allocate, three read cycles, so that the sources of a fixed-latency instruction have been
 * read six cycles after its issue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

enum { FP32_LATENCY = 4, SOURCES_READ = 6, ANY_NUMBER = 0 };

/* No stall, no counter, no wait: code without control information would look like this. */
static struct inst nop(void)
{
  return mock_alu(1, false);
}

static struct inst fp32(unsigned dst, unsigned src)
{
  struct inst in = nop();
  in.pipe = PIPE_FMA;
  in.lat = LAT_FMA;
  in.n_dst = in.n_src = 1;
  in.dst[0] = (struct operand){.file = FILE_R, .index = (uint8_t)dst, .width = 1};
  in.src[0] = (struct operand){.file = FILE_R, .index = (uint8_t)src, .width = 1};
  return in;
}

static struct inst shared_load(unsigned dst, unsigned width, unsigned address)
{
  struct inst in = nop();
  in.pipe = PIPE_MEM;
  in.mem = (struct inst_mem){
      .space = MEM_SHARED, .op = MEM_LOAD, .bytes = (uint8_t)(4 * width), .addr = ADDR_REGULAR};
  in.n_dst = in.n_src = 1;
  in.dst[0] = (struct operand){.file = FILE_R, .index = (uint8_t)dst, .width = (uint8_t)width};
  in.src[0] = (struct operand){.file = FILE_R, .index = (uint8_t)address, .width = 1};
  return in;
}

struct setup {
  uint32_t dependence;
  bool war;
  uint32_t consumers;
};

static const struct setup board = {DEPENDENCE_SCOREBOARD, true, 63};

/* Issue cycles of `n` instructions of one warp, from the first one on. */
static void issue_cycles(struct setup s, uint32_t caps, const struct inst *in, unsigned n,
                         uint64_t at[])
{
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.issue_dependence = s.dependence;
  r.params.scoreboard_war = s.war;
  r.params.scoreboard_consumers = s.consumers;
  rig_init(&r);
  struct mock *m = mock_new(n, 1);
  m->source.caps = caps;
  for (unsigned i = 0; i < n; i++) mock_set(m, i, in[i]);
  rig_run(&r, m);
  for (unsigned i = 0; i < n; i++) at[i] = m->issued[0][i] - m->issued[0][0];
  free(m);
  rig_free(&r);
}

static uint64_t distance(struct setup s, struct inst first, struct inst second)
{
  const struct inst in[] = {first, second};
  uint64_t at[2];
  issue_cycles(s, 0, in, 2, at);
  return at[1];
}

static void fixed_latency_pairs(void **state)
{
  (void)state;
  assert_int_equal(distance(board, fp32(1, 10), fp32(2, 1)), FP32_LATENCY);  /* RAW */
  assert_int_equal(distance(board, fp32(1, 10), fp32(1, 11)), FP32_LATENCY); /* WAW */
  assert_int_equal(distance(board, fp32(1, 10), fp32(10, 11)), SOURCES_READ); /* WAR */
  assert_int_equal(distance(board, fp32(1, 10), fp32(2, 11)), 1);            /* nothing shared */
  assert_int_equal(distance(board, fp32(1, 10), fp32(2, 10)), 1);            /* two readers */
  assert_int_equal(distance(board, fp32(1, 255), fp32(2, 255)), 1);          /* RZ is no register */
  struct setup no_war = {DEPENDENCE_SCOREBOARD, false, 63};
  assert_int_equal(distance(no_war, fp32(1, 10), fp32(10, 11)), 1);
  assert_int_equal(distance(no_war, fp32(1, 10), fp32(2, 1)), FP32_LATENCY);
}

/* Table 2, shared loads, regular address, from issue to issue: WAR 8, RAW and WAW 23, 25 for 128 bits. */
static void memory_pairs(void **state)
{
  (void)state;
  assert_int_equal(distance(board, shared_load(4, 1, 10), fp32(2, 4)), 23);
  assert_int_equal(distance(board, shared_load(4, 1, 10), fp32(4, 2)), 23);
  assert_int_equal(distance(board, shared_load(4, 1, 10), fp32(10, 2)), 8);
  for (unsigned r = 4; r < 8; r++) /* each register of the vector */
    assert_int_equal(distance(board, shared_load(4, 4, 10), fp32(2, r)), 25);
  assert_int_equal(distance(board, shared_load(4, 4, 10), fp32(2, 8)), 1);
}

/* The n-th reader of a register waits until the (n - limit)-th has read it. */
static void reader_limit(void **state)
{
  (void)state;
  enum { READERS = 5 };
  static const struct {
    uint32_t consumers;
    uint64_t at[READERS];
  } row[] = {
      {1, {0, SOURCES_READ, 2 * SOURCES_READ, 3 * SOURCES_READ, 4 * SOURCES_READ}},
      {3, {0, 1, 2, SOURCES_READ, SOURCES_READ + 1}},
      {63, {0, 1, 2, 3, 4}},
      {ANY_NUMBER, {0, 1, 2, 3, 4}},
  };
  struct inst in[READERS];
  for (unsigned i = 0; i < READERS; i++) in[i] = fp32(20 + i, 10);
  for (unsigned k = 0; k < sizeof row / sizeof row[0]; k++) {
    uint64_t at[READERS];
    issue_cycles((struct setup){DEPENDENCE_SCOREBOARD, true, row[k].consumers}, 0, in, READERS, at);
    for (unsigned i = 0; i < READERS; i++) assert_int_equal(at[i], row[k].at[i]);
  }
}

/* A register named twice by one instruction is one reader. */
static void one_reader_per_instruction(void **state)
{
  (void)state;
  struct inst in = fp32(1, 10);
  in.n_src = 2;
  in.src[1] = in.src[0];
  struct setup one = {DEPENDENCE_SCOREBOARD, true, 1};
  assert_int_equal(distance(one, in, nop()), 1);
  assert_int_equal(distance(one, in, fp32(2, 10)), SOURCES_READ);
}

static void all_register_files(void **state)
{
  (void)state;
  static const uint8_t file[] = {FILE_R, FILE_UR, FILE_P, FILE_UP};
  for (unsigned i = 0; i < sizeof file; i++)
    for (unsigned k = 0; k < sizeof file; k++) {
      struct inst first = fp32(1, 10), second = fp32(2, 1);
      first.dst[0].file = file[i];
      second.src[0].file = file[k];
      assert_int_equal(distance(board, first, second), i == k ? FP32_LATENCY : 1);
    }
}

static void guards_are_read(void **state)
{
  (void)state;
  struct inst set = fp32(0, 10), guarded = fp32(2, 11);
  set.dst[0].file = FILE_P;
  set.lat = LAT_PRED; /* predicate to guard: 13 cycles in compiler output */
  guarded.guard = 0;
  assert_int_equal(distance(board, set, guarded), 13);
  assert_int_equal(distance(board, guarded, set), SOURCES_READ);
  guarded.guard = 1;
  assert_int_equal(distance(board, set, guarded), 1);
}

static void control_bits_mean_nothing(void **state)
{
  (void)state;
  struct inst stalls = fp32(1, 10), waits = fp32(2, 11);
  stalls.ctrl = (struct inst_ctrl){.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1};
  waits.ctrl.wait = 0x3f;
  assert_int_equal(distance(board, stalls, waits), 1);
}

/* Groups of LDGSTS are no registers: LDGDEPBAR and DEPBAR keep their meaning. Table 2: 38 cycles from issue to issue. The
 * compiler gives DEPBAR a stall of 4 where it needs its hold; here there is none. */
static void ldgsts_groups(void **state)
{
  (void)state;
  enum { N = 5 };
  struct inst in[N] = {nop(), nop(), nop(), nop(), nop()};
  in[0].pipe = PIPE_MEM;
  in[0].mem = (struct inst_mem){
      .space = MEM_GLOBAL, .op = MEM_LDGSTS, .bytes = 4, .addr = ADDR_REGULAR};
  in[1].flags = INST_LDGDEPBAR;
  in[1].ctrl.write_sb = 0;
  in[2].flags = INST_DEPBAR;
  in[2].hold_for = 1 << 0;
  in[2].n_limits = 1;
  uint64_t at[N];
  issue_cycles(board, 0, in, N, at);
  assert_int_equal(at[2], 2);
  assert_int_equal(at[3], 38);
  in[2].limit[0].at_most = 1; /* one group may be open */
  issue_cycles(board, 0, in, N, at);
  assert_int_equal(at[3], 3);
}

/* In code of -G LDGDEPBAR has a counter of sources, too, which drops with its issue: nothing waits for the copies yet. */
static void ldgdepbar_reads(void **state)
{
  (void)state;
  enum { N = 4 };
  struct inst in[N] = {nop(), nop(), nop(), nop()};
  in[0].pipe = PIPE_MEM;
  in[0].mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_LDGSTS, .bytes = 4, .addr = ADDR_REGULAR};
  in[0].ctrl.write_sb = SB_NONE;
  in[1].flags = INST_LDGDEPBAR;
  in[1].ctrl.write_sb = 0;
  in[1].ctrl.read_sb = 1;
  in[2].ctrl.wait = 1 << 1;
  in[3].ctrl.wait = 1 << 0;
  const struct setup s = {DEPENDENCE_CONTROL_BITS, true, 63};
  uint64_t at[N];
  issue_cycles(s, STEP_CAP_CONTROL, in, N, at);
  assert_true(at[2] < 10);
  assert_int_equal(at[3], 38);
}

static void hybrid(void **state)
{
  (void)state;
  const struct setup h = {DEPENDENCE_HYBRID, true, 63};
  const struct inst in[] = {fp32(1, 10), fp32(2, 1)}; /* stall 1: too early for its result */
  uint64_t at[2];
  issue_cycles(h, STEP_CAP_CONTROL, in, 2, at);
  assert_int_equal(at[1], 1);
  issue_cycles(h, 0, in, 2, at);
  assert_int_equal(at[1], FP32_LATENCY);
  issue_cycles((struct setup){DEPENDENCE_CONTROL_BITS, true, 63}, 0, in, 2, at);
  assert_int_equal(at[1], 1);
}

/* More releases outstanding than there are tickets: instructions wait, and all are released. */
static void tickets_run_out(void **state)
{
  (void)state;
  struct params p = {.scoreboard_war = true};
  struct arena a = {0};
  struct scoreboard *b = scoreboard_new(&a, &p);
  struct releases out[BOARD_TICKETS / 2];
  struct inst in[BOARD_TICKETS / 2];
  for (unsigned i = 0; i < BOARD_TICKETS / 2; i++) {
    in[i] = fp32(i, 254);
    assert_int_equal(scoreboard_check(b, 0, &in[i]).state, WS_SELECTED);
    out[i] = scoreboard_issue(b, 0, &in[i], WS_WAIT, WS_WAIT);
    assert_true(out[i].write >= BOARD_TICKET && out[i].read >= BOARD_TICKET);
  }
  struct inst one_more = fp32(200, 201);
  assert_int_not_equal(scoreboard_check(b, 0, &one_more).state, WS_SELECTED);
  for (unsigned i = 0; i < BOARD_TICKETS / 2; i++) {
    scoreboard_release(b, out[i].write, 100);
    scoreboard_release(b, out[i].read, 100);
  }
  assert_int_equal(b->n_free, BOARD_TICKETS);
  assert_int_equal(scoreboard_check(b, 0, &in[0]).state, WS_SELECTED);
  arena_free(&a);
}

/* An instruction has a ticket for its sources and one for its destinations, if it has any. */
static void tickets_are_for_registers(void **state)
{
  (void)state;
  struct params p = {.scoreboard_war = true};
  struct arena a = {0};
  struct scoreboard *b = scoreboard_new(&a, &p);
  struct inst none = nop(), reads = fp32(1, 2), writes = fp32(3, 4);
  reads.n_dst = writes.n_src = 0;
  struct releases out = scoreboard_issue(b, 0, &none, WS_WAIT, WS_WAIT);
  assert_true(out.read == SB_NONE && out.write == SB_NONE);
  assert_int_equal(b->n_free, BOARD_TICKETS);
  out = scoreboard_issue(b, 0, &reads, WS_WAIT, WS_WAIT);
  assert_true(out.read >= BOARD_TICKET && out.write == SB_NONE);
  assert_int_equal(b->n_free, BOARD_TICKETS - 1);
  out = scoreboard_issue(b, 0, &writes, WS_WAIT, WS_WAIT);
  assert_true(out.read == SB_NONE && out.write >= BOARD_TICKET);
  assert_int_equal(b->n_free, BOARD_TICKETS - 2);
  arena_free(&a);
}

/* What came free last, and the name of the wait for it. */
static void waits_have_names(void **state)
{
  (void)state;
  struct params p = {.scoreboard_war = true};
  struct arena a = {0};
  struct scoreboard *b = scoreboard_new(&a, &p);
  struct inst load = shared_load(4, 1, 10), use = fp32(2, 4), overwrite = fp32(10, 2);
  struct releases out = scoreboard_issue(b, 3, &load, WS_LONG_SCOREBOARD, WS_SHORT_SCOREBOARD);
  assert_int_equal(scoreboard_check(b, 3, &use).state, WS_LONG_SCOREBOARD);
  assert_int_equal(scoreboard_check(b, 3, &overwrite).state, WS_SHORT_SCOREBOARD);
  assert_int_equal(scoreboard_check(b, 4, &use).state, WS_SELECTED); /* another warp */
  scoreboard_release(b, out.read, 20);
  scoreboard_release(b, out.write, 50);
  struct reg_wait w = scoreboard_waited(b, 3, &use), v = scoreboard_waited(b, 3, &overwrite);
  assert_true(w.state == WS_LONG_SCOREBOARD && w.until == 50);
  assert_true(v.state == WS_SHORT_SCOREBOARD && v.until == 20);
  arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_latency_pairs),
      cmocka_unit_test(memory_pairs),
      cmocka_unit_test(reader_limit),
      cmocka_unit_test(one_reader_per_instruction),
      cmocka_unit_test(all_register_files),
      cmocka_unit_test(guards_are_read),
      cmocka_unit_test(control_bits_mean_nothing),
      cmocka_unit_test(ldgsts_groups),
      cmocka_unit_test(ldgdepbar_reads),
      cmocka_unit_test(hybrid),
      cmocka_unit_test(tickets_run_out),
      cmocka_unit_test(tickets_are_for_registers),
      cmocka_unit_test(waits_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
