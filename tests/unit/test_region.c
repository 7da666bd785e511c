/* The region of a run that can be saved (cli/region.h): blocks and pages against what malloc, mmap and their kin
 * promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/region.h"

enum { BLOCKS = 200, ROUNDS = 4000, MIB = 1 << 20 };

static int set_up(void **state)
{
  struct err e = {""};
  (void)state;
  return region_new(&e) ? 0 : -1;
}

static size_t random_size(void)
{
  const size_t scale[] = {1, 40, 300, 5000, 100000, 3 * MIB};
  return (size_t)rand() % (scale[rand() % 6] + 1);
}

struct owned {
  unsigned char *at, mark;
  size_t bytes;
};

static void check(const struct owned *o, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++)
    if (o->at[i] != o->mark) fail_msg("byte %zu of %zu is another block's", i, o->bytes);
}

static void mark(struct owned *o, size_t bytes, unsigned char byte)
{
  o->bytes = bytes;
  o->mark = byte;
  memset(o->at, byte, bytes);
}

static void replace(struct owned *o, unsigned round)
{
  const size_t bytes = random_size(), align = (size_t)1 << rand() % 14;
  check(o, o->bytes);
  if (round % 3 == 0 && o->at) { /* what both sizes have is kept */
    o->at = region_resize(o->at, bytes);
    check(o, bytes < o->bytes ? bytes : o->bytes);
  } else {
    const bool zeroed = round % 3 == 1;
    if (o->at) region_give(o->at);
    o->at = zeroed ? region_take(bytes, true) : region_take_aligned(align, bytes);
    if (!zeroed) assert_int_equal((uintptr_t)o->at % align, 0);
    for (size_t i = 0; zeroed && i < bytes; i++) assert_int_equal(o->at[i], 0);
  }
  assert_int_equal((uintptr_t)o->at % 16, 0);
  assert_true(region_has(o->at) && region_has(o->at + bytes));
  mark(o, bytes, (unsigned char)(round | 1));
}

/* Every block keeps its bytes, whatever is taken, resized and given back beside it. */
static void blocks_are_apart(void **state)
{
  static struct owned o[BLOCKS];
  (void)state;
  srand(7);
  for (unsigned round = 0; round < ROUNDS; round++) replace(&o[rand() % BLOCKS], round);
  for (unsigned i = 0; i < BLOCKS; i++) {
    check(&o[i], o[i].bytes);
    if (o[i].at) region_give(o[i].at);
  }
}

/* What was given back is taken again: the region does not grow in a loop. */
static void memory_is_used_again(void **state)
{
  (void)state;
  for (size_t bytes = 1; bytes <= 8 * MIB; bytes *= 3) {
    region_give(region_take(bytes, false));
    region_give(region_take_aligned(4096, bytes));
    const uintptr_t end = region_end();
    for (unsigned i = 0; i < 1000; i++) {
      region_give(region_take(bytes, false));
      region_give(region_take_aligned(4096, bytes));
    }
    assert_true(region_end() - end <= MIB); /* a chunk that was nearly full may be followed by another */
  }
}

/* Pages are zeros, also those that somebody had before; a part of a mapping can go. */
static void pages_are_zeros(void **state)
{
  enum { PAGES = 8 };
  (void)state;
  for (unsigned round = 0; round < 50; round++) {
    unsigned char *p = region_map(PAGES * REGION_PAGE - 1);
    assert_int_equal((uintptr_t)p % REGION_PAGE, 0);
    for (unsigned i = 0; i < PAGES * REGION_PAGE; i++)
      if (p[i]) fail_msg("round %u, byte %u", round, i);
    memset(p, 0xa5, PAGES * REGION_PAGE);
    region_unmap(p + REGION_PAGE, 2 * REGION_PAGE);
    assert_int_equal(p[REGION_PAGE - 1], 0xa5);
    assert_int_equal(p[3 * REGION_PAGE], 0xa5);
    region_unmap(p, REGION_PAGE);
    region_unmap(p + 3 * REGION_PAGE, (PAGES - 3) * REGION_PAGE);
  }
}

static bool is_noted(uintptr_t at)
{
  const struct region_range *r;
  for (unsigned i = 0; (r = region_noted(i)); i++)
    if (at - r->at < r->bytes) return true;
  return false;
}

/* Mappings elsewhere are known by their whole pages, until they are given back. */
static void mappings_elsewhere(void **state)
{
  char *const at = (char *)(uintptr_t)0x400000000000;
  (void)state;
  region_note(at, 100);
  region_note(at + 4 * REGION_PAGE, 2 * REGION_PAGE);
  region_note(at + 8 * REGION_PAGE, REGION_PAGE);
  assert_true(is_noted((uintptr_t)at + REGION_PAGE - 1));
  assert_false(is_noted((uintptr_t)at + REGION_PAGE));
  region_forget(at, 6 * REGION_PAGE); /* two at once */
  assert_false(is_noted((uintptr_t)at) || is_noted((uintptr_t)at + 4 * REGION_PAGE));
  assert_true(is_noted((uintptr_t)at + 8 * REGION_PAGE));
  region_forget(at + 8 * REGION_PAGE, 1);
  assert_null(region_noted(0));
  region_note(at, 5 * REGION_PAGE);
  region_forget(at + 2 * REGION_PAGE, REGION_PAGE); /* out of the middle */
  for (unsigned i = 0; i < 5; i++) assert_int_equal(is_noted((uintptr_t)at + i * REGION_PAGE), i != 2);
  region_note(at + REGION_PAGE, 3 * REGION_PAGE); /* over both of them, as MAP_FIXED does: each page is noted once */
  size_t bytes = 0;
  const struct region_range *r;
  for (unsigned i = 0; (r = region_noted(i)); i++) bytes += r->bytes;
  assert_int_equal(bytes, 5 * REGION_PAGE);
  region_forget(at, 5 * REGION_PAGE);
  assert_null(region_noted(0));
  assert_false(region_is_shared());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_apart),
      cmocka_unit_test(memory_is_used_again),
      cmocka_unit_test(pages_are_zeros),
      cmocka_unit_test(mappings_elsewhere),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
