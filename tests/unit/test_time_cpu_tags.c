/* Tags of a core's small memories: what is there, which goes, and that clearing leaves none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "time/cpu/cpu_tags.h"

enum { SETS = 4, WAYS = 3 };

/* Of a set the one that was used longest ago goes; other sets keep theirs. */
static void least_recently_used(void **state)
{
  struct arena arena = {0};
  struct cpu_tags t;
  (void)state;
  cpu_tags_init(&t, SETS, WAYS, &arena);
  for (uint64_t i = 0; i < SETS * WAYS; i++) {
    assert_false(cpu_tags_find(&t, i));
    cpu_tags_fill(&t, i);
  }
  assert_true(cpu_tags_find(&t, 0)); /* 4 is the oldest of its set now */
  cpu_tags_fill(&t, SETS * WAYS);
  assert_false(cpu_tags_find(&t, SETS));
  for (uint64_t i = 0; i <= SETS * WAYS; i++) assert_int_equal(cpu_tags_find(&t, i), i != SETS);
  arena_free(&arena);
}

static void cleared(void **state)
{
  struct arena arena = {0};
  struct cpu_tags t;
  (void)state;
  cpu_tags_init(&t, SETS, WAYS, &arena);
  for (uint64_t i = 0; i < SETS * WAYS; i++) cpu_tags_fill(&t, i);
  cpu_tags_clear(&t);
  for (uint64_t i = 0; i < SETS * WAYS; i++) assert_false(cpu_tags_find(&t, i));
  arena_free(&arena);
}

static void no_ways(void **state)
{
  struct arena arena = {0};
  struct cpu_tags t;
  (void)state;
  cpu_tags_init(&t, SETS, 0, &arena);
  cpu_tags_fill(&t, 7);
  assert_false(cpu_tags_find(&t, 7));
  arena_free(&arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(least_recently_used), cmocka_unit_test(cleared),
                                     cmocka_unit_test(no_ways)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
