/* Issue stage, dependence counters and memory queue of the core against the figures and tables of
 * Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

/* Figure 4: four warps of one sub-core (0, 4, 8, 12 of the CTA are W0 … W3), 32 instructions each.
 * */
enum { FIG4_INSTS = 32 };

static void fig4(unsigned stall, bool yield, const uint64_t first[4], const uint64_t second[4],
                 const uint64_t third[4])
{
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(FIG4_INSTS - 1, 16);
  mock_set(m, 1, mock_alu(stall, yield));
  rig_run(&r, m);
  for (unsigned w = 0; w < 4; w++) {
    assert_int_equal(m->issued[4 * w][0] - START, first[w]);
    assert_int_equal(m->issued[4 * w][1] - START, second[w]);
    assert_int_equal(m->issued[4 * w][2] - START, third[w]);
    /* From the third on, nothing interrupts a warp. */
    assert_int_equal(m->issued[4 * w][31] - m->issued[4 * w][2], 29);
  }
  free(m);
  rig_free(&r);
}

static void figure_4a(void **state)
{
  (void)state; /* without the figure's instruction-cache miss: youngest first, each to its end */
  fig4(1, false, (const uint64_t[]){96, 64, 32, 0}, (const uint64_t[]){97, 65, 33, 1},
       (const uint64_t[]){98, 66, 34, 2});
}

static void figure_4b(void **state)
{
  (void)state; /* the last warp waits alone: 3 idle cycles by the rule of section 4.1 */
  fig4(4, false, (const uint64_t[]){96, 4, 2, 0}, (const uint64_t[]){97, 5, 3, 1},
       (const uint64_t[]){101, 66, 36, 6});
}

static void figure_4c(void **state)
{
  (void)state;
  fig4(1, true, (const uint64_t[]){66, 64, 2, 0}, (const uint64_t[]){67, 65, 3, 1},
       (const uint64_t[]){98, 68, 34, 4});
}

/* Four warps of one sub-core, W0 the oldest, six independent instructions each, the third with a stall of
 * 2: who issues when, worked out from the policies' definitions. */
enum { POLICY_INSTS = 6 };

static void policy(enum issue_policy p, const uint64_t want[4][POLICY_INSTS])
{
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.issue_policy = p;
  rig_init(&r);
  struct mock *m = mock_new(POLICY_INSTS - 1, 16);
  mock_set(m, 2, mock_alu(2, false));
  rig_run(&r, m);
  for (unsigned w = 0; w < 4; w++)
    for (unsigned i = 0; i < POLICY_INSTS; i++)
      assert_int_equal(m->issued[4 * w][i] - START, want[w][i]);
  free(m);
  rig_free(&r);
}

/* W3 to its stall, W2 in its shadow to its own; then W3, the youngest, has long been ready. */
static void policy_cggty(void **state)
{
  (void)state;
  policy(ISSUE_POLICY_CGGTY, (const uint64_t[4][POLICY_INSTS]){{15, 16, 17, 21, 22, 23},
                                                               {12, 13, 14, 18, 19, 20},
                                                               {3, 4, 5, 9, 10, 11},
                                                               {0, 1, 2, 6, 7, 8}});
}

/* The same with the ages turned round. */
static void policy_gto(void **state)
{
  (void)state;
  policy(ISSUE_POLICY_GTO, (const uint64_t[4][POLICY_INSTS]){{0, 1, 2, 6, 7, 8},
                                                             {3, 4, 5, 9, 10, 11},
                                                             {12, 13, 14, 18, 19, 20},
                                                             {15, 16, 17, 21, 22, 23}});
}

/* The oldest as soon as it is ready again; the last one stalls alone. */
static void policy_oldest(void **state)
{
  (void)state;
  policy(ISSUE_POLICY_OLDEST, (const uint64_t[4][POLICY_INSTS]){{0, 1, 2, 4, 5, 6},
                                                                {3, 7, 8, 10, 11, 12},
                                                                {9, 13, 14, 16, 17, 18},
                                                                {15, 19, 20, 22, 23, 24}});
}

