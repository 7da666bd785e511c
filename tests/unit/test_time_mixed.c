/* A generic access of which some lanes go to global memory and some to shared memory of another CTA: it goes both ways,
 * its lanes in global memory as those of a strong access, and ends with the last of the two answers; one whose other
 * lanes go to the own CTA is an access to global memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "time_rig.h"

enum { LATENCY = 300 };

static bool touch(struct step_warp *w, unsigned path, struct effect *e, struct fault *f, bool far)
{
  const struct inst *in = code_at(&mock_of(w)->source.code, w->paths.p[path].pc);
  if (!mock_step(w, path, e, f)) return false;
  if (in->pipe != PIPE_MEM) return true;
  struct mem_effect *m = e->mem;
  m->space = MEM_GLOBAL;
  m->op = MEM_LOAD;
  m->bytes = 4;
  m->strong = false;
  m->lanes = 0x0000ffff;
  m->near_lanes = 0xffff0000;
  m->far = far ? m->near_lanes : 0;
  for (unsigned i = 0; i < 32; i++) m->addr[i] = 0x10000 + i * 4;
  e->flags |= EFF_MEM;
  return true;
}

static bool touch_other(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  return touch(w, path, e, f, true);
}

static bool touch_own(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  return touch(w, path, e, f, false);
}

struct seen {
  unsigned requests, strong, messages; /* that left the SM: to L2, strong ones among them, to other SMs */
  bool busy;                           /* in the end */
};

/* Answers what leaves the SM; messages to other SMs as many cycles later as given, 0: never. */
static struct seen run(bool other, unsigned network)
{
  struct rig r;
  struct seen seen = {0};
  rig_build(&r);
  struct mock *m = mock_new(3, 1);
  struct step_ops ops = *m->source.ops;
  ops.step = other ? touch_other : touch_own;
  m->source.ops = &ops;
  struct inst load = mock_alu(2, false);
  load.pipe = PIPE_MEM;
  load.ctrl.write_sb = 3;
  load.mem = (struct inst_mem){.space = MEM_GENERIC, .op = MEM_LOAD, .bytes = 4};
  mock_set(m, 1, load);
  m->inst[2].ctrl.wait = 1u << 3;
  sm_start(r.sm, r.image, m->source.caps & STEP_CAP_CONTROL);
  sm_open_grid(r.sm, 0, &m->source, 0, &r.arena);
  launch_queue_push(&r.sm->launches, (struct cta_launch){.carveout = r.params.l1_bytes - 65536});
  for (unsigned i = 0; i < 100 && r.sm->fault.kind == FAULT_NONE; i++) {
    struct sm_port *u = &r.sm->mem.port;
    sm_run(r.sm, i * 100 * r.sm->period, (i + 1) * 100 * r.sm->period);
    for (struct mem_req *q; (q = req_queue_front(&u->out)); req_queue_pop(&u->out), seen.requests++) {
      seen.strong += q->kind == REQ_STRONG;
      picos at = q->arrive + LATENCY * r.sm->period;
      reply_queue_push(&u->in, (struct mem_reply){at, q->line, q->txn, q->kind, q->sectors, false});
    }
    for (struct cluster_msg *c; (c = cluster_queue_front(&u->cluster_out)); cluster_queue_pop(&u->cluster_out)) {
      if (c->kind != CLUSTER_ACCESS) continue;
      seen.messages++;
      struct cluster_msg back = {.arrive = c->arrive + network * r.sm->period, .txn = c->txn};
      if (network) cluster_queue_push(&u->cluster_in, back);
    }
  }
  assert_int_equal(r.sm->fault.kind, FAULT_NONE);
  seen.busy = sm_busy(r.sm);
  free(m);
  rig_free(&r);
  return seen;
}

static void other_ctas(void **state)
{
  static const unsigned network[] = {0, LATENCY / 3, 3 * LATENCY}; /* no answer; the first one; the last one */
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    struct seen s = run(true, network[i]);
    assert_int_equal(s.requests, 1); /* a line */
    assert_int_equal(s.strong, 1);
    assert_int_equal(s.messages, 1);
    assert_int_equal(s.busy, network[i] == 0);
  }
}

static void the_own_cta(void **state)
{
  struct seen s = run(false, LATENCY);
  (void)state;
  assert_int_equal(s.requests, 1);
  assert_int_equal(s.strong, 0);
  assert_int_equal(s.messages, 0);
  assert_false(s.busy);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(other_ctas), cmocka_unit_test(the_own_cta)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
