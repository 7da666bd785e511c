/* Schedulers counted apart (host/scheduler_tally.h): a random history of warps is told to the observer as the ledger tells
 * it (waits when the warp issues, or when a hold ends) and counted by hand, cycle by cycle; a real run adds up to the SM's counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/presets.h"
#include "host/case.h"
#include "host/launchfile.h"
#include "host/scheduler_tally.h"
#include "host/simulate.h"
#include "time/sm/observer.h"
#include "time/sm/sm.h"

static uint64_t next_random(uint64_t *seed, uint64_t below)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (*seed >> 33) % below;
}

static struct params preset(const char *name)
{
  struct err e = {0};
  struct params p;
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load(name, dir, &p, &e)) fail_msg("%s", e.msg);
  return p;
}

/* --- a history by hand ---------------------------------------------------------------------------- */

enum { WARPS = 5, CYCLES = 60000, SUB_CORE = 2, ABSENT = WARP_STATE__N };

struct history {
  uint8_t state[WARPS][CYCLES]; /* of each warp in each cycle; ABSENT: it is not there */
};

/* Warps come and go; waits are a few cycles, or some thousands; at most one warp issues in a cycle, and in some stretches
 * none. */
static void draw(struct history *h, uint64_t *seed)
{
  unsigned left[WARPS] = {0}, state[WARPS];
  for (unsigned w = 0; w < WARPS; w++) state[w] = ABSENT;
  for (unsigned at = 0; at < CYCLES; at++) {
    const bool quiet = at / 8192 % 3 == 1;
    bool issued = false;
    for (unsigned w = 0; w < WARPS; w++) {
      if (left[w] == 0) {
        state[w] = next_random(seed, 40) == 0 ? ABSENT : (unsigned)next_random(seed, WARP_STATE__N);
        left[w] = 1 + (unsigned)next_random(seed, next_random(seed, 50) == 0 ? 5000 : 12);
      }
      left[w]--;
      unsigned now = state[w];
      if (now == WS_SELECTED && (issued || quiet)) now = WS_NOT_SELECTED;
      issued |= now == WS_SELECTED;
      h->state[w][at] = (uint8_t)now;
    }
  }
}

static bool warp_is_there(const struct history *h, unsigned w, unsigned at)
{
  return h->state[w][at] != ABSENT;
}

static void tell_arrivals(const struct history *h, struct observer *o, uint64_t begin, unsigned at)
{
  for (unsigned w = 0; w < WARPS; w++) {
    if (!warp_is_there(h, w, at) || (at && warp_is_there(h, w, at - 1))) continue;
    const struct observed_warp x = {.number = w, .sub_core = SUB_CORE, .warp = (uint8_t)w};
    o->ops->warp_begin(o, &x, begin + at);
  }
}

/* Waits of a warp from `charged` to `until`, in stretches of one state. */
static void tell_waits(const struct history *h, struct observer *o, uint64_t begin, unsigned w, unsigned charged,
                       unsigned until)
{
  while (charged < until) {
    unsigned end = charged + 1;
    while (end < until && h->state[w][end] == h->state[w][charged]) end++;
    const struct observed_wait x = {.from = begin + charged, .until = begin + end,
                                    .state = (enum warp_state)h->state[w][charged]};
    o->ops->wait(o, SUB_CORE, w, &x);
    charged = end;
  }
}

static void tell(const struct history *h, struct observer *o, uint64_t begin)
{
  const struct inst inst = {.pipe = PIPE_FMA};
  unsigned charged[WARPS] = {0};
  for (unsigned at = 0; at < CYCLES; at++) {
    for (unsigned w = 0; w < WARPS; w++) {
      const bool was = at && warp_is_there(h, w, at - 1), is = warp_is_there(h, w, at);
      if (was && !is) { /* its CTA is over */
        tell_waits(h, o, begin, w, charged[w], at);
        o->ops->warp_end(o, SUB_CORE, w, begin + at);
      }
      if (!was && is) charged[w] = at;
    }
    tell_arrivals(h, o, begin, at);
    for (unsigned w = 0; w < WARPS; w++) {
      if (h->state[w][at] != WS_SELECTED) continue;
      const struct observed x = {.inst = &inst, .sub_core = SUB_CORE, .warp = (uint8_t)w};
      const struct observed_issue how = {.at = begin + at, .exec = (lane_mask)0x7};
      tell_waits(h, o, begin, w, charged[w], at + 1);
      charged[w] = at + 1;
      o->ops->issue(o, &x, &how);
    }
  }
  for (unsigned w = 0; w < WARPS; w++)
    if (warp_is_there(h, w, CYCLES - 1)) tell_waits(h, o, begin, w, charged[w], CYCLES);
}

