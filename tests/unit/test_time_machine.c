/* The machine: domains of different windows joined by a link, for any epoch below the bound, any number of threads and a
 * run in any pieces; a GPU stopped at every window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "kernel_rig.h"
#include "time/msg.h"

/* --- two domains and a link -------------------------------------------------------------------- */

/* Windows of the two domains, the latency of the link, and the longest epoch that these allow. */
enum { DOMAINS = 2, NODES = 3, HISTORY = 4096, LINK_LATENCY = 1000, MESSAGES = 900, LAMBDA = LINK_LATENCY - 100 - 70 };
static const picos window_of[DOMAINS] = {100, 70};

/* Passes each message on a window or more later: to itself, or into the link, as the message's own number says. */
struct node {
  struct reply_queue in, *far;
  struct part *part;
  picos hop;
  uint64_t id, n, what[HISTORY], when[HISTORY];
};

/* Inputs are kept in order of arrival, then of content. */
static void deliver(struct reply_queue *q, struct mem_reply m)
{
  reply_queue_push(q, m);
  for (unsigned i = q->n - 1; i > 0; i--) {
    struct mem_reply *a = &q->slot[(q->head + i - 1) & (q->cap - 1)], *b = &q->slot[(q->head + i) & (q->cap - 1)];
    if (a->arrive < b->arrive || (a->arrive == b->arrive && a->line <= b->line)) return;
    struct mem_reply t = *a;
    *a = *b, *b = t;
  }
}

static picos node_run(void *self, picos from, picos to)
{
  struct node *x = self;
  struct mem_reply *m;
  while ((m = reply_queue_front(&x->in)) && m->arrive < to) {
    uint64_t number = m->line * 6364136223846793005u + x->id + 1442695040888963407u;
    assert_true(m->arrive >= from);
    assert_true(x->n < HISTORY);
    x->what[x->n] = m->line;
    x->when[x->n++] = m->arrive;
    picos at = m->arrive;
    unsigned left = m->txn;
    reply_queue_pop(&x->in);
    if (!left) continue;
    struct mem_reply next = {.arrive = at, .line = number, .txn = (uint16_t)(left - 1)};
    if (number >> 62 == 0) {
      reply_queue_push(x->far, next);
    } else {
      next.arrive += x->hop + (number >> 58);
      deliver(&x->in, next);
    }
  }
  return x->in.n ? reply_queue_front(&x->in)->arrive : TIME_NEVER;
}

static uint64_t node_progress(const void *self)
{
  return ((const struct node *)self)->n;
}

static unsigned looks; /* at whether a node waits */

static bool node_busy(const void *self)
{
  looks++;
  return ((const struct node *)self)->in.n > 0;
}

static void node_dump(const void *self, FILE *out)
{
  fprintf(out, "node %llu\n", (unsigned long long)((const struct node *)self)->id);
}

static const struct part_ops node_ops = {node_run, node_progress, node_busy, node_dump};

/* What node i of a domain sends arrives at node i of the other, LINK_LATENCY later. */
struct link {
  struct reply_queue sent[DOMAINS][NODES];
  struct reply_queue *to[DOMAINS][NODES];
  uint64_t moved;
};

static picos link_run(void *self, picos from, picos to)
{
  struct link *l = self;
  struct mem_reply *m;
  (void)to;
  for (unsigned d = 0; d < DOMAINS; d++)
    for (unsigned i = 0; i < NODES; i++)
      for (; (m = reply_queue_front(&l->sent[d][i])); reply_queue_pop(&l->sent[d][i])) {
        assert_true(m->arrive >= from);
        m->arrive += LINK_LATENCY;
        deliver(l->to[d][i], *m);
        l->moved++;
      }
  return TIME_NEVER;
}

static uint64_t link_progress(const void *self)
{
  return ((const struct link *)self)->moved;
}

static bool link_busy(const void *self)
{
  (void)self;
  return false;
}

static void link_dump(const void *self, FILE *out)
{
  (void)self, (void)out;
}

static const struct part_ops link_ops = {link_run, link_progress, link_busy, link_dump};

static bool go_on(void *ctx, picos now)
{
  (void)ctx, (void)now;
  return true;
}

struct pair {
  struct arena arena;
  struct node node[DOMAINS][NODES];
  struct part part[DOMAINS][NODES], link_part;
  struct link link;
  struct domain *domain[DOMAINS];
  struct machine *machine;
};

