/* Where pages of managed memory are (time/uvm/uvm_space.h), against what its header says of ranges, copies, places and room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "time/uvm/uvm_space.h"

enum { SOCKET = 3, BLOCK = 1 << UVM_BLOCK_BITS, PAGE = 1 << UVM_PAGE_BITS };
#define AT UINT64_C(0x400000000000)

static const struct page_set none;
static struct places *table[2]; /* as each GPU sees memory */

static void place(void *ctx, unsigned gpu, uint64_t addr, uint64_t bytes, int node)
{
  (void)ctx;
  places_set(table[gpu], addr, bytes, node);
}

static unsigned seen(unsigned gpu, uint64_t addr)
{
  return place_of(table[gpu], addr);
}

static struct page_set pages(unsigned first, unsigned n)
{
  struct page_set s = {0};
  page_set_add_range(&s, first, n);
  return s;
}

static int set_up(void **state)
{
  static struct uvm_space x;
  x = (struct uvm_space){.n_gpus = 1, .gpu = {{.room = 2}, {.room = 2, .node = 1}}, .place = place};
  x.gpu[0].reaches = 2, x.gpu[1].reaches = 1;
  table[0] = places_new();
  table[1] = places_new_beside(table[0]);
  *state = &x;
  return 0;
}

static int tear_down(void **state)
{
  struct uvm_space *x = *state;
  uvm_space_free(x);
  places_free(table[1]);
  places_free(table[0]);
  return 0;
}

static void ranges(void **state)
{
  struct uvm_space *x = *state;
  unsigned n;
  uint64_t base;
  uvm_space_add(x, AT + 8 * (uint64_t)BLOCK, 1, SOCKET);
  uvm_space_add(x, AT, BLOCK + 3 * PAGE, SOCKET); /* before it */
  assert_null(uvm_space_range(x, AT - 1));
  assert_null(uvm_space_range(x, AT + BLOCK + 3 * PAGE));
  const struct uvm_range *r = uvm_space_range(x, AT + BLOCK + 3 * PAGE - 1);
  assert_int_equal(r->addr, AT);
  assert_ptr_equal(uvm_range_block(r, AT + BLOCK + PAGE, &n, &base), &r->block[1]);
  assert_int_equal(n, 3);
  assert_int_equal(base, AT + BLOCK);
  assert_int_equal(seen(0, AT + BLOCK + 2 * PAGE), PLACE_FAULTS);
  uvm_space_remove(x, AT + PAGE); /* not its beginning */
  assert_non_null(uvm_space_range(x, AT));
  uvm_space_remove(x, AT);
  assert_null(uvm_space_range(x, AT));
  assert_int_equal(seen(0, AT), 0);
  assert_int_equal(uvm_space_range(x, AT + 8 * (uint64_t)BLOCK)->pages, 1);
}

/* Pages come, leave and come again: bytes that had made room count as thrashing, others do not. */
static void comes_and_leaves(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set four = pages(0, 4), two = pages(2, 2);
  uvm_space_add(x, AT, BLOCK, SOCKET);
  const struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_arrive(x, r, AT, 0, &four, &none);
  assert_int_equal(x->gpu[0].resident, 1);
  assert_int_equal(seen(0, AT + 3 * PAGE), 0);
  assert_int_equal(seen(0, AT + 4 * PAGE), PLACE_FAULTS);
  uvm_space_leave(x, r, AT, 0, &two);
  assert_int_equal(x->gpu[0].resident, 1);
  assert_int_equal(seen(0, AT + 2 * PAGE), PLACE_FAULTS);
  assert_true(page_set_has(&r->block[0].host, 3));
  uvm_space_arrive(x, r, AT, 0, &two, &none);
  assert_int_equal(x->gpu[0].stats.thrashed, 0);
  uvm_space_leave(x, r, AT, 0, &four);
  page_set_join(&r->block[0].gpu[0].left, &four);
  assert_int_equal(x->gpu[0].resident, 0);
  uvm_space_arrive(x, r, AT, 0, &two, &none);
  assert_int_equal(x->gpu[0].stats.thrashed, 2 * PAGE);
  assert_int_equal(x->gpu[0].resident, 1);
  uvm_space_leave(x, r, AT, 0, &two); /* the host wanted them: no room was made */
  uvm_space_arrive(x, r, AT, 0, &two, &none);
  assert_int_equal(x->gpu[0].stats.thrashed, 2 * PAGE);
  uvm_space_remove(x, AT);
  assert_int_equal(x->gpu[0].resident, 0);
}

