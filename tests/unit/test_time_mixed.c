/* A generic access of which some lanes go to global memory and some to shared memory of another CTA: in time it ends the launch
 * with a fault that names it; one whose other lanes go to the own CTA is an access to global memory. */
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
  m->far = far;
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

/* Requests that left the SM before it had nothing more to do, or a fault. */
static unsigned run(bool other, struct fault *fault)
{
  struct rig r;
  unsigned n = 0;
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
    sm_run(r.sm, i * 100 * r.sm->period, (i + 1) * 100 * r.sm->period);
    for (struct mem_req *q; (q = req_queue_front(&r.sm->mem.port.out)); req_queue_pop(&r.sm->mem.port.out), n++)
      reply_queue_push(&r.sm->mem.port.in, (struct mem_reply){q->arrive + LATENCY * r.sm->period, q->line, q->txn, q->kind, q->sectors});
  }
  *fault = r.sm->fault;
  if (!other) assert_false(sm_busy(r.sm));
  free(m);
  rig_free(&r);
  return n;
}

static void other_ctas(void **state)
{
  struct fault f;
  (void)state;
  assert_int_equal(run(true, &f), 0);
  assert_int_equal(f.kind, FAULT_UNSUPPORTED);
  assert_int_equal(f.pc, MOCK_BASE + 16);
  assert_non_null(strstr(f.text, "pc 0x1010"));
  assert_non_null(strstr(f.text, "--functional"));
}

static void the_own_cta(void **state)
{
  struct fault f;
  (void)state;
  assert_int_equal(run(false, &f), 1); /* a line */
  assert_int_equal(f.kind, FAULT_NONE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(other_ctas), cmocka_unit_test(the_own_cta)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
