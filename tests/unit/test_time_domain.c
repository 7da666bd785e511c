/* A domain: windows, skipping, runs in pieces, threads, deadlock; the team's helpers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "base/arena.h"
#include "few_threads.h"
#include "time/domain.h"
#include "time/msg.h"

enum { WINDOW = 100, NODES = 5, LATENCY = WINDOW, HISTORY = 4096, WATCHDOG = 50 };

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
  struct domain *domain;
  struct team *team;
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
  r->team = team_new(threads);
  r->domain = domain_new(&(struct domain_config){.window = WINDOW,
                                                 .phase = {{.part = r->part, .n = NODES, .serial = !parallel}},
                                                 .n_phases = 1,
                                                 .watchdog_windows = WATCHDOG,
                                                 .between = go_on});
}

static void ring_free(struct ring *r)
{
  domain_free(r->domain);
  team_free(r->team);
  arena_free(&r->arena);
}

static enum domain_end ring_run(struct ring *r, picos until)
{
  return domain_run(r->domain, until, r->team);
}

static void threads_do_not_matter(void **state)
{
  (void)state;
  static struct ring r[3];
  for (unsigned t = 0; t < 3; t++) {
    ring_build(&r[t], t + 1, true, 500);
    for (unsigned i = 0; i < NODES; i++)
      reply_queue_push(&r[t].node[i].in, (struct mem_reply){.arrive = 7 * i});
    assert_int_equal(ring_run(&r[t], TIME_NEVER), DOMAIN_IDLE);
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
  picos at = 0;
  assert_int_equal(ring_run(&r, TIME_NEVER), DOMAIN_IDLE);
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
  assert_int_equal(ring_run(&r, TIME_NEVER), DOMAIN_IDLE);
  assert_int_equal(r.node[2].when[0], 123456789);
  assert_int_equal(r.node[2].windows, 1);
  assert_int_equal(r.node[1].windows, 0);
  picos now = domain_now(r.domain);
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
  assert_int_equal(ring_run(&r, TIME_NEVER), DOMAIN_STUCK);
  char text[64] = "";
  FILE *f = fmemopen(text, sizeof text, "w");
  domain_dump(r.domain, f);
  fclose(f);
  assert_string_equal(text, "node 3\n");
  ring_free(&r);
}

/* A part that has events and gets nothing done: as many windows as the watchdog waits, in a run of any pieces. */
static picos spin_run(void *self, picos from, picos to)
{
  (void)from;
  ((struct node *)self)->windows++;
  return to;
}

static const struct part_ops spin_ops = {spin_run, node_progress, node_busy, node_dump};

static void watchdog_counts_over_pieces(void **state)
{
  (void)state;
  for (picos piece = WINDOW; piece <= 1000 * WINDOW; piece *= 1000) {
    static struct ring r;
    ring_build(&r, 1, true, 0);
    r.node[1].stuck = true;
    r.part[1] = (struct part){&spin_ops, &r.node[1], 0};
    enum domain_end end = DOMAIN_REACHED;
    for (picos until = piece; end == DOMAIN_REACHED; until += piece) end = ring_run(&r, until);
    assert_int_equal(end, DOMAIN_STUCK);
    assert_int_equal(r.node[1].windows, WATCHDOG + 1);
    assert_int_equal(domain_state(r.domain), DOMAIN_STUCK);
    ring_free(&r);
  }
}

/* Stopped at every time, at window borders or not: no window is cut, and nothing changes. */
static void pieces_are_the_whole(void **state)
{
  (void)state;
  static struct ring whole, r;
  ring_build(&whole, 1, true, 300);
  for (unsigned i = 0; i < NODES; i++) reply_queue_push(&whole.node[i].in, (struct mem_reply){.arrive = 7 * i});
  assert_int_equal(ring_run(&whole, TIME_NEVER), DOMAIN_IDLE);
  const picos piece[] = {1, WINDOW, WINDOW + 1, 37 * WINDOW};
  for (unsigned k = 0; k < sizeof piece / sizeof *piece; k++) {
    ring_build(&r, 2, true, 300);
    for (unsigned i = 0; i < NODES; i++) reply_queue_push(&r.node[i].in, (struct mem_reply){.arrive = 7 * i});
    enum domain_end end = DOMAIN_REACHED;
    for (picos until = piece[k]; end == DOMAIN_REACHED; until += piece[k]) {
      end = ring_run(&r, until);
      assert_int_equal(domain_now(r.domain) % WINDOW, 0);
    }
    assert_int_equal(end, DOMAIN_IDLE);
    assert_int_equal(domain_now(r.domain), domain_now(whole.domain));
    for (unsigned i = 0; i < NODES; i++) {
      assert_int_equal(r.node[i].windows, whole.node[i].windows);
      assert_int_equal(r.node[i].n, whole.node[i].n);
      assert_memory_equal(r.node[i].when, whole.node[i].when, sizeof r.node[i].when);
    }
    ring_free(&r);
  }
  ring_free(&whole);
}

