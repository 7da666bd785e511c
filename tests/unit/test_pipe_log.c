/* What the log of the pipeline keeps of events made up here (docs/pipeline.md): expected records by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/pipe_log.h"
#include "host/simulate.h"

enum { SMS = 3, BEGIN = 1000 };

static struct pipe_log *log_of(const char *warps, const char *cycles, int sm)
{
  struct pipe_choice c = pipe_choice_default();
  struct params p = {.gpu_sms = SMS};
  struct err e;
  assert_true(pipe_choice_warps(&c, warps, &e));
  if (cycles) assert_true(pipe_choice_cycles(&c, cycles, &e));
  c.sm = sm;
  struct pipe_log *log = pipe_log_new(&c, &p);
  pipe_log_observers(log)->begin(pipe_log_observers(log)->ctx, BEGIN);
  return log;
}

static struct observer *on(const struct pipe_log *log, unsigned sm)
{
  return pipe_log_observers(log)->of(pipe_log_observers(log)->ctx, sm);
}

/* Warp `number` of a CTA of a grid of `ctas` comes into a slot. */
static void arrive(struct observer *o, uint64_t ctas, uint64_t id, unsigned number, unsigned sub_core, unsigned slot)
{
  struct step_source source = {.n_ctas = ctas};
  struct sm_grid grid = {.source = &source};
  struct step_cta cta = {.source = &source, .id = id};
  o->ops->warp_begin(o, &(struct observed_warp){.grid = &grid, .cta = &cta, .number = number,
                                                .sub_core = (uint8_t)sub_core, .warp = (uint8_t)slot}, BEGIN);
}

static const struct inst some;

static struct observed issue(struct observer *o, uint32_t seq, unsigned sub_core, unsigned slot, uint64_t at)
{
  struct observed x = {.inst = &some, .seq = seq, .sub_core = (uint8_t)sub_core, .warp = (uint8_t)slot};
  o->ops->issue(o, &x, &(struct observed_issue){.at = BEGIN + at, .exec = 5});
  return x;
}

static void wait(struct observer *o, unsigned sub_core, unsigned slot, enum warp_state s, uint64_t from, uint64_t until)
{
  o->ops->wait(o, sub_core, slot, &(struct observed_wait){.from = BEGIN + from, .until = BEGIN + until, .state = s});
}

static void stages_and_waits(void **state)
{
  (void)state;
  struct pipe_log *log = log_of("1", NULL, -1);
  struct observer *o = on(log, 2);
  arrive(o, 8, 1, 6, 3, 11); /* chosen */
  arrive(o, 8, 2, 6, 3, 12); /* another CTA */
  wait(o, 3, 11, WS_NO_INSTRUCTION, 0, 40);
  wait(o, 3, 11, WS_WAIT, 40, 50);
  wait(o, 3, 11, WS_SELECTED, 50, 51);
  wait(o, 3, 12, WS_WAIT, 0, 50);
  struct observed a = issue(o, 70, 3, 11, 50);
  issue(o, 71, 3, 12, 51);
  wait(o, 3, 11, WS_WAIT, 51, 60);
  struct observed b = issue(o, 72, 3, 11, 60);
  o->ops->stage(o, &a, STAGE_FETCH, BEGIN + 20); /* before it issued */
  o->ops->stage(o, &b, STAGE_MEMORY, BEGIN + 80);
  o->ops->stage(o, &a, STAGE_WRITE, BEGIN + 90);
  o->ops->done(o, &a, BEGIN + 91);
  o->ops->stage(o, &a, STAGE_READ, BEGIN + 95); /* it has left: not known any more */
  o->ops->warp_end(o, 3, 11, BEGIN + 100);
  issue(o, 73, 3, 11, 100); /* of the slot's next warp, which did not arrive */
  pipe_log_sort(log);
  assert_int_equal(log->n_insts, 2);
  const struct pipe_inst *x = &log->inst[0], *y = &log->inst[1];
  assert_true(x->cta == 1 && x->issued == 50 && x->exec == 5 && x->seq == 70 && x->order == 0 && x->inst == &some);
  assert_true(x->sm == 2 && x->sub_core == 3 && x->slot == 11 && x->warp == 6);
  assert_int_equal(x->stage[STAGE_FETCH], -30);
  assert_int_equal(x->stage[STAGE_WRITE], 40);
  assert_int_equal(x->stage[STAGE_READ], PIPE_NEVER);
  assert_int_equal(x->stage[STAGE_MEMORY], PIPE_NEVER);
  assert_int_equal(x->done, 41);
  assert_true(y->seq == 72 && y->order == 1 && y->done == PIPE_NEVER && y->stage[STAGE_MEMORY] == 20);
  assert_int_equal(x->n_waits, 2); /* without the cycle of its issue */
  const struct pipe_wait *w = log->wait + x->first_wait;
  assert_true(w[0].from == -50 && w[0].until == -10 && w[0].state == WS_NO_INSTRUCTION);
  assert_true(w[1].from == -10 && w[1].until == 0 && w[1].state == WS_WAIT);
  assert_int_equal(y->n_waits, 1);
  w = log->wait + y->first_wait;
  assert_true(w->from == -9 && w->until == 0);
  pipe_log_free(log);
}

/* Times that do not fit are the longest there are. */
static void far_away(void **state)
{
  (void)state;
  struct pipe_log *log = log_of("all", NULL, -1);
  struct observer *o = on(log, 0);
  arrive(o, 1, 0, 0, 0, 0);
  wait(o, 0, 0, WS_WAIT, 0, UINT64_C(1) << 33);
  struct observed x = issue(o, 1, 0, 0, UINT64_C(1) << 33);
  o->ops->done(o, &x, BEGIN + (UINT64_C(1) << 34));
  pipe_log_sort(log);
  assert_int_equal(log->inst[0].issued, UINT64_C(1) << 33);
  assert_int_equal(log->inst[0].done, INT32_MAX);
  assert_int_equal(log->wait[0].from, -INT32_MAX);
  assert_int_equal(log->wait[0].until, 0);
  pipe_log_free(log);
}

