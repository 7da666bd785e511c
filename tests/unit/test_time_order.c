/* Boxes that keep an order: groups of asynchronous copies, whose counters drop oldest first (PTX ISA, cp.async.wait_group: groups
 * complete in the order of their commits), image loads, whose results return in the order of the grants, and fences, which
 * wait for what issued before them (PTX ISA, causality order). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "time/sm/async_group.h"
#include "time/sm/fence_epochs.h"
#include "time/sm/image_queue.h"

enum { POOL = 8 };

static const struct inst copy = {.mem = {.space = MEM_GLOBAL, .op = MEM_LDGSTS}}, arrival = {.flags = INST_AFTER_LDGSTS};

static struct txn *issue(struct txn_pool *pool, struct async_groups *g, const struct inst *in, uint64_t at)
{
  struct txn *t = &pool->t[txn_take(pool)];
  t->issued = at;
  async_group_join(g, t, in);
  return t;
}

static void groups_drop_in_order(void **state)
{
  (void)state;
  struct arena a = {0};
  struct txn_pool pool = {0};
  struct async_groups g = ASYNC_GROUPS_NONE;
  txn_pool_init(&pool, &a, POOL);
  const struct txn *first = issue(&pool, &g, &copy, 1);
  assert_true(async_group_close(&g, 3));
  const struct txn *second = issue(&pool, &g, &copy, 2);
  assert_true(async_group_close(&g, 4));
  async_group_done(&g, second); /* the younger one is done first */
  assert_int_equal(async_group_dropped(&g), SB_NONE);
  async_group_done(&g, first);
  assert_int_equal(async_group_dropped(&g), 3);
  assert_int_equal(async_group_dropped(&g), 4);
  assert_int_equal(async_group_dropped(&g), SB_NONE);
  assert_false(async_group_close(&g, 5)); /* nothing is in flight */
  arena_free(&a);
}

/* An arrival waits for the copies before it, not for one that issued behind it. */
static void arrivals_wait_for_those_before(void **state)
{
  (void)state;
  struct arena a = {0};
  struct txn_pool pool = {0};
  struct async_groups g = ASYNC_GROUPS_NONE;
  txn_pool_init(&pool, &a, POOL);
  const struct txn *one = issue(&pool, &g, &copy, 1), *two = issue(&pool, &g, &copy, 2);
  const uint16_t waits = issue(&pool, &g, &arrival, 3)->id;
  const struct txn *behind = issue(&pool, &g, &copy, 4);
  const struct txn *done[] = {behind, two, one};
  for (unsigned i = 0; i < 3; i++) {
    uint16_t *at = &g.arrivals;
    async_group_done(&g, done[i]);
    assert_int_equal(async_group_arrival(&pool, &at, done[i]), i == 2 ? waits : TXN_NONE);
  }
  assert_int_equal(g.arrivals, TXN_NONE);
  arena_free(&a);
}

static void image_results_keep_their_order(void **state)
{
  (void)state;
  struct arena a = {0};
  struct txn_pool pool = {0};
  struct image_queue q = IMAGE_QUEUE_EMPTY;
  uint64_t at;
  txn_pool_init(&pool, &a, POOL);
  const uint16_t first = txn_take(&pool), second = txn_take(&pool);
  image_queue_granted(&q, &pool, first);
  image_queue_granted(&q, &pool, second);
  pool.t[second].filtered = 50;
  assert_int_equal(image_queue_result(&q, &pool, &at), TXN_NONE);
  pool.t[first].filtered = 60;
  assert_int_equal(image_queue_result(&q, &pool, &at), first);
  assert_int_equal(at, 60);
  assert_int_equal(image_queue_result(&q, &pool, &at), second);
  assert_int_equal(at, 61); /* one per cycle, behind the one before */
  assert_int_equal(image_queue_result(&q, &pool, &at), TXN_NONE);
  arena_free(&a);
}

/* Any order of issues, ends and fences, held against a list of all accesses: no fence ends before those that issued
 * before it, and each as soon as these have. */
static void fences_wait_for_those_before(void **state)
{
  (void)state;
  enum { STEPS = 20000, MOST = 200, FENCES = 64 /* a warp each */ };
  struct fence_epochs f = {0};
  struct { uint8_t epoch; unsigned issued; } out[MOST];
  struct { uint32_t epoch; unsigned issued; } fence[FENCES];
  unsigned n = 0, fences = 0, most = 0, x = 12345;
  for (unsigned step = 1; step < STEPS; step++) {
    x = x * 1664525 + 1013904223;
    const unsigned what = x >> 16 & 7, which = x >> 20;
    if (what < 3 && n < MOST) {
      out[n].issued = step;
      out[n++].epoch = fences_enter(&f);
    } else if (what < 6 && n) {
      const unsigned k = what == 3 ? 0 : which % n; /* the oldest one now and then */
      fences_leave(&f, out[k].epoch);
      for (unsigned i = k; i + 1 < n; i++) out[i] = out[i + 1];
      n--;
    } else if (fences < FENCES) {
      fence[fences].issued = step;
      fence[fences++].epoch = fences_begin(&f);
    }
    if (f.present - f.oldest > most) most = f.present - f.oldest;
    for (unsigned i = 0; i < fences; i++) {
      const bool before = n && out[0].issued < fence[i].issued; /* they lie in the order of their issue */
      const bool over = fences_over(&f, fence[i].epoch);
      assert_int_equal(over, !before);
      if (over) fence[i--] = fence[--fences];
    }
  }
  assert_true(f.present > 1000 && most > FENCES / 3 && most <= FENCES);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_drop_in_order),
      cmocka_unit_test(fences_wait_for_those_before),
      cmocka_unit_test(arrivals_wait_for_those_before),
      cmocka_unit_test(image_results_keep_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
