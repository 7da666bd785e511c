/* Several processes with one GPU in turns: when each one's kernels run and end, by formulas of slices and switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/time_slices.h"

enum { SLICE = 1000, STATE = 30 };

static const struct slice_hello hello = {SLICE, STATE};

/* A process with one kernel that needs the GPU for `work` from `now` on, and looks up each `step`. */
struct process {
  int user;
  uint64_t now, work, step, end;
};

static struct process come(struct time_slices *t, uint64_t order, uint64_t now, uint64_t work, uint64_t step)
{
  struct process p = {.user = time_slices_enter(t, &hello, order), .now = now, .work = work, .step = step};
  assert_true(p.user >= 0);
  return p;
}

static void ask(struct time_slices *t, struct process *p)
{
  const struct slice_ask a = {.now = p->now, .until = p->step ? p->now + p->step : UINT64_MAX};
  assert_true(time_slices_ask(t, p->user, &a));
}

static void over(struct time_slices *t, struct process *p)
{
  const struct slice_ask a = {.now = p->now, .until = p->now, .over = true};
  p->end = p->now;
  assert_true(time_slices_ask(t, p->user, &a));
}

/* What it does with an answer: it runs, and asks again or is done, or stands. */
static void take(struct time_slices *t, struct process *p, const struct slice_answer *a)
{
  assert_true(a->until > p->now);
  if (p->step) assert_true(a->until <= p->now + p->step);
  if (a->run && p->work <= a->until - p->now) {
    p->now += p->work;
    over(t, p);
    return;
  }
  if (a->run) p->work -= a->until - p->now;
  p->now = a->until;
  ask(t, p);
}

/* All ask before the first is answered. */
static void run(struct time_slices *t, struct process *p, unsigned n)
{
  struct slice_answer a;
  for (unsigned i = 0; i < n; i++) ask(t, &p[i]);
  for (int user; (user = time_slices_answer(t, &a)) != TIME_SLICES_NOBODY;)
    for (unsigned i = 0; i < n; i++)
      if (p[i].user == user) take(t, &p[i], &a);
}

static void test_alone(void **state)
{
  (void)state;
  struct time_slices t;
  time_slices_init(&t);
  struct process p = come(&t, 1, 70, 5 * SLICE + 1, 0);
  run(&t, &p, 1);
  assert_int_equal(p.end, 70 + 5 * SLICE + 1); /* nothing is switched */
  assert_int_equal(t.slices, 6);
}

/* Two kernels of 2.5 slices, which begin together: the first runs in slices 1, 3 and 5 of all. A switch from one that is
 * not done saves it, and restores the next one when that was stopped before. */
static void two(uint64_t step)
{
  struct time_slices t;
  time_slices_init(&t);
  struct process p[2] = {come(&t, 7, 0, SLICE * 5 / 2, step), come(&t, 8, 0, SLICE * 5 / 2, step)};
  run(&t, p, 2);
  const uint64_t switches = STATE + 3 * 2 * STATE;
  assert_int_equal(p[0].end, SLICE * 9 / 2 + switches);
  assert_int_equal(p[1].end, SLICE * 5 + switches + STATE); /* whom the end of the first one needs not save */
}

static void test_two(void **state)
{
  (void)state;
  two(0);
  two(7); /* answers of small steps are the same */
  two(SLICE * 3);
}

/* A short kernel gives the GPU back; the other one has waited, nothing is saved. */
static void test_short_ones(void **state)
{
  (void)state;
  struct time_slices t;
  time_slices_init(&t);
  struct process p[3] = {come(&t, 1, 10, 100, 0), come(&t, 2, 20, 200, 0), come(&t, 3, 5, 50, 0)};
  run(&t, p, 3);
  assert_int_equal(p[2].end, 55);  /* the first to ask */
  assert_int_equal(p[0].end, 155);
  assert_int_equal(p[1].end, 355);
}

/* Three long ones go round, in the order in which they came to wait. */
static void test_round(void **state)
{
  (void)state;
  struct time_slices t;
  time_slices_init(&t);
  struct process p[3] = {come(&t, 3, 0, SLICE * 2, 0), come(&t, 2, 0, SLICE * 2, 0), come(&t, 1, 0, SLICE * 2, 0)};
  run(&t, p, 3);
  assert_int_equal(p[2].end, 4 * SLICE + 3 * STATE + STATE);
  assert_int_equal(p[1].end, 5 * SLICE + 3 * STATE + 2 * STATE);
  assert_int_equal(p[0].end, 6 * SLICE + 3 * STATE + 3 * STATE);
}

/* One that comes late waits for the end of the slice; one that leaves in the middle frees the GPU. */
static void test_late_and_gone(void **state)
{
  (void)state;
  struct time_slices t;
  struct slice_answer a;
  time_slices_init(&t);
  struct process p = come(&t, 1, 0, 10 * SLICE, 0), q = come(&t, 2, 300, SLICE, 0);
  ask(&t, &p);
  assert_int_equal(time_slices_answer(&t, &a), p.user);
  assert_true(a.run && a.until == SLICE);
  p.now = 300;
  ask(&t, &p);
  ask(&t, &q);
  assert_int_equal(time_slices_answer(&t, &a), p.user); /* its slice, though q asks at the same time */
  assert_true(a.run && a.until == SLICE);
  time_slices_leave(&t, p.user);
  assert_int_equal(time_slices_answer(&t, &a), q.user);
  assert_true(a.run && a.until == 300 + SLICE);
}

/* Kernels of a context that were cut short: what it has asked gets no answer. */
static void test_asked_in_vain(void **state)
{
  (void)state;
  struct time_slices t;
  struct slice_answer a;
  time_slices_init(&t);
  struct process p = come(&t, 1, 0, SLICE, 0), q = come(&t, 2, 10, SLICE, 0);
  ask(&t, &p);
  ask(&t, &q);
  over(&t, &p);
  assert_int_equal(time_slices_answer(&t, &a), q.user);
  assert_true(a.run && a.until == 10 + SLICE);
  assert_int_equal(time_slices_answer(&t, &a), TIME_SLICES_NOBODY);
}

static void test_nonsense(void **state)
{
  (void)state;
  struct time_slices t;
  time_slices_init(&t);
  const struct slice_hello none = {0, 0};
  assert_int_equal(time_slices_enter(&t, &none, 1), TIME_SLICES_NOBODY);
  const int user = time_slices_enter(&t, &hello, 1);
  const struct slice_ask back = {.now = 5, .until = 5};
  assert_false(time_slices_ask(&t, user, &back));
  for (int i = 1; i < TIME_SLICES_MAX; i++) assert_true(time_slices_enter(&t, &hello, 2) >= 0);
  assert_int_equal(time_slices_enter(&t, &hello, 2), TIME_SLICES_NOBODY);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_alone),         cmocka_unit_test(test_two),      cmocka_unit_test(test_short_ones),
    cmocka_unit_test(test_round),         cmocka_unit_test(test_late_and_gone), cmocka_unit_test(test_asked_in_vain),
    cmocka_unit_test(test_nonsense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
