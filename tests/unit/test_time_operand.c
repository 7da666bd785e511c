/* Operand path against Listings 1 and 4 of Huerta et al., "Dissecting and Modeling the
 * Architecture of Modern GPU Cores", MICRO 2025. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

static struct inst ffma(unsigned a, unsigned b, unsigned c, unsigned reuse)
{
  struct inst in = mock_alu(1, false);
  in.pipe = PIPE_FMA;
  in.lat = LAT_FMA;
  in.ctrl.reuse = (uint8_t)reuse;
  unsigned reg[3] = {a, b, c};
  in.n_src = 3;
  for (unsigned i = 0; i < 3; i++)
    in.src[i] = (struct operand){FILE_R, (uint8_t)reg[i], 1, (uint8_t)i, reuse >> i & 1};
  return in;
}

static struct inst clock_read(void)
{
  struct inst in = mock_alu(1, false);
  in.pipe = PIPE_ALU;
  in.lat = LAT_ALU;
  in.flags = INST_CLOCK;
  return in;
}

/* clock; NOP; FFMA R10,R12,R14; FFMA R16,Rx,Ry; [NOP;] clock; EXIT. Clocks are read in Control,
 * one cycle after issue. */
static uint64_t listing_1(unsigned x, unsigned y, bool second_nop)
{
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(8, 1);
  unsigned n = 0;
  mock_set(m, n++, clock_read());
  n++;
  mock_set(m, n++, ffma(10, 12, 14, 0));
  mock_set(m, n++, ffma(16, x, y, 0));
  if (second_nop) n++;
  mock_set(m, n, clock_read());
  rig_run(&r, m);
  uint64_t elapsed = m->issued[0][n] - m->issued[0][0];
  free(m);
  rig_free(&r);
  return elapsed;
}

static void read_port_conflicts(void **state)
{
  (void)state;
  assert_int_equal(listing_1(19, 21, true), 5);
  assert_int_equal(listing_1(18, 21, true), 6);
  assert_int_equal(listing_1(18, 20, true), 7);
  /* Without the NOP before the second clock read the conflict does not show. */
  uint64_t least = listing_1(19, 21, false);
  assert_int_equal(listing_1(18, 21, false), least);
  assert_int_equal(listing_1(18, 20, false), least);
}

/* Steady state (section 5.3): FFMA with three sources in one bank has two bubbles, with two one. */
static void steady_state(void **state)
{
  (void)state;
  static const struct {
    unsigned a, b, c, cycles, registers;
  } row[] = {{2, 4, 6, 3, 3}, {2, 4, 7, 2, 3}, {2, 5, 2, 1, 2}};
  for (unsigned i = 0; i < 3; i++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(40, 1);
    for (unsigned k = 0; k < 40; k++) mock_set(m, k, ffma(row[i].a, row[i].b, row[i].c, 0));
    rig_run(&r, m);
    assert_int_equal(m->issued[0][39] - m->issued[0][19], 20 * row[i].cycles);
    /* the first has the three cycles of its window to itself */
    assert_int_equal(r.sm->stats.rf_stalls, 39 * (row[i].cycles - 1));
    assert_int_equal(r.sm->stats.rf_reads, 40 * row[i].registers);
    free(m);
    rig_free(&r);
  }
}

/* Listing 4: does the third instruction, and the second, find R2? */
static void register_file_cache(void **state)
{
  (void)state;
  struct params p;
  struct err e = {0};
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_true(params_load("rtx-3070", dir, &p, &e));
  static const struct {
    unsigned second[3], reuse2, hits2, hits3;
  } row[] = {
      {{2, 7, 8}, 0, 1, 0}, /* hit, value dropped */
      {{2, 7, 8}, 1, 1, 1}, /* hit, value kept */
      {{7, 2, 8},
       0,
       0,
       1}, /* other position: miss, and the value survives in the other bank's slot */
      {{4, 7, 8}, 0, 0, 0}, /* same bank and position: replaced */
  };
  for (unsigned i = 0; i < 4; i++) {
    struct operand_path o;
    struct sm_stats stats = {0};
    operand_init(&o, &p, &stats);
    struct inst one = ffma(2, 3, 4, 1), three = ffma(2, 12, 13, 0);
    struct inst two = ffma(row[i].second[0], row[i].second[1], row[i].second[2], row[i].reuse2);
    operand_issue(&o, &one, 0, 10);
    operand_issue(&o, &two, 0, 20);
    assert_int_equal(stats.rfc_hits, row[i].hits2);
    operand_issue(&o, &three, 0, 30);
    assert_int_equal(stats.rfc_hits, row[i].hits2 + row[i].hits3);
  }
  /* Another warp never hits. */
  struct operand_path o;
  struct sm_stats stats = {0};
  operand_init(&o, &p, &stats);
  struct inst one = ffma(2, 3, 4, 1), two = ffma(2, 7, 8, 0);
  operand_issue(&o, &one, 0, 10);
  operand_issue(&o, &two, 1, 20);
  assert_int_equal(stats.rfc_hits, 0);
}

/* Of a queued memory instruction the address alone is read before it enters the queue: a store's data comes later, on a path of
 * its own. One port and two banks: the address pair R2 takes one read of each, in the two cycles that it gets. */
static void queued_addresses(void **state)
{
  (void)state;
  struct params p = {.regfile_banks = 2, .regfile_read_ports = 1, .regfile_read_cycles = 3};
  struct sm_stats stats = {0};
  struct operand_path o;
  struct inst store = mock_alu(1, false);
  store.pipe = PIPE_MEM;
  store.mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_STORE, .bytes = 16, .addr = ADDR_REGULAR};
  store.n_src = 2;
  store.src[0] = (struct operand){.file = FILE_R, .index = 2, .width = 2, .slot = 0};
  store.src[1] = (struct operand){.file = FILE_R, .index = 8, .width = 4, .slot = 1};
  operand_init(&o, &p, &stats);
  assert_true(operand_read_queued(&o, &store, 10, 2));
  assert_int_equal(stats.rf_reads, 2);
  assert_true(operand_read_queued(&o, &store, 10, 2)); /* the other cycle of both banks */
  assert_int_equal(stats.rf_reads, 4);
  assert_false(operand_read_queued(&o, &store, 10, 2)); /* no port is left */
  assert_int_equal(stats.rf_reads, 4);
  store.mem.space = MEM_NONE; /* what is no access reads all, three of each bank: what does not fit takes all there is */
  assert_true(operand_read_queued(&o, &store, 20, 2));
  assert_int_equal(stats.rf_reads, 10);
  store.n_src = 1;
  assert_false(operand_read_queued(&o, &store, 20, 2));
  assert_true(operand_read_queued(&o, &store, 20, 3));
  assert_int_equal(stats.rf_reads, 12);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_port_conflicts),
      cmocka_unit_test(steady_state),
      cmocka_unit_test(register_file_cache),
      cmocka_unit_test(queued_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