static struct scheduler_counts counted(const struct history *h)
{
  struct scheduler_counts n = {0};
  for (unsigned at = 0; at < CYCLES; at++) {
    bool issued = false;
    for (unsigned w = 0; w < WARPS; w++) issued |= h->state[w][at] == WS_SELECTED;
    n.insts += issued;
    for (unsigned w = 0; w < WARPS; w++) {
      if (!warp_is_there(h, w, at)) continue;
      n.warps += at == 0 || !warp_is_there(h, w, at - 1);
      n.state[h->state[w][at]]++;
      n.not_issued[h->state[w][at]] += !issued;
    }
  }
  n.threads = 3 * n.insts;
  n.pipe[PIPE_FMA] = n.insts;
  return n;
}

static void test_history(void **state)
{
  (void)state;
  static struct history h;
  const struct params p = preset("rtx-3070");
  struct scheduler_tally *t = scheduler_tally_new(&p);
  const struct sim_observers *x = scheduler_tally_observers(t);
  uint64_t seed = 1, begin = 12345;
  for (unsigned round = 0; round < 8; round++, begin += CYCLES + 777) {
    draw(&h, &seed);
    x->begin(x->ctx, begin);
    struct observer *o = x->of(x->ctx, 3);
    tell(&h, o, begin);
    const struct scheduler_counts want = counted(&h);
    assert_true(want.insts > 1000 && want.not_issued[WS_WAIT] > 100 && want.not_issued[WS_WAIT] < want.state[WS_WAIT]);
    assert_memory_equal(scheduler_tally_of(t, 3, SUB_CORE), &want, sizeof want);
    for (unsigned w = 0; w < WARPS; w++)
      if (warp_is_there(&h, w, CYCLES - 1)) o->ops->warp_end(o, SUB_CORE, w, begin + CYCLES);
  }
  const struct scheduler_counts none = {0};
  assert_memory_equal(scheduler_tally_of(t, 3, 1), &none, sizeof none);
  assert_memory_equal(scheduler_tally_of(t, 2, SUB_CORE), &none, sizeof none);
  scheduler_tally_free(t);
}

/* --- a run -------------------------------------------------------------------------------------------- */

struct sums {
  uint64_t insts, warps, pipes, state[WARP_STATE__N], with_an_issue, warps_at_issues;
};

static struct sums sum_up(const struct scheduler_tally *t, const struct params *p)
{
  struct sums s = {0};
  for (unsigned i = 0; i < p->gpu_sms; i++)
    for (unsigned k = 0; k < p->sm_sub_cores; k++) {
      const struct scheduler_counts *c = scheduler_tally_of(t, i, k);
      s.insts += c->insts;
      s.warps += c->warps;
      s.pipes += stat_sum(c->pipe, PIPE__N);
      s.warps_at_issues += c->insts * c->warps;
      for (unsigned w = 0; w < WARP_STATE__N; w++) {
        assert_true(c->not_issued[w] <= c->state[w]);
        s.state[w] += c->state[w];
        s.with_an_issue += c->state[w] - c->not_issued[w];
      }
      assert_int_equal(c->not_issued[WS_SELECTED], 0);
      assert_int_equal(c->state[WS_SELECTED], c->insts);
    }
  return s;
}

/* One CTA: its warps are there from its first cycle to its last, so that in each cycle with an issue every warp of that
 * scheduler is in a state. */
static void test_run(void **state)
{
  (void)state;
  struct err e = {0};
  const struct params p = preset("rtx-3070");
  struct device_config config = device_config_for(&p, true);
  struct launch_case lc = {0};
  struct sim_result r;
  if (!launchfile_read(&lc, WS_SOURCE_DIR "/kernels/sort_bitonic/sort_bitonic.launch", &e)) fail_msg("%s", e.msg);
  struct case_run *cr = case_setup(&lc, &config, &e);
  if (!cr) fail_msg("%s", e.msg);
  struct simulator *s = simulator_new(&p);
  struct scheduler_tally *t = scheduler_tally_new(&p);
  const struct sim_options o = {.timed = true, .threads = 2, .observers = scheduler_tally_observers(t)};
  for (unsigned again = 0; again < 2; again++) {
    if (!simulate(s, case_launch(cr), &o, &r, &e)) fail_msg("%s", e.msg);
    const struct sums all = sum_up(t, &p);
    assert_int_equal(all.insts, r.warp_insts);
    assert_int_equal(all.pipes, r.warp_insts);
    assert_int_equal(all.warps, sim_counter(&r, "warps"));
    assert_true(all.warps > 4);
    assert_memory_equal(all.state, sim_counters(&r, "warp_state", WARP_STATE__N), sizeof all.state);
    assert_int_equal(all.with_an_issue, all.warps_at_issues);
  }
  simulator_free(s);
  scheduler_tally_free(t);
  case_free(cr);
  launch_case_free(&lc);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_history), cmocka_unit_test(test_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
