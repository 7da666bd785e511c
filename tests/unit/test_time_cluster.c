/* SM-to-SM network (cluster_net.h): times from its parameters, order, barrier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/noc/cluster_net.h"
#include "time_rig.h"

enum { SMS = 4, CAP = 64, FAR = 1000000000 };

struct box {
  struct params params;
  struct arena arena;
  struct cluster_net net;
  struct cluster_queue in[SMS], answers[SMS], releases[SMS];
  struct step_source source;
  unsigned performed[CAP], n; /* transactions, in order */
  unsigned target;
  uint32_t bytes;
};

static bool perform(void *ctx, unsigned sm, unsigned txn, picos now, struct cluster_load *load, struct fault *f)
{
  struct box *b = ctx;
  (void)sm, (void)now, (void)f;
  b->performed[b->n++] = txn;
  *load = (struct cluster_load){.n = 1, .part = {{b->target, b->bytes}}};
  return true;
}

static void build(struct box *b, unsigned cluster)
{
  struct err e = {0};
  memset(b, 0, sizeof *b);
  if (!params_load("h200", WS_SOURCE_DIR "/presets", &b->params, &e)) fail_msg("%s", e.msg);
  b->params.gpu_sms = SMS;
  cluster_net_init(&b->net, &b->arena, &b->params, perform, b);
  for (unsigned i = 0; i < SMS; i++) {
    QUEUE_INIT(&b->in[i], &b->arena, struct cluster_msg, CAP);
    QUEUE_INIT(&b->answers[i], &b->arena, struct cluster_msg, CAP);
    QUEUE_INIT(&b->releases[i], &b->arena, struct cluster_msg, CAP);
    b->net.port[i].in = &b->in[i];
    b->net.port[i].answers = &b->answers[i];
    b->net.port[i].releases = &b->releases[i];
  }
  b->source = (struct step_source){.n_ctas = 8, .grid = {8, 1, 1}, .cluster = {cluster, 1, 1}};
  cluster_net_start(&b->net);
  cluster_net_open(&b->net, 0, &b->source);
}

static picos clock_of(const struct box *b)
{
  return params_clock_ps(&b->params);
}

static void access_at(struct box *b, unsigned sm, unsigned txn, picos at)
{
  cluster_queue_push(&b->in[sm], (struct cluster_msg){.arrive = at, .txn = (uint16_t)txn, .kind = CLUSTER_ACCESS});
}

/* Alone: a hop there is over, the memory's port, a hop back. Two to one memory: one behind the other; to two: not. */
static void times(void **state)
{
  struct box b;
  (void)state;
  for (unsigned two = 0; two < 2; two++) {
    build(&b, 2);
    b.target = 3;
    b.bytes = 128;
    picos cycle = clock_of(&b), hop = b.params.cluster_hop_latency * cycle;
    picos port = 128 / b.params.cluster_bytes_per_cycle * cycle;
    access_at(&b, 0, 7, 1000 * cycle);
    if (two) access_at(&b, 1, 8, 1000 * cycle);
    assert_int_equal(cluster_net_run(&b.net, 0, 10), 1000 * cycle); /* says when it has work */
    assert_int_equal(b.n, 0);
    cluster_net_run(&b.net, 10, FAR);
    assert_int_equal(b.n, 1 + two);
    assert_int_equal(cluster_queue_front(&b.answers[0])->txn, 7);
    /* Service times are rounded down to a picosecond. */
    assert_in_range(cluster_queue_front(&b.answers[0])->arrive, 1000 * cycle + port + hop - 1, 1000 * cycle + port + hop);
    if (two)
      assert_in_range(cluster_queue_front(&b.answers[1])->arrive, 1000 * cycle + 2 * port + hop - 1,
                      1000 * cycle + 2 * port + hop);
    arena_free(&b.arena);
  }
}

/* (arrival, SM): whatever the order in which the queues were filled. */
static void order(void **state)
{
  static const unsigned want[] = {5, 2, 9, 4};
  struct box b;
  (void)state;
  build(&b, 2);
  access_at(&b, 3, 9, 300);
  access_at(&b, 2, 2, 300);
  access_at(&b, 0, 4, 400);
  access_at(&b, 1, 5, 200);
  cluster_net_run(&b.net, 0, FAR);
  for (unsigned i = 0; i < 4; i++) assert_int_equal(b.performed[i], want[i]);
  arena_free(&b.arena);
}

static void tell(struct box *b, unsigned sm, uint64_t cta, enum cluster_kind kind, picos at)
{
  cluster_queue_push(&b->in[sm], (struct cluster_msg){.arrive = at, .cta = cta, .kind = (uint8_t)kind});
}