static void pair_build(struct pair *p, picos epoch, unsigned threads)
{
  memset(p, 0, sizeof *p);
  for (unsigned d = 0; d < DOMAINS; d++)
    for (unsigned i = 0; i < NODES; i++) {
      struct node *x = &p->node[d][i];
      p->part[d][i] = (struct part){&node_ops, x, TIME_NEVER};
      x->id = d * NODES + i;
      x->hop = window_of[d];
      x->far = &p->link.sent[d][i];
      p->link.to[1 - d][i] = &x->in;
      QUEUE_INIT(&x->in, &p->arena, struct mem_reply, 16);
      QUEUE_INIT(x->far, &p->arena, struct mem_reply, 1024);
      x->in.wake = &p->part[d][i].next;
      reply_queue_push(&x->in, (struct mem_reply){.arrive = 11 * x->id, .line = x->id, .txn = MESSAGES});
    }
  for (unsigned d = 0; d < DOMAINS; d++)
    p->domain[d] = domain_new(&(struct domain_config){.window = window_of[d],
                                                      .phase = {{.part = p->part[d], .n = NODES}},
                                                      .n_phases = 1,
                                                      .watchdog_windows = 1000,
                                                      .between = go_on});
  p->link_part = (struct part){&link_ops, &p->link, TIME_NEVER};
  p->machine = machine_new(&(struct machine_config){.threads = threads, .domain = p->domain, .n_domains = DOMAINS,
                                                    .epoch = epoch, .part = &p->link_part, .n_parts = 1});
}

static void pair_free(struct pair *p)
{
  machine_free(p->machine);
  for (unsigned d = 0; d < DOMAINS; d++) domain_free(p->domain[d]);
  arena_free(&p->arena);
}

static void assert_same_history(const struct pair *a, const struct pair *b)
{
  assert_int_equal(a->link.moved, b->link.moved);
  for (unsigned d = 0; d < DOMAINS; d++)
    for (unsigned i = 0; i < NODES; i++) {
      const struct node *x = &a->node[d][i], *y = &b->node[d][i];
      assert_int_equal(x->n, y->n);
      assert_memory_equal(x->what, y->what, sizeof x->what);
      assert_memory_equal(x->when, y->when, sizeof x->when);
    }
}

static struct pair *whole(picos epoch, unsigned threads)
{
  struct pair *p = malloc(sizeof *p);
  assert_non_null(p);
  pair_build(p, epoch, threads);
  assert_int_equal(machine_run(p->machine, TIME_NEVER), MACHINE_IDLE);
  return p;
}

static void drop(struct pair *p)
{
  pair_free(p);
  free(p);
}

static void epochs_and_threads_do_not_matter(void **state)
{
  (void)state;
  struct pair *first = whole(LAMBDA, 1);
  uint64_t all = 0;
  for (unsigned d = 0; d < DOMAINS; d++)
    for (unsigned i = 0; i < NODES; i++) all += first->node[d][i].n;
  assert_int_equal(all, DOMAINS * NODES * (MESSAGES + 1)); /* none is lost, none comes twice */
  assert_true(first->link.moved > all / 8);
  const picos epoch[] = {LAMBDA, LAMBDA / 2, LAMBDA / 7, 1};
  const unsigned threads[] = {1, 2, 8};
  for (unsigned k = 0; k < 4; k++)
    for (unsigned t = 0; t < 3; t++) {
      struct pair *p = whole(epoch[k], threads[t]);
      assert_same_history(first, p);
      drop(p);
    }
  drop(first);
}

static void pieces_are_the_whole(void **state)
{
  (void)state;
  struct pair *first = whole(LAMBDA, 1), *p = malloc(sizeof *p);
  assert_non_null(p);
  const picos piece[] = {1, 70, 333, 100000};
  for (unsigned k = 0; k < 4; k++) {
    pair_build(p, LAMBDA, 2);
    enum machine_stop stop = MACHINE_REACHED;
    for (picos until = piece[k]; stop == MACHINE_REACHED; until += piece[k]) stop = machine_run(p->machine, until);
    assert_int_equal(stop, MACHINE_IDLE);
    assert_same_history(first, p);
    pair_free(p);
  }
  free(p);
  drop(first);
}

/* While one domain has something to do, nobody is asked whether he waits: a GPU has hundreds of parts, and epochs are as
 * short as a link. At the end each is asked once for the machine's state. */
