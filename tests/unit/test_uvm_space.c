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

static struct page_set pages(unsigned first, unsigned n)
{
  struct page_set s = {0};
  page_set_add_range(&s, first, n);
  return s;
}

static int set_up(void **state)
{
  static struct uvm_space x;
  x = (struct uvm_space){.places = places_new(), .socket = SOCKET, .room = 2};
  *state = &x;
  return 0;
}

static int tear_down(void **state)
{
  struct uvm_space *x = *state;
  uvm_space_free(x);
  places_free(x->places);
  return 0;
}

static void ranges(void **state)
{
  struct uvm_space *x = *state;
  unsigned n;
  uint64_t base;
  uvm_space_add(x, AT + 8 * (uint64_t)BLOCK, 1);
  uvm_space_add(x, AT, BLOCK + 3 * PAGE); /* before it */
  assert_null(uvm_space_range(x, AT - 1));
  assert_null(uvm_space_range(x, AT + BLOCK + 3 * PAGE));
  const struct uvm_range *r = uvm_space_range(x, AT + BLOCK + 3 * PAGE - 1);
  assert_int_equal(r->addr, AT);
  assert_ptr_equal(uvm_range_block(r, AT + BLOCK + PAGE, &n, &base), &r->block[1]);
  assert_int_equal(n, 3);
  assert_int_equal(base, AT + BLOCK);
  assert_int_equal(place_of(x->places, AT + BLOCK + 2 * PAGE), PLACE_FAULTS);
  uvm_space_remove(x, AT + PAGE); /* not its beginning */
  assert_non_null(uvm_space_range(x, AT));
  uvm_space_remove(x, AT);
  assert_null(uvm_space_range(x, AT));
  assert_int_equal(place_of(x->places, AT), 0);
  assert_int_equal(uvm_space_range(x, AT + 8 * (uint64_t)BLOCK)->pages, 1);
}

/* Pages come, leave and come again: bytes that had made room count as thrashing, others do not. */
static void comes_and_leaves(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set four = pages(0, 4), two = pages(2, 2);
  uvm_space_add(x, AT, BLOCK);
  const struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_arrive(x, r, AT, &four, &none);
  assert_int_equal(x->resident, 1);
  assert_int_equal(place_of(x->places, AT + 3 * PAGE), 0);
  assert_int_equal(place_of(x->places, AT + 4 * PAGE), PLACE_FAULTS);
  uvm_space_leave(x, r, AT, &two);
  assert_int_equal(x->resident, 1);
  assert_int_equal(place_of(x->places, AT + 2 * PAGE), PLACE_FAULTS);
  assert_true(page_set_has(&r->block[0].host, 3));
  uvm_space_arrive(x, r, AT, &two, &none);
  assert_int_equal(x->stats.thrashed, 0);
  uvm_space_leave(x, r, AT, &four);
  page_set_join(&r->block[0].left, &four);
  assert_int_equal(x->resident, 0);
  uvm_space_arrive(x, r, AT, &two, &none);
  assert_int_equal(x->stats.thrashed, 2 * PAGE);
  assert_int_equal(x->resident, 1);
  uvm_space_leave(x, r, AT, &two); /* the host wanted them: no room was made */
  uvm_space_arrive(x, r, AT, &two, &none);
  assert_int_equal(x->stats.thrashed, 2 * PAGE);
  uvm_space_remove(x, AT);
  assert_int_equal(x->resident, 0);
}

/* Of a range that is mostly read, pages that the host has stay there, unless they come to be written. A write makes them one. */
static void copies_of_pages(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set host = pages(0, 3), come = pages(0, 4), written = pages(2, 1), one = pages(1, 1);
  uvm_space_add(x, AT, BLOCK);
  struct uvm_range *r = uvm_space_range(x, AT);
  r->read_mostly = true;
  uvm_space_touch(x, r, AT, &host);
  uvm_space_arrive(x, r, AT, &come, &written);
  assert_int_equal(x->stats.copied, 2 * PAGE);
  for (unsigned i = 0; i < 4; i++) assert_int_equal(place_of(x->places, AT + i * PAGE), i < 2 ? PLACE_READS : 0);
  uvm_space_collapse(x, r, AT, &one);
  uvm_space_collapse(x, r, AT, &one); /* is one already */
  assert_int_equal(x->stats.collapsed, PAGE);
  assert_int_equal(place_of(x->places, AT + PAGE), 0);
  assert_int_equal(place_of(x->places, AT), PLACE_READS);
}

/* A range that is mapped is reached at the host, also what leaves later; no longer when it is unmapped. */
static void mapped(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set host = pages(0, 2), gpu = pages(2, 2);
  uvm_space_add(x, AT, BLOCK);
  struct uvm_range *r = uvm_space_range(x, AT);
  uvm_space_touch(x, r, AT, &host);
  uvm_space_arrive(x, r, AT, &gpu, &none);
  assert_int_equal(place_of(x->places, AT), PLACE_FAULTS);
  uvm_space_map(x, r, true);
  assert_int_equal(place_of(x->places, AT + PAGE), SOCKET + 1);
  assert_int_equal(place_of(x->places, AT + 2 * PAGE), 0);
  uvm_space_leave(x, r, AT, &gpu);
  assert_int_equal(place_of(x->places, AT + 2 * PAGE), SOCKET + 1);
  uvm_space_map(x, r, false);
  assert_int_equal(place_of(x->places, AT + 2 * PAGE), PLACE_FAULTS);
}

/* Who came longest ago leaves; blocks that stay only when no other is there; never the one that wants room. */
static void who_leaves(void **state)
{
  struct uvm_space *x = *state;
  const struct page_set one = pages(0, 1);
  const struct uvm_range *whose;
  uint64_t base;
  uvm_space_add(x, AT, 2 * BLOCK);
  uvm_space_add(x, AT + 4 * (uint64_t)BLOCK, BLOCK);
  struct uvm_range *stays = uvm_space_range(x, AT + 4 * (uint64_t)BLOCK);
  const struct uvm_range *r = uvm_space_range(x, AT);
  stays->stays = true;
  assert_false(uvm_space_victim(x, 0, &whose, &base));
  uvm_space_arrive(x, stays, stays->addr, &one, &none);
  uvm_space_arrive(x, r, AT + BLOCK, &one, &none);
  uvm_space_arrive(x, r, AT, &one, &none);
  assert_true(uvm_space_victim(x, 0, &whose, &base));
  assert_int_equal(base, AT + BLOCK);
  assert_ptr_equal(whose, r);
  assert_true(uvm_space_victim(x, AT + BLOCK, &whose, &base));
  assert_int_equal(base, AT);
  uvm_space_leave(x, r, AT, &one);
  uvm_space_leave(x, r, AT + BLOCK, &one);
  assert_true(uvm_space_victim(x, AT, &whose, &base));
  assert_ptr_equal(whose, stays);
  assert_false(uvm_space_victim(x, stays->addr, &whose, &base));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(ranges, set_up, tear_down),
    cmocka_unit_test_setup_teardown(comes_and_leaves, set_up, tear_down),
    cmocka_unit_test_setup_teardown(copies_of_pages, set_up, tear_down),
    cmocka_unit_test_setup_teardown(mapped, set_up, tear_down),
    cmocka_unit_test_setup_teardown(who_leaves, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
