/* Which lines leave L2 (time/mem/l2_residency.h): walks of known order over one set, against the guide's rules. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mem_rig.h"

/* One set of four ways per slice. Lines are those of slice 0, named by their number there. */
static void residency_rig(struct rig *r, unsigned aside)
{
  rig_build(r, "rtx-3070");
  r->params.l2_bytes = r->params.l2_slices * LINE_BYTES * 4;
  r->params.l2_slice_lines = 1;
  r->params.l2_ways = 4;
  r->params.l2_slice_hash = L2_SLICE_HASH_LINEAR;
  r->policy.aside = (uint16_t)aside;
  rig_start(r);
}

/* Loads lines [from, to) of slice 0: how many of them were there. */
static unsigned walk(struct rig *r, unsigned from, unsigned to)
{
  const uint64_t before = l2_sum(r).l2_hit_sectors;
  for (unsigned i = from; i < to; i++) round_trip(r, REQ_READ, MEM_LOAD, (uint64_t)i * r->params.l2_slices, 0x1);
  return (unsigned)(l2_sum(r).l2_hit_sectors - before);
}

static void says(struct rig *r, unsigned from, unsigned to, enum access_property hit, enum access_property miss,
                 double ratio)
{
  const uint64_t each = (uint64_t)LINE_BYTES * r->params.l2_slices;
  l2_policy_set(&r->policy, 0,
                &(struct access_window){.addr = from * each, .bytes = (to - from) * each, .hit = (uint8_t)hit,
                                        .miss = (uint8_t)miss, .hits = (uint32_t)(ratio * ACCESS_WINDOW_WHOLE)},
                0);
}

/* Two of four ways are set aside. */
static void lines_that_persist(void **state)
{
  (void)state;
  struct rig r;
  residency_rig(&r, 2);
  says(&r, 0, 8, ACCESS_PERSISTING, ACCESS_STREAMING, 1);
  walk(&r, 0, 2);
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 0, 2), 2);
  walk(&r, 138, 140);
  walk(&r, 2, 3); /* a third one takes the place of the oldest of them, line 0, and of no other line */
  assert_int_equal(walk(&r, 138, 140), 2);
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 1, 3), 2);
  says(&r, 1, 2, ACCESS_NORMAL, ACCESS_NORMAL, 1);
  walk(&r, 1, 2); /* it is a normal one again */
  walk(&r, 100, 140);
  says(&r, 0, 0, ACCESS_NORMAL, ACCESS_NORMAL, 1); /* nothing is said: what was said stays */
  assert_int_equal(walk(&r, 2, 3), 1);
  assert_int_equal(walk(&r, 1, 2), 0);
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 2, 3), 1);
  for (unsigned i = 0; i < r.n; i++) partition_reset_residency(&r.part[i]);
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 2, 3), 0);
  drain(&r);
  l2_sum(&r);
  rig_free(&r);
}

/* A normal line that is touched as one that persists takes the place of the oldest of these when all ways that are set
 * aside are taken. With none set aside lines that shall persist are normal. */
static void lines_that_come_to_persist(void **state)
{
  (void)state;
  struct rig r;
  residency_rig(&r, 1);
  walk(&r, 0, 2);
  says(&r, 0, 2, ACCESS_PERSISTING, ACCESS_STREAMING, 1);
  walk(&r, 0, 2);
  says(&r, 0, 0, ACCESS_NORMAL, ACCESS_NORMAL, 1);
  walk(&r, 0, 1); /* used last, but normal again */
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 1, 2), 1);
  assert_int_equal(walk(&r, 0, 1), 0);
  r.policy.aside = 0;
  walk(&r, 1, 2);
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 1, 2), 0);
  drain(&r);
  l2_sum(&r);
  rig_free(&r);
}

/* Of two lines that persist the older one is as a normal line when only one way is set aside any more. */
static void fewer_ways_are_set_aside(void **state)
{
  (void)state;
  struct rig r;
  residency_rig(&r, 2);
  says(&r, 0, 2, ACCESS_PERSISTING, ACCESS_STREAMING, 1);
  walk(&r, 0, 2);
  says(&r, 0, 0, ACCESS_NORMAL, ACCESS_NORMAL, 1);
  r.policy.aside = 1;
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 1, 2), 1);
  assert_int_equal(walk(&r, 0, 1), 0);
  drain(&r);
  l2_sum(&r);
  rig_free(&r);
}

/* Lines that stream take each other's place. */
static void lines_that_stream(void **state)
{
  (void)state;
  struct rig r;
  residency_rig(&r, 0);
  says(&r, 100, 140, ACCESS_STREAMING, ACCESS_STREAMING, 1);
  walk(&r, 0, 3);
  walk(&r, 100, 140);
  assert_int_equal(walk(&r, 0, 3), 3);
  walk(&r, 3, 4); /* and leave before the oldest normal one does */
  assert_int_equal(walk(&r, 0, 4), 4);
  assert_int_equal(walk(&r, 100, 140), 0);
  drain(&r);
  l2_sum(&r);
  rig_free(&r);
}

/* Which lines of a window are hits: of n lines with ratio r, n r, within four standard deviations of as many draws; the
 * same ones each time; none outside. */
static void lines_of_a_window(void **state)
{
  (void)state;
  static struct l2_policy p = {.aside = 1};
  for (unsigned percent = 0; percent <= 100; percent += 10) {
    const unsigned n = 10000, space = 3;
    const double mean = n * percent / 100., sigma = sqrt(mean * (100 - percent) / 100.);
    unsigned hits = 0;
    l2_policy_set(&p, 7, &(struct access_window){.addr = 130, .bytes = (uint64_t)n * LINE_BYTES - 2,
                                                 .hits = percent * ACCESS_WINDOW_WHOLE / 100, .hit = ACCESS_PERSISTING,
                                                 .miss = ACCESS_STREAMING}, space);
    for (uint64_t i = 0; i < n; i++) {
      const enum access_property is = l2_policy_of(&p, 7, line_of_space(space) | (1 + i));
      assert_true(is == ACCESS_PERSISTING || is == ACCESS_STREAMING);
      hits += is == ACCESS_PERSISTING;
    }
    assert_true(fabs(hits - mean) <= 4 * sigma);
    assert_int_equal(l2_policy_of(&p, 7, line_of_space(space)), ACCESS_UNSAID);
    assert_int_equal(l2_policy_of(&p, 7, line_of_space(space) | (1 + n)), ACCESS_UNSAID);
    assert_int_equal(l2_policy_of(&p, 7, 1), ACCESS_UNSAID);
    assert_int_equal(l2_policy_of(&p, 6, line_of_space(space) | 1), ACCESS_UNSAID);
  }
  l2_policy_set(&p, 7, &(struct access_window){.addr = UINT64_MAX, .bytes = UINT64_MAX}, 0); /* no such memory */
  assert_int_equal(l2_policy_of(&p, 7, 0), ACCESS_UNSAID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_that_persist),
      cmocka_unit_test(lines_that_come_to_persist),
      cmocka_unit_test(fewer_ways_are_set_aside),
      cmocka_unit_test(lines_that_stream),
      cmocka_unit_test(lines_of_a_window),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