/* Of a range that is mostly read, pages that the host has stay there, unless they come to be written. A write makes them one. */
static void copies_of_pages(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set host = pages(0, 3), come = pages(0, 4), written = pages(2, 1), one = pages(1, 1);
  uvm_space_add(x, AT, BLOCK, SOCKET);
  struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_advise(x, r, 0, r->pages, &(struct uvm_policy){.read_mostly = true, .prefers = UVM_NOWHERE});
  uvm_space_touch(x, r, AT, &host);
  uvm_space_arrive(x, r, AT, 0, &come, &written);
  assert_int_equal(x->gpu[0].stats.copied, 2 * PAGE);
  for (unsigned i = 0; i < 4; i++) assert_int_equal(seen(0, AT + i * PAGE), i < 2 ? PLACE_READS : 0);
  uvm_space_collapse(x, r, AT, 0, &one);
  uvm_space_collapse(x, r, AT, 0, &one); /* is one already */
  assert_int_equal(x->gpu[0].stats.collapsed, PAGE);
  assert_int_equal(seen(0, AT + PAGE), 0);
  assert_int_equal(seen(0, AT), PLACE_READS);
}

/* A range that is mapped is reached at the host, also what leaves later; no longer when it is unmapped. */
static void mapped(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set host = pages(0, 2), gpu = pages(2, 2);
  uvm_space_add(x, AT, BLOCK, SOCKET);
  struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_touch(x, r, AT, &host);
  uvm_space_arrive(x, r, AT, 0, &gpu, &none);
  assert_int_equal(seen(0, AT), PLACE_FAULTS);
  uvm_space_advise(x, r, 0, r->pages, &(struct uvm_policy){.prefers = UVM_NOWHERE, .at_host = 1});
  assert_int_equal(seen(0, AT + PAGE), SOCKET + 1);
  assert_int_equal(seen(0, AT + 2 * PAGE), 0);
  uvm_space_leave(x, r, AT, 0, &gpu);
  assert_int_equal(seen(0, AT + 2 * PAGE), SOCKET + 1);
  uvm_space_advise(x, r, 0, r->pages, &(struct uvm_policy){.prefers = UVM_NOWHERE});
  assert_int_equal(seen(0, AT + 2 * PAGE), PLACE_FAULTS);
}

/* Who came longest ago leaves; blocks that stay only when no other is there; never the one that wants room. */
static void who_leaves(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set one = pages(0, 1);
  const struct uvm_range *whose;
  uint64_t base;
  uvm_space_add(x, AT, 2 * BLOCK, SOCKET);
  uvm_space_add(x, AT + 4 * (uint64_t)BLOCK, BLOCK, SOCKET);
  struct uvm_range *stays = uvm_space_range(x, AT + 4 * (uint64_t)BLOCK);
  const struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_advise(x, stays, 0, 1, &(struct uvm_policy){.prefers = 0});
  assert_false(uvm_space_victim(x, 0, 0, &whose, &base));
  uvm_space_arrive(x, stays, stays->addr, 0, &one, &none);
  uvm_space_arrive(x, r, AT + BLOCK, 0, &one, &none);
  uvm_space_arrive(x, r, AT, 0, &one, &none);
  assert_true(uvm_space_victim(x, 0, 0, &whose, &base));
  assert_int_equal(base, AT + BLOCK);
  assert_ptr_equal(whose, r);
  assert_true(uvm_space_victim(x, 0, AT + BLOCK, &whose, &base));
  assert_int_equal(base, AT);
  uvm_space_leave(x, r, AT, 0, &one);
  uvm_space_leave(x, r, AT + BLOCK, 0, &one);
  assert_true(uvm_space_victim(x, 0, AT, &whose, &base));
  assert_ptr_equal(whose, stays);
  assert_false(uvm_space_victim(x, 0, stays->addr, &whose, &base));
}

static int two_gpus(void **state)
{
  set_up(state);
  ((struct uvm_space *)*state)->n_gpus = 2;
  return 0;
}

