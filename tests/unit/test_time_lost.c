/* A reply that never comes ends the run as a deadlock whose report names the warp, the counter it waits for and
 * the instruction that was not answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "time/domain.h"
#include "time_rig.h"

enum { WARPS = 4, LATENCY = 300, WINDOW_CYCLES = 80 };

/* In place of the memory side: answers every request after a fixed time but the one to lose. */
struct answers {
  struct sm *sm;
  unsigned n, lose; /* requests seen; number of the lost one from 1 on, 0: none */
};

static picos answers_run(void *self, picos from, picos to)
{
  struct answers *a = self;
  struct mem_unit *m = &a->sm->mem;
  (void)from, (void)to;
  for (struct mem_req *r; (r = req_queue_front(&m->port.out)); req_queue_pop(&m->port.out)) {
    if (++a->n == a->lose) continue;
    reply_queue_push(&m->port.in, (struct mem_reply){r->arrive + LATENCY * a->sm->period, r->line,
                                                r->txn, r->kind, r->sectors, false});
  }
  return TIME_NEVER;
}

static uint64_t answers_progress(const void *self)
{
  return ((const struct answers *)self)->n;
}

static bool answers_busy(const void *self)
{
  (void)self;
  return false;
}

static void answers_dump(const void *self, FILE *out)
{
  (void)self, (void)out;
}

static const struct part_ops sm_ops = {sm_run, sm_progress, sm_busy, sm_dump};
static const struct part_ops answers_ops = {answers_run, answers_progress, answers_busy,
                                            answers_dump};

/* Every warp loads a line of its own. */
static bool load_step(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  const struct inst *in = code_at(&mock_of(w)->source.code, w->paths.p[path].pc);
  if (!mock_step(w, path, e, f)) return false;
  if (in->pipe != PIPE_MEM) return true;
  struct mem_effect *m = e->mem;
  m->space = MEM_GLOBAL;
  m->op = MEM_LOAD;
  m->bytes = 4;
  m->strong = false;
  m->lanes = UINT32_MAX;
  m->near_lanes = 0;
  for (unsigned i = 0; i < 32; i++)
    m->addr[i] = 0x10000 + ((struct mock_warp *)w)->id * LINE_BYTES + i * 4;
  e->flags |= EFF_MEM;
  return true;
}

/* Every warp starts an asynchronous copy of a line of its own. */
static bool copy_step(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  const struct inst *in = code_at(&mock_of(w)->source.code, w->paths.p[path].pc);
  if (!mock_step(w, path, e, f)) return false;
  if (in->pipe != PIPE_MEM) return true;
  e->mem->space = MEM_SHARED;
  e->mem->op = MEM_LOAD;
  e->mem->lanes = 1;
  e->mem->near_lanes = 0;
  e->mem->far = false;
  e->mem->copy = (struct mem_copy){.ctas = 1, .bytes = LINE_BYTES};
  e->flags |= EFF_MEM;
  return true;
}

static bool copy_piece(struct step_warp *w, struct effect *e, uint32_t k, struct copy_piece *p, struct gmem_view *v,
                       struct fault *f)
{
  (void)e, (void)k, (void)v, (void)f;
  *p = (struct copy_piece){.addr = 0x10000 + ((struct mock_warp *)w)->id * LINE_BYTES, .bytes = LINE_BYTES, .last = true};
  return true;
}

static bool go_on(void *ctx, picos now)
{
  (void)ctx, (void)now;
  return true;
}

static enum domain_end run(bool copy, unsigned lose, char *text, size_t size)
{
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(3, WARPS);
  struct step_ops ops = *m->source.ops;
  ops.step = copy ? copy_step : load_step;
  ops.copy_piece = copy_piece;
  m->source.ops = &ops;
  struct inst load = mock_alu(2, false); /* as nvcc does: the counter must be up before the consumer looks */
  load.pipe = PIPE_MEM;
  load.ctrl.write_sb = 3;
  load.mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_LOAD, .bytes = 4};
  if (copy) load.mem = (struct inst_mem){.space = MEM_SHARED, .copy = COPY_LOAD}, load.ctrl.write_sb = SB_NONE;
  mock_set(m, 1, load);
  if (!copy) m->inst[2].ctrl.wait = 1u << 3;
  sm_start(r.sm, r.image, m->source.caps & STEP_CAP_CONTROL);
  sm_open_grid(r.sm, 0, &m->source, 0, &r.arena);
  struct answers a = {r.sm, 0, lose};
  struct part part[] = {{&sm_ops, r.sm, 0}, {&answers_ops, &a, TIME_NEVER}};
  r.sm->launches.wake = r.sm->mem.port.in.wake = &part[0].next;
  launch_queue_push(&r.sm->launches, (struct cta_launch){.carveout = r.params.l1_bytes - 65536});
  struct domain *d = domain_new(&(struct domain_config){.window = WINDOW_CYCLES * r.sm->period,
                                                        .phase = {{.part = &part[0], .n = 1},
                                                                  {.part = &part[1], .n = 1, .serial = true}},
                                                        .n_phases = 2,
                                                        .watchdog_windows = 100,
                                                        .between = go_on});
  enum domain_end end = domain_run(d, TIME_NEVER, NULL);
  assert_int_equal(a.n, WARPS);
  memset(text, 0, size);
  FILE *f = fmemopen(text, size, "w");
  domain_dump(d, f);
  fclose(f);
  domain_free(d);
  free(m);
  rig_free(&r);
  return end;
}

static void all_replies_end_the_run(void **state)
{
  (void)state;
  char text[4096];
  assert_int_equal(run(false, 0, text, sizeof text), DOMAIN_IDLE);
  assert_string_equal(text, "");
  assert_int_equal(run(true, 0, text, sizeof text), DOMAIN_IDLE);
  assert_string_equal(text, "");
}

static unsigned times(const char *text, const char *what)
{
  unsigned n = 0;
  for (const char *p = text; (p = strstr(p, what)); p++) n++;
  return n;
}

static void lost_reply_is_named(void **state)
{
  (void)state;
  char text[4096], pc[64];
  snprintf(pc, sizeof pc, "at pc 0x%x", MOCK_BASE + 16);
  for (unsigned lose = 1; lose <= WARPS; lose++) {
    assert_int_equal(run(false, lose, text, sizeof text), DOMAIN_STUCK);
    if (!strstr(text, "1 requests unanswered") ||
        times(text, "waits for SB3 (long_scoreboard, count 1)") != 1 ||
        times(text, "memory instruction of warp slot") != 1 || times(text, pc) != 1 ||
        times(text, "1 of 1 lines unanswered") != 1 || times(text, "exited") != WARPS - 1)
      fail_msg("reply %u lost:\n%s", lose, text);
  }
}

/* The warps have exited, their CTA stays for the copy. */
static void lost_reply_of_a_copy_is_named(void **state)
{
  (void)state;
  char text[4096];
  for (unsigned lose = 1; lose <= WARPS; lose++) {
    assert_int_equal(run(true, lose, text, sizeof text), DOMAIN_STUCK);
    if (!strstr(text, "1 requests unanswered") || times(text, "asynchronous copy engine: load of pc 0x1010") != 1 ||
        times(text, "requested, 1 requests unanswered") != 1 || times(text, "memory instruction of warp slot") != 0)
      fail_msg("reply %u lost:\n%s", lose, text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_replies_end_the_run),
      cmocka_unit_test(lost_reply_is_named),
      cmocka_unit_test(lost_reply_of_a_copy_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
