/* What L2 writes back, and when. Expected values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mem_rig.h"

/* Written sectors need no fetch; displaced ones are written to DRAM, clean ones are not. */
static void dirty_sectors_are_written_back(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  r.params.l2_bytes = r.params.l2_slices * LINE_BYTES * 2; /* one set of two ways per slice */
  r.params.l2_ways = 2;
  r.params.l2_slice_hash = L2_SLICE_HASH_LINEAR;
  r.params.l2_slice_lines = 1;
  rig_start(&r);
  uint64_t n = r.params.l2_slices;
  round_trip(&r, REQ_WRITE, MEM_STORE, 0, 0x7);
  round_trip(&r, REQ_READ, MEM_LOAD, 0, 0x5);
  assert_int_equal(l2_sum(&r).l2_hit_sectors, 2);
  round_trip(&r, REQ_READ, MEM_LOAD, n, 0xf);
  assert_int_equal(l2_sum(&r).l2_written_back_sectors, 0);
  round_trip(&r, REQ_READ, MEM_LOAD, 2 * n, 0x1); /* line 0 goes */
  round_trip(&r, REQ_READ, MEM_LOAD, 3 * n, 0x1); /* line n goes, clean */
  check_laws(&r);
  struct l2_stats s = l2_sum(&r);
  assert_int_equal(s.l2_written_back_sectors, 3);
  assert_int_equal(s.l2_evicted_lines, 2);
  assert_int_equal(s.l2_miss_sectors, 6);
  assert_int_equal(dram_sum(&r).dram_writes, 1);
  rig_free(&r);
}

/* A slice that may keep two dirty lines writes the one back that was stored to first as soon as there are three, and keeps
 * it as a clean line. */
static void few_lines_stay_dirty(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  r.params.l2_bytes = r.params.l2_slices * LINE_BYTES * 4; /* one set of four ways per slice */
  r.params.l2_ways = 4;
  r.params.l2_dirty_permille = 500;
  r.params.l2_slice_hash = L2_SLICE_HASH_LINEAR;
  r.params.l2_slice_lines = 1;
  rig_start(&r);
  uint64_t n = r.params.l2_slices;
  round_trip(&r, REQ_WRITE, MEM_STORE, 0, 0x7);
  round_trip(&r, REQ_WRITE, MEM_STORE, n, 0xf);
  round_trip(&r, REQ_WRITE, MEM_STORE, 0, 0x1); /* dirty already: no younger for that */
  assert_int_equal(l2_sum(&r).l2_written_back_sectors, 0);
  round_trip(&r, REQ_WRITE, MEM_STORE, 2 * n, 0x1);
  assert_int_equal(l2_sum(&r).l2_written_back_sectors, 3);
  round_trip(&r, REQ_READ, MEM_LOAD, 0, 0x7);
  assert_int_equal(l2_sum(&r).l2_hit_sectors, 3);
  round_trip(&r, REQ_WRITE, MEM_STORE, 0, 0x1); /* dirty anew: now `n` is the oldest */
  assert_int_equal(l2_sum(&r).l2_written_back_sectors, 3 + 4);
  assert_int_equal(l2_sum(&r).l2_evicted_lines, 0);
  check_laws(&r);
  rig_free(&r);
}

/* A GV100 keeps half of its L2 dirty: kernels that store more leave 98,273 to 98,359 of 196,608 sectors unwritten
 * (Nsight Compute on a Quadro GV100, accel-sim/accel-sim-framework, hw_perf.csv: fwtBatch1Kernel, sobolGPU_kernel). */
static void a_gv100_keeps_half_of_its_lines_dirty(void **state)
{
  (void)state;
  enum { LINES = 28000 };
  struct rig r;
  rig_build(&r, "quadro-gv100");
  rig_start(&r);
  for (uint64_t i = 0; i < LINES; i++) round_trip(&r, REQ_WRITE, MEM_STORE, i, 0xf);
  uint64_t left = (uint64_t)LINES * SECTORS_PER_LINE - l2_sum(&r).l2_written_back_sectors;
  assert_in_range(left, 98273, 98359);
  check_laws(&r);
  rig_free(&r);
}

static void store_in_part(struct rig *r, bool masks)
{
  rig_build(r, "rtx-3070");
  r->params.l2_bytes = r->params.l2_slices * LINE_BYTES * 4; /* one set of four ways per slice */
  r->params.l2_ways = 4;
  r->params.l2_dirty_permille = 500;
  r->params.dram_write_masks = masks;
  r->params.l2_slice_hash = L2_SLICE_HASH_LINEAR;
  r->params.l2_slice_lines = 1;
  rig_start(r);
}

/* Words of a sector that were written are known, the others are not: a read fetches them, a write-back reads them
 * first, and when all have been written there is nothing to fetch. */
static void sectors_written_in_part(void **state)
{
  (void)state;
  struct rig r;
  store_in_part(&r, false);
  uint64_t n = r.params.l2_slices;
  store_words(&r, 0, 1, 0x0f00);
  assert_int_equal(dram_sum(&r).dram_read_bytes, 0);
  store_words(&r, 0, 1, 0xf000);
  round_trip(&r, REQ_READ, MEM_LOAD, 0, 2); /* all eight words */
  assert_int_equal(l2_sum(&r).l2_hit_sectors, 1);
  store_words(&r, n, 0, 0x0001);
  round_trip(&r, REQ_READ, MEM_LOAD, n, 1); /* seven are missing */
  assert_int_equal(l2_sum(&r).l2_miss_sectors, 1);
  store_words(&r, 2 * n, 3, 0x80000000u);       /* a third dirty line: the oldest goes, whole */
  drain(&r);
  assert_int_equal(l2_sum(&r).l2_merged_sectors, 0);
  assert_int_equal(dram_sum(&r).dram_writes, 1);
  store_words(&r, 3 * n, 3, 0x80000000u); /* the next one was fetched */
  store_words(&r, 4 * n, 3, 0x80000000u); /* and the first of these goes */
  check_laws(&r);
  assert_int_equal(l2_sum(&r).l2_merged_sectors, 1);
  assert_int_equal(dram_sum(&r).dram_writes, 3);
  assert_int_equal(dram_sum(&r).dram_reads, 2);
  rig_free(&r);
}

/* With masks nothing is read before it is written; what of the sector was not stored is still not known. */
static void sectors_written_with_masks(void **state)
{
  (void)state;
  struct rig r;
  store_in_part(&r, true);
  uint64_t n = r.params.l2_slices;
  store_words(&r, 0, 1, 0x0f00);
  store_words(&r, n, 0, 0x00ff);
  store_words(&r, 2 * n, 0, 0x00ff); /* the first one goes */
  drain(&r);
  assert_int_equal(dram_sum(&r).dram_reads, 0);
  assert_int_equal(dram_sum(&r).dram_write_bytes, SECTOR_BYTES);
  store_words(&r, 0, 1, 0xf000); /* DRAM has the other four words, L2 does not know of them */
  round_trip(&r, REQ_READ, MEM_LOAD, 0, 2);
  assert_int_equal(l2_sum(&r).l2_miss_sectors, 1);
  check_laws(&r);
  rig_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(dirty_sectors_are_written_back),
    cmocka_unit_test(few_lines_stay_dirty),
    cmocka_unit_test(a_gv100_keeps_half_of_its_lines_dirty),
    cmocka_unit_test(sectors_written_in_part),
    cmocka_unit_test(sectors_written_with_masks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
