/* The engine: windows, skipping, threads, deadlock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "time/engine.h"
#include "time/msg.h"

enum { WINDOW = 100, NODES = 5, LATENCY = WINDOW, HISTORY = 4096 };

/* A node answers every message to the next node in the ring, LATENCY + its id later. */
struct node {
  struct reply_queue in, *out;
  struct part *part;
  unsigned id, left, windows;
  bool stuck; /* claims to be busy forever */
  uint64_t n, when[HISTORY];
};

static picos node_run(void *self, picos from, picos to)
{
  struct node *x = self;
  struct mem_reply *m;
  (void)from;
  x->windows++;
  while ((m = reply_queue_front(&x->in)) && m->arrive < to) {
    picos at = m->arrive;
    reply_queue_pop(&x->in);
    assert_true(at >= from);
    x->when[x->n++] = at;
    if (x->left && x->left--)
      reply_queue_push(x->out, (struct mem_reply){.arrive = at + LATENCY + x->id});
  }
  return x->in.n ? reply_queue_front(&x->in)->arrive : TIME_NEVER;
}

static uint64_t node_progress(const void *self)
{
  return ((const struct node *)self)->n;
}

static bool node_busy(const void *self)
{
  const struct node *x = self;
  return x->in.n || x->stuck;
}

static void node_dump(const void *self, FILE *out)
{
  fprintf(out, "node %u\n", ((const struct node *)self)->id);
}

static const struct part_ops node_ops = {node_run, node_progress, node_busy, node_dump};

static bool go_on(void *ctx, picos now)
{
  (void)ctx, (void)now;
  return true;
}

struct ring {
  struct arena arena;
  struct node node[NODES];
  struct part part[NODES];
  struct engine *engine;
};

/* Parallel nodes must not feed each other's queues in the window they run in, so the ring is run as
 * serial parts, and as parallel parts that only talk to themselves. */
static void ring_build(struct ring *r, unsigned threads, bool parallel, unsigned left)
{
  memset(r, 0, sizeof *r);
  for (unsigned i = 0; i < NODES; i++) {
    struct node *x = &r->node[i];
    QUEUE_INIT(&x->in, &r->arena, struct mem_reply, 16);
    x->id = i;
    x->left = left;
    r->part[i] = (struct part){&node_ops, x, TIME_NEVER};
    x->in.wake = &r->part[i].next;
  }
  for (unsigned i = 0; i < NODES; i++) r->node[i].out = &r->node[parallel ? i : (i + 1) % NODES].in;
  r->engine = engine_new(&(struct engine_config){.window = WINDOW,
                                                 .threads = threads,
                                                 .parallel = r->part,
                                                 .n_parallel = parallel ? NODES : 0,
                                                 .serial = r->part,
                                                 .n_serial = parallel ? 0 : NODES,
                                                 .watchdog_windows = 50,
                                                 .between = go_on});
}

static void ring_free(struct ring *r)
{
  engine_free(r->engine);
  arena_free(&r->arena);
}

static void threads_do_not_matter(void **state)
{
  (void)state;
  static struct ring r[3];
  for (unsigned t = 0; t < 3; t++) {
    ring_build(&r[t], t + 1, true, 500);
    for (unsigned i = 0; i < NODES; i++)
      reply_queue_push(&r[t].node[i].in, (struct mem_reply){.arrive = 7 * i});
    picos now = 0;
    assert_int_equal(engine_run(r[t].engine, &now), ENGINE_DONE);
  }
  for (unsigned t = 1; t < 3; t++)
    for (unsigned i = 0; i < NODES; i++) {
      assert_int_equal(r[t].node[i].n, 501);
      assert_memory_equal(r[t].node[i].when, r[0].node[i].when, sizeof r[0].node[i].when);
    }
  for (unsigned t = 0; t < 3; t++) ring_free(&r[t]);
}

static void messages_arrive_on_time(void **state)
{
  (void)state; /* hop k of the ring happens at the sum of latencies so far */
  static struct ring r;
  ring_build(&r, 1, false, 3);
  reply_queue_push(&r.node[0].in, (struct mem_reply){.arrive = 0});
  picos now = 0, at = 0;
  assert_int_equal(engine_run(r.engine, &now), ENGINE_DONE);
  for (unsigned hop = 0; hop <= 3 * NODES; hop++) {
    struct node *x = &r.node[hop % NODES];
    assert_true(x->n > hop / NODES);
    assert_int_equal(x->when[hop / NODES], at);
    at += LATENCY + x->id;
  }
  ring_free(&r);
}

static void idle_time_is_skipped(void **state)
{
  (void)state;
  static struct ring r;
  ring_build(&r, 1, true, 0);
  reply_queue_push(&r.node[2].in, (struct mem_reply){.arrive = 123456789});
  picos now = 0;
  assert_int_equal(engine_run(r.engine, &now), ENGINE_DONE);
  assert_int_equal(r.node[2].when[0], 123456789);
  assert_int_equal(r.node[2].windows, 1);
  assert_int_equal(r.node[1].windows, 0);
  assert_int_equal(now % WINDOW, 0);
  assert_in_range(now, 123456789, 123456789 + WINDOW);
  ring_free(&r);
}

static void stuck_part_is_a_deadlock(void **state)
{
  (void)state;
  static struct ring r;
  ring_build(&r, 1, true, 0);
  r.node[3].stuck = true;
  picos now = 0;
  assert_int_equal(engine_run(r.engine, &now), ENGINE_DEADLOCK);
  char text[64] = "";
  FILE *f = fmemopen(text, sizeof text, "w");
  engine_dump(r.engine, f);
  fclose(f);
  assert_string_equal(text, "node 3\n");
  ring_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(messages_arrive_on_time),
      cmocka_unit_test(idle_time_is_skipped),
      cmocka_unit_test(stuck_part_is_a_deadlock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