static bool never(void *ctx, picos now)
{
  (void)ctx, (void)now;
  return false;
}

/* A notice ends the run behind its window; the next run goes on with the next one. */
static void notice_ends_the_run(void **state)
{
  (void)state;
  struct arena arena = {0};
  struct node x = {.left = 3};
  struct part part = {&node_ops, &x, TIME_NEVER};
  QUEUE_INIT(&x.in, &arena, struct mem_reply, 16);
  x.in.wake = &part.next;
  x.out = &x.in;
  struct domain *d = domain_new(&(struct domain_config){
      .window = WINDOW, .phase = {{.part = &part, .n = 1}}, .n_phases = 1, .watchdog_windows = 9, .between = never});
  reply_queue_push(&x.in, (struct mem_reply){.arrive = 0});
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(domain_run(d, TIME_NEVER, NULL), DOMAIN_NOTICE);
    assert_int_equal(x.windows, i + 1);
    assert_int_equal(domain_now(d), (i + 1) * WINDOW);
  }
  assert_int_equal(domain_run(d, TIME_NEVER, NULL), DOMAIN_IDLE);
  domain_free(d);
  arena_free(&arena);
}

static unsigned looks; /* at whether a part waits */

static bool counted_busy(const void *self)
{
  looks++;
  return node_busy(self);
}

static const struct part_ops counted_ops = {node_run, node_progress, counted_busy, node_dump};

/* A domain among others has nothing to do in most epochs: who waits is then asked only where the answer counts. */
static void advancing_asks_nobody(void **state)
{
  (void)state;
  static struct ring r;
  ring_build(&r, 1, true, 9);
  for (unsigned i = 0; i < NODES; i++) r.part[i].ops = &counted_ops;
  r.node[1].stuck = true;
  looks = 0;
  reply_queue_push(&r.node[2].in, (struct mem_reply){.arrive = 0});
  assert_int_equal(domain_advance(r.domain, 3 * WINDOW, NULL), DOMAIN_REACHED);
  assert_int_equal(domain_windows(r.domain), 3);
  assert_int_equal(domain_advance(r.domain, TIME_NEVER, NULL), DOMAIN_REACHED);
  assert_int_equal(r.node[2].n, 10);
  assert_int_equal(domain_windows(r.domain), r.node[2].windows);
  assert_int_equal(looks, 0);
  assert_int_equal(domain_run(r.domain, TIME_NEVER, NULL), DOMAIN_STUCK);
  assert_int_equal(looks, 2); /* node 0 does not wait, node 1 does */
  ring_free(&r);
}

/* Which part ran first in a window: others may leave out what only concerns those that did. */
static void first_to_run_is_known(void **state)
{
  (void)state;
  for (unsigned threads = 1; threads <= 3; threads += 2)
    for (unsigned first = 0; first < NODES; first++) {
      static struct ring r;
      ring_build(&r, threads, true, 0);
      for (unsigned i = first; i < NODES; i++) reply_queue_push(&r.node[i].in, (struct mem_reply){.arrive = 0});
      assert_int_equal(domain_run(r.domain, WINDOW, r.team), DOMAIN_IDLE);
      assert_int_equal(domain_first_run(r.domain, 0), first);
      ring_free(&r);
    }
}

/* --- the team ---------------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void wait_ms(long ms)
{
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

enum { TEAM = 8 };

/* A job that lasts until all have come. */
struct gathering {
  unsigned wanted, done[TEAM];
  atomic_uint came;
};

