/* Arrays whose touched parts are cleared and kept: zero at each beginning, the same memory, back to the host when it
 * is too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/kept_array.h"

enum { PARTS = 200, PART = 384, AT_ONCE = 1 << 20, IN_ALL = 64 << 20 };

static void write_part(struct kept_array *k, size_t i, size_t bytes)
{
  kept_touch(k, i);
  memset(k->data + i * k->part, 0xa5, bytes);
}

static void assert_zero(const struct kept_array *k)
{
  for (size_t i = 0; i < k->n * k->part; i++) assert_int_equal(k->data[i], 0);
  assert_int_equal(kept_next(k, 0), k->n);
}

static void test_zero_again(void **state)
{
  (void)state;
  struct kept_array k = {0};
  const unsigned char *data = kept_begin(&k, PARTS, PART);
  assert_int_equal((uintptr_t)data % 128, 0);
  assert_zero(&k);
  static const size_t part[] = {0, 1, 63, 64, 127, PARTS - 1};
  for (unsigned i = 0; i < sizeof part / sizeof *part; i++) write_part(&k, part[i], PART);
  kept_end(&k, PART);
  /* Parts of another size lie elsewhere. */
  assert_ptr_equal(kept_begin(&k, 5 * PARTS, PART / 5), data);
  assert_zero(&k);
  kept_end(&k, 0);
  kept_free(&k);
}

static void test_head_alone(void **state)
{
  (void)state;
  struct kept_array k = {0};
  (void)kept_begin(&k, PARTS, PART);
  write_part(&k, 7, 100);
  k.data[7 * PART + 100] = 1; /* against the rule, to see what is cleared */
  kept_end(&k, 100);
  const unsigned char *data = kept_begin(&k, PARTS, PART);
  assert_int_equal(data[7 * PART + 99], 0);
  assert_int_equal(data[7 * PART + 100], 1);
  kept_free(&k);
}

static void test_touched_parts_in_order(void **state)
{
  (void)state;
  struct kept_array k = {0};
  (void)kept_begin(&k, PARTS, PART);
  static const size_t part[] = {3, 64, 65, 191, 199};
  for (unsigned i = 5; i-- > 0;) kept_touch(&k, part[i]);
  size_t at = 0;
  for (unsigned i = 0; i < 5; i++, at++) assert_int_equal(at = kept_next(&k, at), part[i]);
  assert_int_equal(kept_next(&k, at), PARTS);
  kept_free(&k);
}

static void test_grows(void **state)
{
  (void)state;
  struct kept_array k = {0};
  (void)kept_begin(&k, 1, PART);
  write_part(&k, 0, PART);
  kept_end(&k, PART);
  (void)kept_begin(&k, 100 * PARTS, PART); /* more bytes, and more bits */
  assert_zero(&k);
  write_part(&k, 100 * PARTS - 1, PART);
  kept_end(&k, PART);
  (void)kept_begin(&k, 100 * PARTS, PART);
  assert_zero(&k);
  kept_free(&k);
}

/* It has no memory between a use that touched much and the next. */
static void test_much_goes_back(void **state)
{
  (void)state;
  struct kept_array k = {0};
  (void)kept_begin(&k, 2, AT_ONCE);
  write_part(&k, 0, AT_ONCE);
  kept_end(&k, AT_ONCE);
  assert_non_null(k.data); /* as much as is cleared at once */
  (void)kept_begin(&k, 2, AT_ONCE);
  write_part(&k, 0, AT_ONCE);
  write_part(&k, 1, AT_ONCE);
  kept_end(&k, AT_ONCE);
  assert_null(k.data);
  assert_null(k.arena.head);
  (void)kept_begin(&k, 2, AT_ONCE);
  assert_zero(&k);
  kept_free(&k);
}

static void test_often_goes_back(void **state)
{
  (void)state;
  struct kept_array k = {0};
  for (unsigned i = 0; i < IN_ALL / AT_ONCE; i++) {
    (void)kept_begin(&k, 1, AT_ONCE);
    kept_touch(&k, 0);
    kept_end(&k, AT_ONCE);
    assert_non_null(k.data);
  }
  (void)kept_begin(&k, 1, AT_ONCE);
  kept_touch(&k, 0);
  kept_end(&k, AT_ONCE);
  assert_null(k.data);
  kept_free(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_zero_again),     cmocka_unit_test(test_head_alone),
      cmocka_unit_test(test_touched_parts_in_order), cmocka_unit_test(test_grows),
      cmocka_unit_test(test_much_goes_back), cmocka_unit_test(test_often_goes_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