/* In turn: nobody notices the stall. */
static void policy_lrr(void **state)
{
  (void)state;
  policy(ISSUE_POLICY_LRR, (const uint64_t[4][POLICY_INSTS]){{0, 4, 8, 12, 16, 20},
                                                             {1, 5, 9, 13, 17, 21},
                                                             {2, 6, 10, 14, 18, 22},
                                                             {3, 7, 11, 15, 19, 23}});
}

/* Four warps of one sub-core, then a new one comes into the slot of the second: it is the youngest, or as old as the one
 * before it. */
static void who_is_young(enum issue_age age, const uint8_t want[4])
{
  struct rig r;
  rig_params(&r, "a100");
  r.params.issue_age = age;
  rig_init(&r);
  struct mock *m = mock_new(POLICY_INSTS, 4);
  sm_start(r.sm, r.image, false);
  sm_open_grid(r.sm, 0, &m->source, 0, &r.arena);
  m->source.ops->cta_begin(&m->source, 0, 0, 0, 0);
  struct sub_core *p = &r.sm->sub_core[0];
  for (unsigned w = 0; w < 4; w++) sub_core_add_warp(p, &r.sm->grid[0], m->warps[w], 0, 1);
  sub_core_remove_warp(p, 1, 2);
  assert_int_equal(sub_core_add_warp(p, &r.sm->grid[0], m->warps[1], 0, 3), 1);
  assert_memory_equal(p->warps.order, want, 4);
  for (unsigned i = 0; i < 4; i++) assert_int_equal(p->warps.place[want[i]], i);
  free(m);
  rig_free(&r);
}

static void age_of_a_warp(void **state)
{
  (void)state;
  who_is_young(ISSUE_AGE_LAUNCH, (const uint8_t[]){0, 2, 3, 1});
  who_is_young(ISSUE_AGE_SLOT, (const uint8_t[]){0, 1, 2, 3});
}

/* Cycles that warps have waited go with them when one comes between them. */
static void waits_move_with_their_warps(void **state)
{
  (void)state;
  struct tally t = {0};
  tally_add(&t, 0x5, 7);
  tally_add(&t, 0x2, 300);
  tally_insert(&t, 1);
  const uint64_t want[] = {7, 0, 300, 7, 0};
  for (unsigned i = 0; i < 5; i++) assert_int_equal(tally_take(&t, i), want[i]);
}

static void stall_and_yield(void **state)
{
  (void)state; /* distance to the next instruction of a lone warp */
  static const struct {
    unsigned stall;
    bool yield;
    unsigned distance;
  } row[] = {{1, false, 1},  {1, true, 2},    {2, false, 2},  {2, true, 2},
             {4, false, 4},  {11, false, 11}, {12, true, 12}, {15, true, 15},
             {12, false, 2}, {0, true, 45},   {0, false, 1}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(4, 1);
    mock_set(m, 1, mock_alu(row[i].stall, row[i].yield));
    rig_run(&r, m);
    assert_int_equal(m->issued[0][2] - m->issued[0][1], row[i].distance);
    free(m);
    rig_free(&r);
  }
}

/* Table 2 of the paper from issue to issue: a clock read less. */
enum { SHARED_LOAD = 24 - 1, SHARED_SOURCES = 9 - 1 };

static struct inst load_shared(unsigned write_sb, unsigned read_sb, unsigned stall)
{
  struct inst in = mock_alu(stall, false);
  in.pipe = PIPE_MEM;
  in.mem = (struct inst_mem){.space = MEM_SHARED, .op = MEM_LOAD, .bytes = 4, .addr = ADDR_REGULAR};
  in.ctrl.write_sb = (uint8_t)write_sb;
  in.ctrl.read_sb = (uint8_t)read_sb;
  return in;
}

static void stale_counter(void **state)
{
  (void)state; /* producer with stall 1: the next instruction still sees the counter at 0 */
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(6, 1);
  mock_set(m, 0, load_shared(0, SB_NONE, 1));
  struct inst raw = mock_alu(1, false);
  raw.ctrl.wait = 1;
  mock_set(m, 1, raw);
  mock_set(m, 2, raw);
  rig_run(&r, m);
  assert_int_equal(m->issued[0][1] - m->issued[0][0], 1);
  assert_int_equal(m->issued[0][2] - m->issued[0][0], SHARED_LOAD);
  free(m);
  rig_free(&r);
}

