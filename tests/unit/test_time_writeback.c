/* Write ports, result queue and their arbiter: Huerta et al., MICRO 2025, section 5.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

static struct inst writes(enum pipe pipe, enum lat_class lat, unsigned reg, unsigned width)
{
  struct inst in = mock_alu(1, false);
  in.pipe = (uint8_t)pipe;
  in.lat = (uint8_t)lat;
  in.n_dst = 1;
  in.dst[0] = (struct operand){.file = FILE_R, .index = (uint8_t)reg, .width = (uint8_t)width};
  return in;
}

static struct inst load_shared(unsigned reg, unsigned width)
{
  struct inst in = writes(PIPE_MEM, LAT_NONE, reg, width);
  in.mem = (struct inst_mem){
      .space = MEM_SHARED, .op = MEM_LOAD, .bytes = (uint8_t)(4 * width), .addr = ADDR_REGULAR};
  in.ctrl.write_sb = 0;
  return in;
}

struct box {
  struct params params;
  struct sm_stats stats;
  struct writeback w;
};

static void box_init(struct box *b)
{
  struct err e = {0};
  char dir[4096];
  memset(b, 0, sizeof *b);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &b->params, &e)) fail_msg("%s", e.msg);
  writeback_init(&b->w, &b->params, &b->stats);
}

/* HADD2 (5 cycles), then FFMA (4) in the next cycle: both reach the write port in the same cycle. In one
 * bank the second waits in the result queue, and nobody is delayed; in two banks nothing happens. */
static void fixed_results_collide(void **state)
{
  (void)state;
  for (unsigned bank = 0; bank < 2; bank++) {
    struct box b;
    box_init(&b);
    struct inst hadd = writes(PIPE_FMA, LAT_HALF, 2, 1);
    struct inst ffma = writes(PIPE_FMA, LAT_FMA, 4 + bank, 1);
    assert_int_equal(writeback_fixed(&b.w, &hadd, 10, 10 + 3 + 5), 11);
    assert_int_equal(writeback_fixed(&b.w, &ffma, 11, 11 + 3 + 4), 12);
    assert_int_equal(b.stats.result_waits, bank == 0);
    assert_false(writeback_take(&b.w, 0, 18)); /* HADD2 */
    assert_int_equal(writeback_take(&b.w, 1, 18), bank == 0);
    assert_int_equal(writeback_take(&b.w, 0, 19), bank == 1); /* FFMA, from the queue */
  }
}

/* The consumer of neither waits: stalls of 5 and 4 from the instructions themselves. */
static void collision_delays_nobody(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(6, 1);
  mock_set(m, 0, writes(PIPE_FMA, LAT_HALF, 2, 1));
  struct inst ffma = writes(PIPE_FMA, LAT_FMA, 4, 1);
  ffma.ctrl.stall = 4;
  mock_set(m, 1, ffma);
  rig_run(&r, m);
  assert_int_equal(m->issued[0][1] - m->issued[0][0], 1);
  assert_int_equal(m->issued[0][2] - m->issued[0][1], 4);
  assert_int_equal(r.sm->stats.result_waits, 1);
  free(m);
  rig_free(&r);
}

/* A shared load is written in cycle 22 and its counter drops in 23 (Table 2, from issue to issue). An FFMA with its result in the
 * same bank that issues in cycle 15 writes in 15 + 3 + 4 = 22: the load waits one cycle. Two in a row: two. */
static void load_waits_for_fixed_result(void **state)
{
  (void)state;
  static const struct {
    unsigned first, n, bank, raw;
  } row[] = {{15, 1, 0, 24}, {15, 2, 0, 25}, {15, 1, 1, 23}, {14, 1, 0, 23},
             {16, 1, 0, 23}, {14, 3, 0, 25}, {13, 1, 0, 23}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(40, 1);
    mock_set(m, 0, load_shared(8, 1));
    for (unsigned k = 0; k < row[i].n; k++)
      mock_set(m, row[i].first + k, writes(PIPE_FMA, LAT_FMA, 10 + row[i].bank, 1));
    struct inst user = mock_alu(1, false);
    user.ctrl.wait = 1;
    mock_set(m, 22, user);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][row[i].first] - m->issued[0][0], row[i].first);
    assert_int_equal(m->issued[0][22] - m->issued[0][0], row[i].raw);
    assert_int_equal(r.sm->stats.write_waits, row[i].raw - 23);
    free(m);
    rig_free(&r);
  }
}