/* The last arrival of the own cluster ends the phase, for its CTAs alone. */
static void barrier(void **state)
{
  struct box b;
  (void)state;
  build(&b, 2); /* CTAs 2k and 2k + 1 */
  picos cycle = clock_of(&b), late = 50 * cycle;
  tell(&b, 0, 0, CLUSTER_ARRIVE, 10 * cycle);
  tell(&b, 1, 2, CLUSTER_ARRIVE, 20 * cycle);
  cluster_net_run(&b.net, 0, late);
  for (unsigned i = 0; i < SMS; i++) assert_null(cluster_queue_front(&b.releases[i]));
  tell(&b, 2, 1, CLUSTER_ARRIVE, late);
  cluster_net_run(&b.net, late, FAR);
  picos free_at = late + b.params.cluster_barrier_cycles * cycle;
  assert_int_equal(cluster_queue_front(&b.releases[0])->arrive, free_at);
  assert_int_equal(cluster_queue_front(&b.releases[0])->cta, 0);
  assert_int_equal(cluster_queue_front(&b.releases[2])->cta, 1);
  assert_null(cluster_queue_front(&b.releases[1]));
  arena_free(&b.arena);
}

/* A CTA that has exited is not waited for; when all have, the cluster is forgotten. */
static void exits(void **state)
{
  struct box b;
  (void)state;
  build(&b, 2);
  tell(&b, 0, 4, CLUSTER_EXIT, 10);
  tell(&b, 1, 5, CLUSTER_ARRIVE, 20);
  cluster_net_run(&b.net, 0, FAR);
  assert_non_null(cluster_queue_front(&b.releases[1]));
  assert_null(cluster_queue_front(&b.releases[0]));
  assert_int_equal(b.net.n_states, 1);
  tell(&b, 1, 5, CLUSTER_EXIT, FAR);
  cluster_net_run(&b.net, FAR, 2 * (picos)FAR);
  assert_int_equal(b.net.n_states, 0);
  arena_free(&b.arena);
}

/* A CTA that is no part of a cluster tells the network nothing, of clusters that it has arrived and exited. */
static void alone(void **state)
{
  (void)state;
  for (unsigned cluster = 0; cluster < 3; cluster++) {
    struct rig r;
    rig_build_for(&r, "h200");
    struct mock *m = mock_new(3, 1);
    m->source.grid[0] = m->source.n_ctas = 4, m->source.grid[1] = m->source.grid[2] = 1;
    for (unsigned k = 0; k < 3; k++) m->source.cluster[k] = k ? cluster != 0 : cluster;
    assert_int_equal(sm_progress(r.sm), 0);
    rig_run(&r, m);
    assert_int_equal(r.sm->mem.port.cluster_out.n, cluster > 1 ? 1 : 0);
    assert_true(r.sm->stats.ctas == 1 && r.sm->stats.warp_insts >= 3);
    /* By instructions, CTAs and answers it is seen whether anything goes on. */
    assert_int_equal(sm_progress(r.sm), r.sm->stats.warp_insts + 1 + r.sm->mem.answered);
    free(m);
    rig_free(&r);
  }
}

/* CTA `rank` of the cluster runs on SM 2 + rank; the third one does not. */
static int runs_on(const struct step_cta *cta, unsigned rank)
{
  (void)cta;
  return rank < 2 ? 2 + (int)rank : -1;
}

static uint32_t moved_to(const struct cluster_load *load, unsigned sm)
{
  uint32_t bytes = 0;
  for (unsigned i = 0; i < load->n; i++)
    if (load->part[i].sm == sm) bytes += load->part[i].bytes;
  return bytes;
}