/* DEPBAR.LE SB0, 2 behind three loads on one counter issues at once and lets the next instruction go when
 * the first load is back. It takes hold four cycles after issue: behind a shorter stall one
 * instruction slips through (A100: stalls 1 to 3 fail). */
static void depbar(void **state)
{
  (void)state;
  for (unsigned stall = 1; stall <= 5; stall++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(8, 1);
    for (unsigned i = 0; i < 3; i++) mock_set(m, i, load_shared(0, SB_NONE, 1));
    struct inst d = mock_alu(stall, false);
    d.flags = INST_DEPBAR;
    d.hold_for = 1 << 0;
    d.n_limits = 1;
    d.limit[0] = (struct inst_limit){0, 2};
    mock_set(m, 3, d);
    rig_run(&r, m);
    const uint64_t *t = m->issued[0];
    assert_int_equal(t[3] - t[0], 3);
    assert_int_equal(t[4] - t[0], stall >= 4 ? SHARED_LOAD : 3 + stall);
    assert_int_equal(t[7] - t[0] >= SHARED_LOAD, 1);
    if (stall >= 4) /* held because of the load, though the counter does not reach zero; the only warp is never passed over */
      assert_true(r.sm->stats.warp_state[WS_SHORT_SCOREBOARD] >= t[4] - (t[3] + stall));
    assert_int_equal(r.sm->stats.warp_state[WS_NOT_SELECTED], 0);
    free(m);
    rig_free(&r);
  }
}

/* DEPBAR {5,3} waits for the counters it lists, whether or not its own, SB0, was ever in use. */
static void depbar_of_a_list(void **state)
{
  (void)state;
  for (unsigned list = 0; list < 1u << SB_COUNT; list += 8) { /* SB3 to SB5 */
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(4, 1);
    mock_set(m, 0, load_shared(3, SB_NONE, 1));
    struct inst d = mock_alu(4, false);
    d.flags = INST_DEPBAR;
    d.hold_for = (uint8_t)(1 << 0 | list);
    mock_set(m, 1, d);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][2] - m->issued[0][0], list & 1u << 3 ? SHARED_LOAD : 5);
    free(m);
    rig_free(&r);
  }
}

/* Figure 2: seven instructions, issue cycles 1 2 3 5 6 15 and 36 in the figure (data/paper/figures.windows). The loads are shared
 * ones here; the last instruction waits for the second load. */
static void figure_2(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(8, 1);
  mock_set(m, 0, load_shared(3, SB_NONE, 1));
  mock_set(m, 1, load_shared(3, 0, 1));
  mock_set(m, 2, load_shared(4, 0, 2));
  struct inst d = mock_alu(4, false), last = mock_alu(1, false);
  d.flags = INST_DEPBAR;
  d.hold_for = 1 << 0;
  d.n_limits = 1;
  d.limit[0] = (struct inst_limit){0, 1};
  last.ctrl.wait = 1 << 0 | 1 << 3;
  mock_set(m, 4, d);
  mock_set(m, 6, last);
  rig_run(&r, m);
  const uint64_t *t = m->issued[0];
  static const unsigned want[] = {1, 2, 3, 5, 6};
  for (unsigned i = 0; i < 5; i++) assert_int_equal(t[i] - t[0] + 1, want[i]);
  /* The second load issues in 2 and is served 3 cycles later than alone: it queues behind the first. */
  assert_int_equal(t[5] - t[0] + 1, 2 + SHARED_SOURCES + 3);
  assert_int_equal(t[6] - t[0] + 1, 2 + SHARED_LOAD + 3);
  free(m);
  rig_free(&r);
}

/* BAR takes hold 7 cycles after its issue: six instructions of a stall of 1 slip through, the seventh waits until 23 cycles
 * after the last arrival. W4, the youngest of its sub-core, comes first; W0 behind it, when W4 is held. */
