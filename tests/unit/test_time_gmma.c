/* Products of warpgroups (gmma.h). Lengths: 4 cycles for eight columns, m64n256k16 in 128 (arXiv 2402.13499), or what 128
 * bytes of shared memory a cycle need; results a fixed latency later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

enum { WARPS = 4, LATENCY = 20 /* lat.gmma */ };

static struct inst product(unsigned columns, bool a_shared, bool ends_group)
{
  struct inst in = mock_alu(1, false);
  in.pipe = PIPE_TENSOR;
  in.lat = LAT_GMMA;
  in.flags = INST_GMMA;
  in.gmma = (struct inst_gmma){
      .columns = (uint16_t)columns, .row_bytes = 32, .column_bytes = 32, .a_shared = a_shared, .ends_group = ends_group};
  return in;
}

static struct inst wait_for(unsigned groups)
{
  struct inst in = mock_alu(2, false);
  in.flags = INST_DEPBAR;
  in.hold_for = 1 << SB_GMMA;
  in.n_limits = 1;
  in.limit[0] = (struct inst_limit){SB_GMMA, (uint8_t)groups};
  return in;
}

/* Runs the program with four warps, which must all issue alike. */
static void run(struct rig *r, struct mock *m)
{
  rig_build_for(r, "h200");
  assert_int_equal(r->params.lat[LAT_GMMA], LATENCY);
  rig_run(r, m);
  for (unsigned w = 1; w < WARPS; w++)
    for (unsigned i = 0; m->inst[i].flags != INST_EXIT; i++) assert_int_equal(m->issued[w][i], m->issued[0][i]);
}

static void two_products(struct mock *m)
{
  mock_set(m, 0, product(256, true, false));
  mock_set(m, 1, product(256, true, true));
  m->inst[1].ctrl.stall = 3;
  mock_set(m, 2, wait_for(0));
}

/* Two products of 256 columns follow each other at their rate; the wait ends when the last one is written. */
static void wait_for_all(void **state)
{
  struct rig r;
  struct mock *m = mock_new(4, WARPS);
  (void)state;
  two_products(m);
  run(&r, m);
  assert_int_equal(m->issued[0][0], START);
  assert_int_equal(m->issued[0][1], START + 1);
  assert_int_equal(m->issued[0][3], START + 2 * 128 + LATENCY);
  assert_int_equal(r.sm->stats.gmma_products, 2);
  assert_int_equal(r.sm->stats.gmma_cycles, 2 * 128);
  rig_free(&r);
  free(m);
}

/* With ideal.tensor the second begins a cycle behind the first; both take as long as before. */
static void ideal_units(void **state)
{
  struct rig r;
  struct mock *m = mock_new(4, WARPS);
  (void)state;
  two_products(m);
  rig_params(&r, "h200");
  r.params.ideal_tensor = true;
  rig_init(&r);
  rig_run(&r, m);
  assert_int_equal(m->issued[0][1], START + 1);
  assert_int_equal(m->issued[0][3], START + 1 + 128 + LATENCY);
  assert_int_equal(r.sm->stats.gmma_cycles, 2);
  rig_free(&r);
  free(m);
}

/* One of two groups may be open: the wait ends with the first. */
static void wait_for_older(void **state)
{
  struct rig r;
  struct mock *m = mock_new(4, WARPS);
  (void)state;
  mock_set(m, 0, product(128, false, true));
  mock_set(m, 1, product(256, false, true));
  m->inst[1].ctrl.stall = 3;
  mock_set(m, 2, wait_for(1));
  run(&r, m);
  assert_int_equal(m->issued[0][3], START + 64 + LATENCY);
  rig_free(&r);
  free(m);
}

/* A in shared memory costs 64 rows of 32 bytes: 16 cycles beside those of B. */
static void small_products_wait_for_shared_memory(void **state)
{
  static const struct {
    unsigned columns, cycles;
    bool a_shared;
  } row[] = {{8, 18, true}, {8, 4, false}, {32, 24, true}, {32, 16, false}, {64, 32, true}, {128, 64, true}};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    struct mock *m = mock_new(1, WARPS);
    mock_set(m, 0, product(row[i].columns, row[i].a_shared, true));
    run(&r, m);
    assert_int_equal(r.sm->stats.gmma_cycles, row[i].cycles);
    rig_free(&r);
    free(m);
  }
}

/* With a sparse A columns of B have 64 bytes: 256 of them take what the units take, 128 cycles, and A 16 more. */
static void sparse_products_read_twice_as_much_of_b(void **state)
{
  static const struct {
    unsigned columns, cycles;
    bool a_shared;
  } row[] = {{256, 128, false}, {256, 144, true}, {64, 48, true}, {8, 4, false}};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    struct mock *m = mock_new(1, WARPS);
    struct inst in = product(row[i].columns, row[i].a_shared, true);
    in.gmma.column_bytes = 64;
    mock_set(m, 0, in);
    run(&r, m);
    assert_int_equal(r.sm->stats.gmma_cycles, row[i].cycles);
    rig_free(&r);
    free(m);
  }
}

/* Eight may wait (gmma.queue_entries): the tenth issues when the second has begun. */
static void a_full_queue_holds_the_warp(void **state)
{
  struct rig r;
  struct mock *m = mock_new(10, WARPS);
  (void)state;
  for (unsigned i = 0; i < 10; i++) mock_set(m, i, product(256, true, i == 9));
  run(&r, m);
  assert_int_equal(m->issued[0][8], START + 8);
  assert_int_equal(m->issued[0][9], START + 128 + 1);
  rig_free(&r);
  free(m);
}

/* A product waits for the fourth warp. */
static void the_last_warp_decides(void **state)
{
  enum { LATE = 50 };
  struct rig r;
  struct mock *m = mock_new(3, WARPS);
  (void)state;
  mock_set(m, 0, product(64, false, true));
  m->inst[0].ctrl.stall = 3;
  mock_set(m, 1, wait_for(0));
  rig_build_for(&r, "h200");
  sm_start(r.sm, r.image, m->source.caps & STEP_CAP_CONTROL);
  sm_open_grid(r.sm, 0, &m->source, 0, &r.arena);
  launch_queue_push(&r.sm->launches, (struct cta_launch){.carveout = r.params.l1_bytes - 65536});
  sm_run(r.sm, 0, 1);
  for (unsigned i = 0; i < WARPS; i++) r.sm->sub_core[i].warps.slot[0].issue_at = i ? START : START + LATE;
  for (unsigned i = 0; i < WARPS; i++) sub_core_wake(&r.sm->sub_core[i], 1);
  sm_run(r.sm, r.sm->period, RUN_CYCLES * r.sm->period);
  for (unsigned w = 0; w < WARPS; w++) assert_int_equal(m->issued[w][2], START + LATE + 32 + LATENCY);
  rig_free(&r);
  free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wait_for_all),
      cmocka_unit_test(ideal_units),
      cmocka_unit_test(wait_for_older),
      cmocka_unit_test(small_products_wait_for_shared_memory),
      cmocka_unit_test(sparse_products_read_twice_as_much_of_b),
      cmocka_unit_test(a_full_queue_holds_the_warp),
      cmocka_unit_test(the_last_warp_decides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