static void waiting_costs_nothing_until_the_end(void **state)
{
  (void)state;
  looks = 0;
  drop(whole(LAMBDA, 1));
  assert_int_equal(looks, DOMAINS * NODES);
}

/* Sends one message into the link and is busy until one comes. */
static picos asker_run(void *self, picos from, picos to)
{
  struct node *x = self;
  if (!x->n++) reply_queue_push(x->far, (struct mem_reply){.arrive = from});
  for (; reply_queue_front(&x->in) && reply_queue_front(&x->in)->arrive < to; reply_queue_pop(&x->in)) x->id = 0;
  return x->in.n ? reply_queue_front(&x->in)->arrive : TIME_NEVER;
}

static bool asker_busy(const void *self)
{
  return ((const struct node *)self)->id != 0;
}

static const struct part_ops asker_ops = {asker_run, node_progress, asker_busy, node_dump};

/* A domain that only waits is not stuck while another may answer; it is when nobody does. */
static void stuck_means_all(void **state)
{
  (void)state;
  for (unsigned answers = 0; answers < 2; answers++) {
    struct pair *p = malloc(sizeof *p);
    assert_non_null(p);
    pair_build(p, LAMBDA, 1);
    for (unsigned d = 0; d < DOMAINS; d++)
      for (unsigned i = 0; i < NODES; i++) reply_queue_pop(&p->node[d][i].in), p->part[d][i].next = TIME_NEVER;
    p->part[0][0] = (struct part){&asker_ops, &p->node[0][0], 0};
    p->node[0][0].id = 7;
    p->part[1][0].ops = answers ? &asker_ops : &node_ops;
    p->node[1][0].id = 0;
    assert_int_equal(machine_run(p->machine, TIME_NEVER), answers ? MACHINE_IDLE : MACHINE_STUCK);
    assert_int_equal(p->link.moved, 1 + answers);
    char text[64] = "";
    FILE *f = fmemopen(text, sizeof text, "w");
    machine_dump(p->machine, f);
    fclose(f);
    assert_string_equal(text, answers ? "" : "node 7\n");
    drop(p);
  }
}

/* --- a GPU ------------------------------------------------------------------------------------- */

/* Runs the kernel: in one run when piece is 0, else stopped each `piece` ps. */
static void run_kernel(struct kernel_rig *k, const char *name, unsigned threads, picos piece)
{
  struct fault f = {0};
  kernel_rig_build(k, name, threads);
  struct gpu_launch l = kernel_rig_launch(k);
  gpu_rig_open(&k->rig, &l, k->launch->params.image);
  gpu_watch(k->rig.gpu, &gpu_rig_watch, false);
  enum machine_stop stop = MACHINE_REACHED;
  for (picos until = piece; stop == MACHINE_REACHED; until += piece)
    stop = machine_run(k->rig.machine, piece ? until : TIME_NEVER);
  assert_int_equal(stop, MACHINE_IDLE);
  assert_int_equal(gpu_finish(k->rig.gpu, &f, NULL), RUN_DONE);
}

/* Stop and go on at every window is the same run: times, counters, books of instructions; 1, 2, 8 threads. */
static void gpu_in_pieces(void **state)
{
  (void)state;
  const char *const name[] = {"sgemm_tiled", "hist_global"};
  for (unsigned i = 0; i < 2; i++) {
    struct kernel_rig a, b;
    uint64_t start[2], end[2];
    run_kernel(&a, name[i], 1, 0);
    assert_true(gpu_launch_times(a.rig.gpu, 0, &start[0], &end[0]));
    const unsigned threads[] = {1, 2, 8};
    for (unsigned t = 0; t < 3; t++) {
      run_kernel(&b, name[i], threads[t], params_request_ps(&a.params));
      assert_same_run(a.rig.gpu, b.rig.gpu, 0, 0);
      assert_int_equal(gpu_now(a.rig.gpu), gpu_now(b.rig.gpu));
      assert_true(gpu_launch_times(b.rig.gpu, 0, &start[1], &end[1]));
      assert_int_equal(start[0], start[1]);
      assert_int_equal(end[0], end[1]);
      kernel_rig_free(&b);
    }
    kernel_rig_free(&a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(epochs_and_threads_do_not_matter),
      cmocka_unit_test(pieces_are_the_whole),
      cmocka_unit_test(waiting_costs_nothing_until_the_end),
      cmocka_unit_test(stuck_means_all),
      cmocka_unit_test(gpu_in_pieces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
