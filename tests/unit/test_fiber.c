/* Functions that stop in their middle: they take turns, also on several threads, and running out of memory in one is its
 * caller's, whichever it is at that moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "base/fiber.h"
#include "base/host_memory.h"

struct counter {
  struct fiber *fiber;
  char *log, name;
  int steps;
};

static void count(void *ctx)
{
  struct counter *c = ctx;
  char deep[4096]; /* its own stack keeps it */
  memset(deep, c->name, sizeof deep);
  for (int i = 0; i < c->steps; i++) {
    *strchr(c->log, '\0') = deep[sizeof deep - 1];
    fiber_stop(c->fiber);
    for (size_t k = 0; k < sizeof deep; k++) assert_int_equal(deep[k], c->name);
  }
}

static void turns(void **state)
{
  (void)state;
  char log[32] = "";
  struct counter a = { .log = log, .name = 'a', .steps = 3 }, b = { .log = log, .name = 'b', .steps = 1 };
  a.fiber = fiber_new(count, &a);
  b.fiber = fiber_new(count, &b);
  assert_string_equal(log, ""); /* none has begun */
  assert_true(fiber_resume(a.fiber));
  assert_true(fiber_resume(b.fiber));
  assert_true(fiber_resume(a.fiber));
  assert_false(fiber_resume(b.fiber));
  assert_true(fiber_resume(a.fiber));
  assert_false(fiber_resume(a.fiber));
  assert_string_equal(log, "abaa");
  fiber_free(a.fiber);
  fiber_free(b.fiber);
}

static void *resume(void *fiber)
{
  return fiber_resume(fiber) ? fiber : NULL;
}

static void threads(void **state)
{
  (void)state;
  char log[32] = "";
  struct counter a = { .log = log, .name = 'a', .steps = 4 };
  a.fiber = fiber_new(count, &a);
  for (int i = 0; i < 5; i++) {
    pthread_t t;
    void *goes_on;
    assert_int_equal(pthread_create(&t, NULL, resume, a.fiber), 0);
    assert_int_equal(pthread_join(t, &goes_on), 0);
    assert_int_equal(goes_on != NULL, i < 4);
  }
  assert_string_equal(log, "aaaa");
  fiber_free(a.fiber);
}

/* Takes memory in an attempt of its own, stops inside it, then there is none. */
struct hungry {
  struct fiber *fiber;
  bool own; /* the attempt is its own: it goes on */
  int after;
};

static void starve(void *ctx)
{
  struct hungry *h = ctx;
  fiber_stop(h->fiber);
  memory_out();
}

static void be_hungry(void *ctx)
{
  struct hungry *h = ctx;
  if (!h->own) starve(h);
  else assert_false(memory_try(NULL, starve, h));
  h->after++;
}

static void go_on(void *fiber)
{
  fiber_resume(fiber);
}

static void memory(void **state)
{
  (void)state;
  struct hungry h = { .own = true };
  h.fiber = fiber_new(be_hungry, &h);
  assert_true(memory_try(NULL, go_on, h.fiber)); /* stops in its attempt, this one ends */
  assert_true(memory_try(NULL, go_on, h.fiber));
  assert_int_equal(h.after, 1);
  fiber_free(h.fiber);
  h.own = false;
  h.fiber = fiber_new(be_hungry, &h);
  assert_true(memory_try(NULL, go_on, h.fiber));
  assert_false(memory_try(NULL, go_on, h.fiber)); /* the caller has run out */
  assert_int_equal(h.after, 1);
  fiber_free(h.fiber);
}

/* One that never ended: its stack goes with it. */
static void left(void **state)
{
  (void)state;
  char log[32] = "";
  struct counter a = { .log = log, .name = 'a', .steps = 2 };
  struct heap *heap = heap_new();
  a.fiber = fiber_new(count, &a);
  assert_true(fiber_resume(a.fiber));
  fiber_free(a.fiber);
  fiber_free(NULL);
  heap_free(heap);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(turns),
    cmocka_unit_test(threads),
    cmocka_unit_test(memory),
    cmocka_unit_test(left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