/* 128 bits of shared memory: four registers in cycles 21 to 24, one bank after the other. A result in the
 * way of the second one holds the third and fourth, too. */
static void wide_load(void **state)
{
  (void)state;
  static const struct {
    unsigned issue, bank, raw;
  } row[] = {{14, 0, 26}, {15, 1, 26}, {15, 0, 25}, {16, 0, 26}, {17, 1, 26}, {18, 1, 25}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(40, 1);
    mock_set(m, 0, load_shared(8, 4));
    mock_set(m, row[i].issue, writes(PIPE_FMA, LAT_FMA, 12 + row[i].bank, 1));
    struct inst user = mock_alu(1, false);
    user.ctrl.wait = 1;
    mock_set(m, 22, user);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][22] - m->issued[0][0], row[i].raw);
    free(m);
    rig_free(&r);
  }
}

/* Results of 8 registers every cycle: four per bank where one can be written. The queue of 8 fills and holds
 * the issue port; uniform registers have a port of their own. */
static void full_queue(void **state)
{
  (void)state;
  struct box b;
  box_init(&b);
  struct inst wide = writes(PIPE_TENSOR, LAT_FMA, 8, 8);
  /* The i-th result's last register in a bank waits 3 (i - 1) cycles: 3, 6, 9 > 8. */
  static const uint64_t next[] = {1, 2, 3, 4 + 2, 5 + 5};
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(writeback_fixed(&b.w, &wide, i, i + 7), next[i]);
  struct inst uniform = writes(PIPE_UNIFORM, LAT_UNIFORM, 4, 1);
  uniform.dst[0].file = FILE_UR;
  uint64_t waits = b.stats.result_waits;
  assert_int_equal(writeback_fixed(&b.w, &uniform, 5, 12), 6);
  assert_int_equal(writeback_fixed(&b.w, &uniform, 6, 12), 7); /* the same cycle: one waits */
  assert_int_equal(b.stats.result_waits, waits + 1);
}

/* A result of several registers: a bank writes one of them per cycle, hence with two banks two registers in each cycle, the
 * first two when a single one would be written. */
static void registers_of_a_wide_result(void **state)
{
  (void)state;
  enum { AT = 20 };
  for (unsigned width = 1; width <= 4; width++)
    for (unsigned first = 0; first < 2; first++)
      for (unsigned bank = 0; bank < 2; bank++)
        for (unsigned cycle = 0; cycle < 4; cycle++) {
          struct box b;
          box_init(&b);
          assert_int_equal(b.params.regfile_banks, 2);
          struct inst wide = writes(PIPE_FMA, LAT_FMA, 4 + first, width);
          assert_int_equal(writeback_fixed(&b.w, &wide, 10, AT), 11);
          unsigned in_bank = (width + (bank == first)) / 2;
          assert_int_equal(writeback_take(&b.w, bank, AT + cycle), cycle >= in_bank);
        }
}

/* With two write ports per bank the first collision disappears. */
static void second_port(void **state)
{
  (void)state;
  struct box b;
  box_init(&b);
  b.params.regfile_write_ports = 2;
  writeback_init(&b.w, &b.params, &b.stats);
  struct inst ffma = writes(PIPE_FMA, LAT_FMA, 4, 1);
  for (unsigned i = 0; i < 3; i++) writeback_fixed(&b.w, &ffma, 0, 7);
  assert_int_equal(b.stats.result_waits, 1); /* the third */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_results_collide),
      cmocka_unit_test(collision_delays_nobody),
      cmocka_unit_test(load_waits_for_fixed_result),
      cmocka_unit_test(wide_load),
      cmocka_unit_test(full_queue),
      cmocka_unit_test(registers_of_a_wide_result),
      cmocka_unit_test(second_port),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