/* What an access moves: the bytes of all its lanes, SM by SM; of a copy the whole into each. CTAs that do not run get nothing. */
static void moved(void **state)
{
  enum { RANK_SHIFT = 24, LANES = 20, COPIED = 4096 };
  struct rig r;
  rig_build_for(&r, "h200");
  struct mock *m = mock_new(1, 1);
  struct step_ops ops = mock_ops;
  struct fault f = {0};
  (void)state;
  ops.cluster_worker = runs_on;
  m->warp[0].step.ops = &ops;
  m->warp[0].step.cta = &m->cta;
  r.sm->sub_core[0].warps.slot[0].step = &m->warp[0].step;
  struct txn *t = &r.sm->mem.pool.t[0];
  struct inst in = {.mem = {.copy = COPY_STORE}};
  *t = (struct txn){.kind = TXN_CLUSTER, .inst = &in, .access = &r.sm->mem.pool.access[0]};
  struct mem_effect *e = &t->access->mem;
  e->bytes = 8;
  e->lanes = 0;
  for (unsigned i = 0; i < LANES; i++) { /* 5 lanes of 20 to the first CTA, 10 to the second, 5 to the third */
    e->lanes |= (lane_mask)1 << i;
    e->addr[i] = ((uint64_t)(i % 4 == 3 ? 2 : i % 4 ? 1 : 0) << RANK_SHIFT) + 8 * i;
  }
  struct cluster_load load = {0};
  assert_true(sm_perform_cluster(r.sm, 0, &load, &f));
  assert_int_equal(load.n, 2);
  assert_int_equal(moved_to(&load, 2), 5 * 8);
  assert_int_equal(moved_to(&load, 3), 10 * 8);
  assert_false(load.streamed);

  t->kind = TXN_COPY;
  e->copy = (struct mem_copy){.ctas = 7, .bytes = COPIED};
  load = (struct cluster_load){0};
  assert_true(sm_perform_cluster(r.sm, 0, &load, &f));
  assert_int_equal(load.n, 2);
  assert_int_equal(moved_to(&load, 2), COPIED);
  assert_int_equal(moved_to(&load, 3), COPIED);
  assert_true(load.streamed && !load.crossbar);
  free(m);
  rig_free(&r);
}

/* An instruction of the clusters' barrier: the last warp's says that the CTA has arrived. */
enum { STORES = 6, WARPS = 8 };

static unsigned arrived_warps;

static bool step_to_barrier(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  mock_step(w, path, e, f);
  const struct mock *m = mock_of(w);
  if (e->inst == &m->inst[STORES] && ++arrived_warps % WARPS == 0) e->flags |= EFF_CLUSTER_ARRIVED;
  return true;
}

/* Warps store into the shared memory of another CTA, arrive at the cluster's barrier without waiting for answers
 * (barrier.cluster.arrive.relaxed), and exit. The network gets every store before the arrival and that before the exit,
 * though stores stand in their queues when the last warp arrives: or a CTA that ends behind the barrier would be gone
 * when they come. */
static void stores_before_arrival_on(const char *preset)
{
  struct step_ops ops = mock_ops;
  struct rig r;
  unsigned accesses = 0, arrivals = 0, exits = 0;
  rig_build_for(&r, preset);
  struct mock *m = mock_new(STORES + 1, WARPS);
  ops.step = step_to_barrier;
  arrived_warps = 0;
  m->source.ops = &ops;
  m->dense = true;
  m->source.n_ctas = m->source.grid[0] = 4;
  m->source.cluster[0] = 2, m->source.cluster[1] = m->source.cluster[2] = 1;
  for (unsigned i = 0; i < STORES; i++) {
    m->inst[i].pipe = PIPE_MEM;
    m->inst[i].mem = (struct inst_mem){.space = MEM_CLUSTER, .op = MEM_STORE, .bytes = 4};
  }
  sm_start(r.sm, r.image, true);
  sm_open_grid(r.sm, 0, &m->source, 0, &r.arena);
  launch_queue_push(&r.sm->launches, (struct cta_launch){.carveout = r.params.l1_bytes - 65536});
  picos window = params_request_ps(&r.params), at = 0;
  for (picos from = 0; from < RUN_CYCLES * r.sm->period; from += window) {
    const struct cluster_msg *c;
    sm_run(r.sm, from, from + window);
    rig_answer_code(&r);
    for (; (c = cluster_queue_front(&r.sm->mem.port.cluster_out)); cluster_queue_pop(&r.sm->mem.port.cluster_out)) {
      assert_true(c->arrive >= at);
      at = c->arrive;
      assert_int_equal(arrivals, c->kind == CLUSTER_EXIT);
      accesses += c->kind == CLUSTER_ACCESS;
      if (c->kind == CLUSTER_ARRIVE) assert_int_equal(accesses, STORES * WARPS);
      arrivals += c->kind == CLUSTER_ARRIVE;
      exits += c->kind == CLUSTER_EXIT;
      if (c->kind == CLUSTER_ACCESS)
        cluster_queue_push(&r.sm->mem.port.cluster_in, (struct cluster_msg){.arrive = at + window, .txn = c->txn});
    }
  }
  assert_true(accesses == STORES * WARPS && arrivals == 1 && exits == 1);
  assert_int_equal(r.sm->resident, 0);
  free(m);
  rig_free(&r);
}

/* On a B200 an arrival alone would be faster than a store: it may not overtake one. */
static void stores_before_arrival(void **state)
{
  (void)state;
  stores_before_arrival_on("h200");
  stores_before_arrival_on("b200");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(times), cmocka_unit_test(order), cmocka_unit_test(barrier),
                                     cmocka_unit_test(exits), cmocka_unit_test(alone),
                                     cmocka_unit_test(moved), cmocka_unit_test(stores_before_arrival)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