/* By cycle, SM, sub-core; waits follow their instructions. */
static void order(void **state)
{
  static const struct {
    unsigned sm, sub_core;
    uint64_t at;
  } in[] = {{0, 1, 5}, {0, 0, 7}, {1, 2, 3}, {1, 0, 5}, {2, 3, 5}, {2, 1, 6}, {2, 0, 6}};
  static const unsigned want[] = {2, 0, 3, 4, 6, 5, 1};
  enum { N = sizeof want / sizeof want[0] };
  (void)state;
  struct pipe_log *log = log_of("all", NULL, -1);
  for (unsigned sm = 0; sm < SMS; sm++)
    for (unsigned c = 0; c < 4; c++) arrive(on(log, sm), 8, sm, 0, c, 0);
  for (unsigned i = 0; i < N; i++) {
    for (unsigned k = 0; k < i; k++) wait(on(log, in[i].sm), in[i].sub_core, 0, WS_WAIT, 0, i);
    issue(on(log, in[i].sm), i, in[i].sub_core, 0, in[i].at);
  }
  for (unsigned again = 0; again < 2; again++) { /* the same when asked twice */
    pipe_log_sort(log);
    assert_int_equal(log->n_insts, N);
    for (unsigned i = 0; i < N; i++) {
      const struct pipe_inst *x = &log->inst[i];
      assert_int_equal(x->seq, want[i]);
      assert_int_equal(x->order, i);
      assert_int_equal(x->n_waits, want[i]);
      for (unsigned k = 0; k < x->n_waits; k++)
        assert_int_equal(log->wait[x->first_wait + k].until, (int64_t)want[i] - (int64_t)x->issued);
    }
  }
  pipe_log_observers(log)->begin(pipe_log_observers(log)->ctx, 0); /* a run forgets the one before */
  pipe_log_sort(log);
  assert_int_equal(log->n_insts, 0);
  pipe_log_free(log);
}

static void chosen_cycles_and_sm(void **state)
{
  (void)state;
  struct pipe_log *log = log_of("all", "10:20", 1);
  assert_null(on(log, 0));
  assert_null(on(log, 2));
  struct observer *o = on(log, 1);
  arrive(o, 1, 0, 0, 0, 0);
  for (uint32_t at = 8; at < 23; at++) {
    wait(o, 0, 0, WS_WAIT, at - 1, at);
    issue(o, at, 0, 0, at);
  }
  pipe_log_sort(log);
  assert_int_equal(log->n_insts, 10);
  assert_int_equal(log->inst[0].issued, 10);
  assert_int_equal(log->inst[0].n_waits, 1); /* of those before it that were not chosen, none */
  assert_int_equal(log->inst[9].issued, 19);
  assert_int_equal(log->lost, 0);
  pipe_log_free(log);
}

/* An SM keeps its share: what is chosen can be on n SMs. Returns how many of `issued` instructions it kept. */
static void share(const char *warps, int sm, uint64_t ctas, unsigned n)
{
  const uint32_t room = PIPE_LOG_MAX / n;
  struct pipe_log *log = log_of(warps, NULL, sm);
  struct observer *o = on(log, 1);
  arrive(o, ctas, 0, 0, 0, 0);
  for (uint32_t i = 0; i < room; i++) {
    struct observed x = issue(o, i, 0, 0, i);
    o->ops->done(o, &x, BEGIN + i + 1);
  }
  pipe_log_sort(log);
  assert_int_equal(log->n_insts, room);
  assert_int_equal(log->lost, 0);
  issue(o, room, 0, 0, room + 7);
  issue(o, room + 1, 0, 0, room + 9);
  pipe_log_sort(log);
  if (log->n_insts != room || log->lost != 2) fail_msg("%s of %u CTAs: %u kept, not %u", warps, (unsigned)ctas, log->n_insts, room);
  assert_int_equal(log->lost_from, room + 7);
  assert_int_equal(log->inst[room - 1].done, 1);
  pipe_log_free(log);
}

static void shares(void **state)
{
  (void)state;
  share("all", -1, 8, SMS);
  share("all", 1, 8, 1);   /* one SM is asked for */
  share("all", -1, 2, 2);  /* no more CTAs than that */
  share("0", -1, 8, 1);
  share("0,5", -1, 8, 2);
  share("0-1", -1, 8, 2);
  share("0-1,0", -1, 8, SMS);
  share("0-99", -1, 8, SMS);
}

/* Of what several SMs lost the first counts. */
static void lost_first(void **state)
{
  (void)state;
  struct pipe_log *log = log_of("all", NULL, -1);
  for (unsigned sm = 0; sm < SMS; sm++) {
    arrive(on(log, sm), 8, sm, 0, 0, 0);
    for (uint32_t i = 0; i < PIPE_LOG_MAX / SMS + (sm != 1); i++) issue(on(log, sm), i, 0, 0, sm ? i : i + 100);
  }
  pipe_log_sort(log);
  assert_int_equal(log->lost, 2);
  assert_int_equal(log->lost_from, PIPE_LOG_MAX / SMS);
  pipe_log_free(log);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(stages_and_waits), cmocka_unit_test(far_away), cmocka_unit_test(order),
                                     cmocka_unit_test(chosen_cycles_and_sm), cmocka_unit_test(shares), cmocka_unit_test(lost_first)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