/* A page is on one GPU at a time, and whoever had it waits for it; copies are on both until one of them is written. */
static void between_gpus(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set four = pages(0, 4), two = pages(2, 2), one = pages(2, 1);
  uvm_space_add(x, AT, BLOCK, SOCKET);
  struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_arrive(x, r, AT, 0, &four, &none);
  assert_int_equal(seen(1, AT), PLACE_FAULTS);
  uvm_space_arrive(x, r, AT, 1, &two, &none);
  assert_int_equal(seen(0, AT + 2 * PAGE), PLACE_FAULTS);
  assert_int_equal(seen(1, AT + 2 * PAGE), 0);
  assert_int_equal(page_set_count(&r->block[0].gpu[0].there), 2);
  uvm_space_advise(x, r, 0, 4, &(struct uvm_policy){.read_mostly = true, .prefers = UVM_NOWHERE});
  uvm_space_arrive(x, r, AT, 0, &two, &none);
  assert_int_equal(seen(0, AT + 2 * PAGE), PLACE_READS);
  assert_int_equal(seen(1, AT + 2 * PAGE), PLACE_READS);
  uvm_space_leave(x, r, AT, 0, &one); /* the other one still has it: the host gets nothing */
  assert_false(page_set_has(&r->block[0].host, 2));
  assert_int_equal(seen(1, AT + 2 * PAGE), 0);
  uvm_space_collapse(x, r, AT, 1, &two);
  assert_int_equal(x->gpu[1].stats.collapsed, PAGE);
  assert_int_equal(seen(0, AT + 3 * PAGE), PLACE_FAULTS);
  assert_int_equal(seen(1, AT + 3 * PAGE), 0);
  uvm_space_leave(x, r, AT, 1, &two);
  assert_int_equal(x->gpu[1].resident, 0);
  assert_true(page_set_has(&r->block[0].host, 3));
}

/* Pages that a GPU reaches on another one: those of which it was said, wherever they go; those that it has touched,
 * until they move. Another part of the range has another policy. */
static void reached_on_another(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set all = pages(0, 8), last = pages(7, 1);
  struct page_set part;
  uint32_t cursor = 0;
  uvm_space_add(x, AT, BLOCK, SOCKET);
  struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_advise(x, r, 0, 4, &(struct uvm_policy){.prefers = UVM_NOWHERE, .at_host = 2, .at_peers = 2});
  assert_int_equal(r->n_spans, 2);
  assert_int_equal(uvm_range_part(r, AT, &cursor, &part)->at_peers, 2);
  assert_int_equal(page_set_count(&part), 4);
  assert_int_equal(uvm_range_part(r, AT, &cursor, &part)->at_peers, 0);
  assert_null(uvm_range_part(r, AT, &cursor, &part));
  uvm_space_arrive(x, r, AT, 0, &all, &none);
  assert_int_equal(seen(1, AT + 3 * PAGE), 0 + 1); /* node 0 */
  assert_int_equal(seen(1, AT + 4 * PAGE), PLACE_FAULTS);
  uvm_space_map(x, r, AT, 1, &last);
  assert_int_equal(seen(1, AT + 7 * PAGE), 0 + 1);
  uvm_space_leave(x, r, AT, 0, &all);
  assert_int_equal(seen(1, AT + 3 * PAGE), SOCKET + 1);
  assert_int_equal(seen(1, AT + 7 * PAGE), PLACE_FAULTS);
  uvm_space_advise(x, r, 0, 4, &(struct uvm_policy){.prefers = UVM_NOWHERE});
  assert_int_equal(r->n_spans, 1);
  assert_int_equal(seen(1, AT + 3 * PAGE), PLACE_FAULTS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(ranges, set_up, tear_down),
    cmocka_unit_test_setup_teardown(comes_and_leaves, set_up, tear_down),
    cmocka_unit_test_setup_teardown(copies_of_pages, set_up, tear_down),
    cmocka_unit_test_setup_teardown(mapped, set_up, tear_down),
    cmocka_unit_test_setup_teardown(who_leaves, set_up, tear_down),
    cmocka_unit_test_setup_teardown(between_gpus, two_gpus, tear_down),
    cmocka_unit_test_setup_teardown(reached_on_another, two_gpus, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
