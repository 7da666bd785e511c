/* Sampling of launches: which are timed, what is said of the others. Expected values follow from the rules in sampling.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/core/sampling.h"

static const struct sample_key key = {.kernel = "k", .grid = {4, 1, 1}, .block = {64, 1, 1}};

/* The next launch of the group, with so much work; true: it was timed. */
static bool launch(struct sample_group *g, uint64_t first, uint64_t insts, uint64_t cycles)
{
  bool timed = sampling_next(g, first);
  if (timed) sampling_add(g, insts, cycles);
  else sampling_guess(g, insts);
  return timed;
}

static void written(const struct sample_group *list, char *text, size_t size)
{
  FILE *f = fmemopen(text, size, "w");
  sampling_write(f, list);
  fclose(f);
}

/* Launches 1, 2, 4, 8 are timed and equal; 3, 5, 6, 7 do not get an interval of nothing. */
static void equal_launches_leave_an_interval(void **state)
{
  struct sample_group *list = NULL, *g = sampling_group(&list, &key);
  char text[1000];
  (void)state;
  launch(g, 1, 1000, 500); /* cold caches: 40 more */
  for (int i = 2; i <= 8; i++) launch(g, 1, 1000, 460);
  assert_int_equal(g->timed, 4);
  assert_true(sampling_error(g) == 40);
  written(list, text, sizeof text);
  assert_null(strstr(text, "+- 0 "));
  assert_non_null(strstr(text, "total 3720 +- 40 (1.08 %)")); /* 500 + 7 x 460 */
  sampling_free(list);
}

/* Launches 2, 3, 4 and 8 spread: variance 800 / 3 around 460. The total of three others has the half-width
 * t sqrt(v (u u / n + u)), with t of 3 degrees of freedom at 95 % (3.182), u = 3 and n = 4. */
static void a_spread_widens(void **state)
{
  static const uint64_t cycles[] = {470, 460, 480, 440, 999, 999, 999, 460};
  struct sample_group *list = NULL, *g = sampling_group(&list, &key);
  (void)state;
  for (unsigned i = 0; i < 8; i++) assert_int_equal(launch(g, 3, 1000, cycles[i]), i < 4 || i == 7);
  assert_true(g->sums.n == 4 && g->sums.cycles == 460);
  const double want = 3.182 * sqrt(800.0 / 3 * (3.0 * 3 / 4 + 3));
  if (fabs(sampling_error(g) - want) > 0.001 * want) fail_msg("%g, not %g", sampling_error(g), want);
  assert_true(fabs(sampling_total(g) - (470 + 460 + 480 + 440 + 460 + 3 * 460)) < 1e-6);
  sampling_free(list);
}

/* Without cold caches, a cycle for each of the four. */
static void a_cycle_for_each(void **state)
{
  struct sample_group *list = NULL, *g = sampling_group(&list, &key);
  (void)state;
  for (int i = 1; i <= 8; i++) launch(g, 1, 1000, 460);
  assert_true(sampling_error(g) == 4);
  sampling_free(list);
}

/* Launch 5 executes eight times as much as all before: nothing is known of it, and the next two are timed. */
static void more_work_is_timed(void **state)
{
  struct sample_group *list = NULL, *g = sampling_group(&list, &key);
  char text[1000];
  (void)state;
  for (int i = 1; i <= 4; i++) assert_true(launch(g, 4, 1000, 11205));
  assert_false(launch(g, 4, 8000, 85455));
  assert_true(sampling_error(g) < 0);
  written(list, text, sizeof text);
  assert_non_null(strstr(text, "error unknown: the timed ones executed less, or more, than others"));
  assert_non_null(strstr(text, "interval not known"));
  assert_null(strstr(text, "+-"));
  assert_true(launch(g, 4, 8000, 85455));
  assert_true(launch(g, 4, 8000, 85455));
  assert_true(launch(g, 4, 8000, 85455)); /* the eighth */
  for (int i = 9; i <= 12; i++) assert_false(launch(g, 4, i % 2 ? 1000 : 8000, i % 2 ? 11205 : 85455));
  /* 6 of 1000 and 6 of 8000 in all; the line goes through both. */
  assert_true(sampling_error(g) > 0);
  double all = 6 * 11205.0 + 6 * 85455.0, total = sampling_total(g);
  assert_true(total > all - sampling_error(g) && total < all + sampling_error(g));
  assert_true(sampling_error(g) < 0.01 * all);
  sampling_free(list);
}

/* Within a twentieth it is the same work. */
static void nearly_the_same_work(void **state)
{
  struct sample_group *list = NULL, *g = sampling_group(&list, &key);
  (void)state;
  for (int i = 1; i <= 4; i++) launch(g, 4, 1000, 500);
  assert_false(launch(g, 4, 1040, 500));
  assert_false(launch(g, 4, 960, 500));
  assert_true(sampling_error(g) > 0);
  assert_false(launch(g, 4, 1060, 500));
  assert_true(sampling_error(g) < 0);
  sampling_free(list);
}

static void one_sample_knows_no_interval(void **state)
{
  struct sample_group *list = NULL, *g = sampling_group(&list, &key);
  char text[1000];
  (void)state;
  for (int i = 1; i <= 3; i++) launch(g, 1, 1000, 500);
  assert_true(sampling_error(g) < 0);
  written(list, text, sizeof text);
  assert_non_null(strstr(text, "too few were timed"));
  sampling_free(list);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_launches_leave_an_interval), cmocka_unit_test(a_cycle_for_each), cmocka_unit_test(a_spread_widens),
    cmocka_unit_test(more_work_is_timed), cmocka_unit_test(nearly_the_same_work),
    cmocka_unit_test(one_sample_knows_no_interval),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