static void barrier_takes_hold_late(void **state)
{
  (void)state;
  enum { BEFORE = 10, BEHIND = 8, SLIP = 6, BAR = 23 };
  struct rig r;
  rig_build(&r);
  struct mock *m = mock_new(BEFORE + 1 + BEHIND, 5);
  m->inst[BEFORE].flags = INST_BAR;
  rig_run(&r, m);
  const uint64_t *w0 = m->issued[0], *w4 = m->issued[4];
  uint64_t last = START + BEFORE + SLIP + 1 + BEFORE;
  for (unsigned i = 0; i <= BEFORE + SLIP; i++) {
    assert_int_equal(w4[i], START + i);
    assert_int_equal(w0[i], last - BEFORE + i);
  }
  for (unsigned i = BEFORE + SLIP + 1; i <= BEFORE + 1 + BEHIND; i++) {
    unsigned k = i - (BEFORE + SLIP + 1);
    assert_int_equal(w0[i], last + BAR + k);
    assert_int_equal(w4[i], last + BAR + 3 + k); /* W0 has issued last, and goes on to its EXIT */
    assert_int_equal(m->issued[1][i], last + BAR + k);
  }
  free(m);
  rig_free(&r);
}

/* What waits in a queue, votes and control flow stay behind the barrier. */
static void barrier_holds_at_once(void **state)
{
  (void)state;
  enum { BAR = 23 };
  struct inst vote = mock_alu(1, false), branch = mock_alu(1, false), sfu = mock_alu(1, false);
  vote.pipe = PIPE_MISC;
  branch.flags = INST_BRANCH;
  sfu.pipe = PIPE_SFU;
  const struct inst second[] = {load_shared(0, SB_NONE, 1), vote, branch, sfu};
  for (unsigned i = 0; i < sizeof second / sizeof second[0]; i++) {
    struct rig r;
    rig_build(&r);
    struct mock *m = mock_new(2, 1);
    m->inst[0].flags = INST_BAR;
    mock_set(m, 1, second[i]);
    rig_run(&r, m);
    assert_int_equal(m->issued[0][1] - m->issued[0][0], BAR);
    free(m);
    rig_free(&r);
  }
}

/* A warp that waits for a counter when a barrier takes hold waits at the barrier until that ends, in its own cycle,
 * and then for the counter. */
static void barrier_ends_in_its_own_cycle(void **state)
{
  (void)state;
  enum { BAR = 12 };
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.lat[LAT_BAR] = BAR;
  rig_init(&r);
  struct mock *m = mock_new(3, 1);
  struct inst last = mock_alu(1, false);
  last.ctrl.wait = 1;
  mock_set(m, 0, load_shared(0, SB_NONE, 1));
  m->inst[1].flags = INST_BAR;
  mock_set(m, 2, last);
  rig_run(&r, m);
  assert_int_equal(m->issued[0][1], START + 1);
  assert_int_equal(m->issued[0][2], START + SHARED_LOAD);
  const uint64_t *in = r.sm->stats.warp_state;
  assert_int_equal(in[WS_BARRIER], BAR - 1);
  assert_int_equal(in[WS_SHORT_SCOREBOARD], SHARED_LOAD - 1 - BAR);
  free(m);
  rig_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figure_4a),     cmocka_unit_test(figure_4b),
      cmocka_unit_test(figure_4c),     cmocka_unit_test(stall_and_yield),
      cmocka_unit_test(policy_cggty),  cmocka_unit_test(policy_gto),
      cmocka_unit_test(policy_oldest), cmocka_unit_test(policy_lrr), cmocka_unit_test(age_of_a_warp),
      cmocka_unit_test(waits_move_with_their_warps),
      cmocka_unit_test(stale_counter), cmocka_unit_test(depbar),        cmocka_unit_test(depbar_of_a_list),
      cmocka_unit_test(figure_2),
      cmocka_unit_test(barrier_takes_hold_late),
      cmocka_unit_test(barrier_holds_at_once),
      cmocka_unit_test(barrier_ends_in_its_own_cycle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
