/* The driver's density tree (time/uvm/density_tree.h): what moves with the pages of a block that faulted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "time/uvm/density_tree.h"

static const struct page_set none;

enum { DRIVER = 51, PAGES = UVM_BLOCK_PAGES, LEAF = UVM_LEAF_PAGES };

/* One fault after the other, each with all that it moves; how many there were. */
static unsigned walk(unsigned n_pages, unsigned step, unsigned threshold, struct page_set *there)
{
  unsigned faults = 0;
  *there = (struct page_set){0};
  for (unsigned page = 0; page < n_pages; page += step) {
    struct page_set fault = {0};
    if (page_set_has(there, page)) continue;
    page_set_add(&fault, page);
    const struct page_set moved = density_tree_grow(there, &fault, &none, n_pages, threshold);
    assert_true(page_set_has(&moved, page));
    const struct page_set again = page_set_both(&moved, there);
    assert_true(page_set_empty(&again));
    page_set_join(there, &moved);
    faults++;
  }
  return faults;
}

/* Behind 1, 2, 3 leaves more than 51 % of 2, 2, 4 leaves are there, then of 8, 16 and 32: six faults for a block. */
static void in_order(void **state)
{
  struct page_set there;
  (void)state;
  assert_int_equal(walk(PAGES, 1, DRIVER, &there), 6);
  assert_int_equal(page_set_count(&there), PAGES);
}

/* Without the prefetcher each page is a fault. At 100 % nothing but leaves moves. */
static void thresholds(void **state)
{
  struct page_set there;
  (void)state;
  assert_int_equal(walk(PAGES, 1, 0, &there), PAGES);
  assert_int_equal(walk(PAGES, 1, 100, &there), PAGES / LEAF);
  assert_int_equal(walk(PAGES, 3 * LEAF, 0, &there), (PAGES + 3 * LEAF - 1) / (3 * LEAF));
}

/* Every second leaf: half of each subtree is never more than 51 %. Every fourth neither. */
static void strides(void **state)
{
  struct page_set there;
  (void)state;
  assert_int_equal(walk(PAGES, 2 * LEAF, 50, &there), PAGES / (2 * LEAF)); /* half is not more than half */
  for (unsigned step = 2 * LEAF; step < PAGES; step *= 2) {
    assert_int_equal(walk(PAGES, step, DRIVER, &there), PAGES / step);
    assert_int_equal(page_set_count(&there), PAGES / step * LEAF);
  }
}

/* A block of 40 pages has leaves of 16, 16 and 8, and subtrees of 32 and 40. */
static void short_block(void **state)
{
  struct page_set there = {0}, fault = {0};
  (void)state;
  page_set_add(&fault, 39);
  struct page_set moved = density_tree_grow(&there, &fault, &none, 40, DRIVER);
  assert_int_equal(page_set_count(&moved), 8);
  assert_true(page_set_has(&moved, 32));
  page_set_join(&there, &moved);
  fault = (struct page_set){0};
  page_set_add(&fault, 3); /* 24 of 40 pages are 60 % */
  moved = density_tree_grow(&there, &fault, &none, 40, DRIVER);
  assert_int_equal(page_set_count(&moved), 32);
}

/* Several faults of a batch count together: 9 of 16 leaves bring all 16. */
static void together(void **state)
{
  struct page_set there = {0}, fault = {0};
  (void)state;
  for (unsigned i = 0; i < 9; i++) page_set_add(&fault, i * LEAF + i);
  const struct page_set moved = density_tree_grow(&there, &fault, &none, PAGES, DRIVER);
  assert_int_equal(page_set_count(&moved), 16 * LEAF);
}

/* A page that thrashes comes alone; others of its leaf come by the subtrees below it, and not along with it. */
static void thrashing(void **state)
{
  struct page_set there = {0}, fault = {0}, still = {0};
  (void)state;
  page_set_add(&still, 5);
  page_set_add(&still, 40);
  page_set_add(&fault, 5);
  struct page_set moved = density_tree_grow(&there, &fault, &still, PAGES, DRIVER);
  assert_int_equal(page_set_count(&moved), 1);
  page_set_add(&fault, 4); /* two of 4 and 5, half of 4 to 7 */
  moved = density_tree_grow(&there, &fault, &still, PAGES, DRIVER);
  assert_int_equal(page_set_count(&moved), 2);
  page_set_add(&fault, 7); /* three of four */
  moved = density_tree_grow(&there, &fault, &still, PAGES, DRIVER);
  assert_int_equal(page_set_count(&moved), 4);
  page_set_add_range(&there, 8, 130); /* with 4, 5, 7 and without 40, 132 of 256 pages are 51.6 % */
  page_set_remove(&there, &still);
  moved = density_tree_grow(&there, &fault, &still, PAGES, DRIVER);
  assert_false(page_set_has(&moved, 40));
  assert_true(page_set_has(&moved, 255));
  assert_false(page_set_has(&moved, 256));
}

/* Runs and counts of sets. */
static void sets(void **state)
{
  struct page_set s = {0};
  unsigned first = 0;
  (void)state;
  page_set_add_range(&s, 60, 10);
  page_set_add(&s, 511);
  assert_int_equal(page_set_run(&s, &first), 10);
  assert_int_equal(first, 60);
  first += 10;
  assert_int_equal(page_set_run(&s, &first), 1);
  assert_int_equal(first++, 511);
  assert_int_equal(page_set_run(&s, &first), 0);
  assert_int_equal(page_set_count(&s), 11);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_order),    cmocka_unit_test(thresholds), cmocka_unit_test(strides),
      cmocka_unit_test(short_block), cmocka_unit_test(together),   cmocka_unit_test(sets),
      cmocka_unit_test(thrashing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
