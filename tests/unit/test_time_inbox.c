/* Messages of a network on their way to one receiver: their order, beside a model that only follows the rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "time/noc/inbox.h"

enum { SENDERS = 9, MOST = 400, WINDOW = 1000, ROUNDS = 200 };

/* A queue per sender; the next to be taken is what arrives first of those in front, of several the lowest sender's. */
struct model {
  struct mem_req queue[SENDERS][ROUNDS * MOST];
  unsigned head[SENDERS], n[SENDERS];
};

static void model_send(struct model *m, unsigned sender, struct mem_req r)
{
  m->queue[sender][m->head[sender] + m->n[sender]++] = r;
}

/* TIME_NEVER: none. */
static picos model_first(const struct model *m, unsigned *sender)
{
  picos first = TIME_NEVER;
  for (unsigned i = SENDERS; i-- > 0;)
    if (m->n[i] && m->queue[i][m->head[i]].arrive <= first) {
      first = m->queue[i][m->head[i]].arrive;
      *sender = i;
    }
  return first;
}

static unsigned number(unsigned below)
{
  static uint64_t x = 88172645463325252ull;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return (unsigned)(x >> 20) % below;
}

/* What one window sends arrives in a later one, now and then much later than what its sender sends next. */
static struct mem_req message(picos now, uint64_t line)
{
  picos late = number(8) ? 0 : number(5 * WINDOW);
  return (struct mem_req){.arrive = now + WINDOW + number(WINDOW) + late, .line = line};
}

static void order_is_that_of_the_rule(void **state)
{
  (void)state;
  static struct model m;
  struct arena a = {0};
  struct inbox b;
  inbox_init(&b, &a, SENDERS);
  uint64_t line = 0, taken = 0;
  for (picos now = 0; now < ROUNDS * WINDOW; now += WINDOW) {
    for (unsigned n = number(now % 7000 ? 30 : MOST); n; n--) {
      unsigned sender = number(SENDERS);
      struct mem_req r = message(now, line++);
      model_send(&m, sender, r);
      inbox_send(&b, sender, &r);
    }
    assert_int_equal(inbox_waiting(&b), line - taken); /* looked at or not */
    inbox_look(&b);
    picos until = now + (number(3) ? WINDOW : 0); /* sometimes the receiver takes nothing */
    for (unsigned sender; model_first(&m, &sender) < until; taken++) {
      assert_true(inbox_next(&b) < until);
      assert_int_equal(inbox_front(&b)->line, m.queue[sender][m.head[sender]].line);
      inbox_pop(&b);
      m.head[sender]++;
      m.n[sender]--;
    }
    for (unsigned i = 0; i < SENDERS; i++) assert_int_equal(b.lane[i].n, m.n[i]);
    assert_int_equal(inbox_waiting(&b), line - taken);
  }
  assert_true(taken > line / 2);
  inbox_free(&b);
  arena_free(&a);
}

struct part_of_them {
  struct inbox *b;
  unsigned from, to;
};

static void *send_all(void *arg)
{
  const struct part_of_them *p = arg;
  for (unsigned i = 0; i < MOST; i++)
    for (unsigned s = p->from; s < p->to; s++)
      inbox_send(p->b, s, &(struct mem_req){.arrive = 1 + i / 2, .line = s * MOST + i});
  return NULL;
}

/* Senders on two host threads: the order is the same as if they had sent one after the other. */
static void threads_do_not_change_the_order(void **state)
{
  (void)state;
  struct arena a = {0};
  struct inbox b;
  pthread_t helper;
  inbox_init(&b, &a, SENDERS);
  assert_int_equal(pthread_create(&helper, NULL, send_all, &(struct part_of_them){&b, 0, 4}), 0);
  send_all(&(struct part_of_them){&b, 4, SENDERS});
  pthread_join(helper, NULL);
  inbox_look(&b);
  assert_int_equal(b.n, SENDERS * MOST);
  for (unsigned pair = 0; pair < MOST / 2; pair++)
    for (unsigned s = 0; s < SENDERS; s++)
      for (unsigned i = 0; i < 2; i++, inbox_pop(&b)) {
        assert_int_equal(inbox_next(&b), 1 + pair);
        assert_int_equal(inbox_front(&b)->line, s * MOST + 2 * pair + i);
      }
  inbox_free(&b);
  arena_free(&a);
}

/* It wakes for the first message of a sender, which it has not heard of. */
static void wakes_for_the_first(void **state)
{
  (void)state;
  struct arena a = {0};
  struct inbox b;
  picos wake = TIME_NEVER;
  inbox_init(&b, &a, SENDERS);
  b.wake = &wake;
  inbox_send(&b, 1, &(struct mem_req){.arrive = 50});
  assert_int_equal(wake, 50);
  inbox_send(&b, 1, &(struct mem_req){.arrive = 40}); /* is taken behind the other */
  assert_int_equal(wake, 50);
  inbox_send(&b, 2, &(struct mem_req){.arrive = 45});
  assert_int_equal(wake, 45);
  inbox_free(&b);
  arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_is_that_of_the_rule), cmocka_unit_test(threads_do_not_change_the_order),
                                     cmocka_unit_test(wakes_for_the_first)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