static void gather(void *ctx, unsigned thread)
{
  struct gathering *g = ctx;
  g->done[thread]++;
  atomic_fetch_add(&g->came, 1);
  for (unsigned ms = 0; thread == 0 && atomic_load(&g->came) < g->wanted && ms < 20000; ms++) wait_ms(1);
}

static void run_gathering(struct team *t, struct gathering *g)
{
  atomic_store(&g->came, 0);
  team_run(t, gather, g);
}

/* Helpers that have no job take no processor time, before the first one and behind the last, and come when one is there. */
static void idle_helpers_sleep(void **state)
{
  (void)state;
  struct gathering g = {.wanted = TEAM};
  struct team *t = team_new(TEAM);
  for (unsigned i = 1; i <= 3; i++) {
    wait_ms(300); /* they may look for work for a while */
    double before = cpu_seconds();
    wait_ms(400);
    assert_true(cpu_seconds() - before < 0.02); /* one that looks takes 0.4 s */
    for (unsigned k = 0; k < 10; k++) run_gathering(t, &g);
    for (unsigned k = 0; k < TEAM; k++) assert_int_equal(g.done[k], 10 * i);
  }
  team_free(t);
}

/* Jobs at all distances around the moment when helpers park: no call is lost. */
static void no_job_is_lost(void **state)
{
  (void)state;
  struct gathering g = {.wanted = TEAM};
  struct team *t = team_new(TEAM);
  for (long i = 0; i < 200; i++) {
    nanosleep(&(struct timespec){0, i * 5000}, NULL);
    run_gathering(t, &g);
    for (unsigned k = 0; k < TEAM; k++) assert_int_equal(g.done[k], i + 1);
  }
  team_free(t);
}

/* A short job: the caller's part is over at once, those of helpers last a while. */
struct visit {
  unsigned done; /* by the caller */
  atomic_uint inside, after; /* helpers; those that came when the caller was gone */
  atomic_bool closed;
};

static void visit(void *ctx, unsigned thread)
{
  struct visit *v = ctx;
  if (thread == 0) {
    v->done++;
    return;
  }
  atomic_fetch_add(&v->inside, 1);
  if (atomic_load(&v->closed)) atomic_fetch_add(&v->after, 1);
  nanosleep(&(struct timespec){0, 20000}, NULL);
  atomic_fetch_sub(&v->inside, 1);
}

/* A job has ended when it returns: those who came are waited for, those who come late find it closed. At all distances
 * between jobs, so that helpers look for it, or sleep. */
static void late_helpers_stay_out(void **state)
{
  (void)state;
  struct visit v = {0};
  struct team *t = team_new(TEAM);
  for (long i = 0; i < 200; i++) {
    atomic_store(&v.closed, false);
    team_run(t, visit, &v);
    atomic_store(&v.closed, true);
    assert_int_equal(atomic_load(&v.inside), 0);
    nanosleep(&(struct timespec){0, i * 5000}, NULL);
    assert_int_equal(atomic_load(&v.after), 0);
    assert_int_equal(v.done, i + 1);
  }
  team_free(t);
}

/* On a host with fewer threads than asked for, those that there are do all jobs. */
static void fewer_threads(void **state)
{
  (void)state;
  for (unsigned n = 0; n < 3; n++) {
    struct gathering g = {.wanted = n + 1};
    struct few_threads old = few_threads_begin(n);
    struct team *t = team_new(TEAM);
    few_threads_end(&old);
    assert_int_equal(team_threads(t), n + 1);
    for (unsigned k = 0; k < 10; k++) run_gathering(t, &g);
    for (unsigned k = 0; k < TEAM; k++) assert_int_equal(g.done[k], k <= n ? 10 : 0);
    team_free(t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(messages_arrive_on_time),
      cmocka_unit_test(idle_time_is_skipped),
      cmocka_unit_test(stuck_part_is_a_deadlock),
      cmocka_unit_test(watchdog_counts_over_pieces),
      cmocka_unit_test(pieces_are_the_whole),
      cmocka_unit_test(notice_ends_the_run),
      cmocka_unit_test(advancing_asks_nobody),
      cmocka_unit_test(first_to_run_is_known),
      cmocka_unit_test(idle_helpers_sleep),
      cmocka_unit_test(no_job_is_lost), cmocka_unit_test(late_helpers_stay_out),
    cmocka_unit_test(fewer_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
