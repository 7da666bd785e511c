/* Who runs where: the CTA dispatcher between mocked SM ports, the order of the paths of a warp, the barrier of a
 * CTA, the queue of a shared FP64 pipe, dependence counters. Times by hand from the rules in their headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/presets.h"
#include "time/gpu/dispatcher.h"
#include "time/sm/depend.h"
#include "time/sm/fp64.h"
#include "time/sm/path.h"

static struct params preset(const char *gpu)
{
  struct err e = {0};
  struct params p;
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load(gpu, dir, &p, &e)) fail_msg("%s", e.msg);
  return p;
}

/* --- dispatcher ------------------------------------------------------------------------------- */

enum { SMS = 3, CAP = 32 };

struct bench {
  struct params params;
  struct arena arena;
  struct dispatcher d;
  struct dispatch_grid grid[2];
  struct launch_queue launches[SMS];
  struct done_queue done[SMS];
  picos clock;
};

static void bench_build(struct bench *b)
{
  *b = (struct bench){.params = preset("rtx-3070")};
  b->clock = params_clock_ps(&b->params);
  dispatcher_init(&b->d, &b->arena, &b->params, SMS);
  for (unsigned i = 0; i < SMS; i++) {
    b->launches[i] = (struct launch_queue){ARENA_ARRAY(&b->arena, struct cta_launch, CAP), CAP, 0, 0, NULL};
    b->done[i] = (struct done_queue){ARENA_ARRAY(&b->arena, struct cta_done, CAP), CAP, 0, 0, NULL};
    b->d.port[i].launches = &b->launches[i];
    b->d.port[i].done = &b->done[i];
  }
}

/* A CTA of a warp that fits everywhere. */
static struct dispatch_grid small_grid(uint64_t n)
{
  return (struct dispatch_grid){.n_ctas = n, .per_sm = 16, .carveout = 65536,
                                .cta = {.ctas = 1, .warps = 1, .registers = 256, .shared = 1024}};
}

/* Three SMs that take `per_sm` CTAs each of a grid of n, launched from time 0 on. */
static void bench_start(struct bench *b, uint64_t n, unsigned per_sm)
{
  bench_build(b);
  b->grid[0] = small_grid(n);
  b->grid[0].per_sm = per_sm;
  dispatcher_start(&b->d, 0);
  dispatcher_add(&b->d, 0, &b->grid[0]);
}

static void start_both(struct bench *b)
{
  dispatcher_start(&b->d, 0);
  for (unsigned i = 0; i < 2; i++) dispatcher_add(&b->d, i, &b->grid[i]);
}

/* Behind what says that a grid has started. */
static struct cta_launch *next_cta(struct bench *b, unsigned sm)
{
  struct cta_launch *l;
  while ((l = launch_queue_front(&b->launches[sm])) && l->announced) launch_queue_pop(&b->launches[sm]);
  return l;
}

/* The dispatcher has nothing to do before the launch latency is over. */
static void first_wave(struct bench *b)
{
  picos first = b->params.launch_latency_cycles * b->clock;
  assert_int_equal(dispatcher_run(&b->d, 0, 1), first);
  dispatcher_run(&b->d, first, first + 1);
}

/* The next launch of an SM is CTA `cta`, and the `nth` the dispatcher could give out. */
static void expect_launch(struct bench *b, unsigned sm, uint64_t cta, unsigned nth, picos after)
{
  struct cta_launch *l = next_cta(b, sm);
  assert_non_null(l);
  assert_int_equal(l->cta, cta);
  picos first = after ? after : b->params.launch_latency_cycles * b->clock;
  assert_int_equal(l->arrive, first + nth * (b->params.launch_cta_interval_x100 * b->clock / 100) + b->params.launch_cta_latency * b->clock);
  launch_queue_pop(&b->launches[sm]);
}

/* The SMs that will have CTAs of a grid hear of it when it starts, each of a share of its own, and once. */
static void grids_are_announced(void **state)
{
  (void)state;
  struct bench b;
  bench_build(&b);
  b.grid[0] = small_grid(SMS - 1);
  b.grid[0].start = 1000;
  dispatcher_start(&b.d, 0);
  dispatcher_add(&b.d, 0, &b.grid[0]);
  assert_int_equal(dispatcher_run(&b.d, 0, 1000), 1000);
  assert_null(launch_queue_front(&b.launches[0]));
  dispatcher_run(&b.d, 1000, 1001);
  dispatcher_run(&b.d, 1001, 1002);
  for (unsigned i = 0; i < SMS - 1; i++) {
    const struct cta_launch *l = launch_queue_front(&b.launches[i]);
    assert_int_equal(b.launches[i].n, 1);
    assert_true(l->announced);
    assert_int_equal(l->cta, i);
    assert_int_equal(l->arrive, 1000 + b.params.launch_cta_latency * b.clock + params_request_ps(&b.params));
  }
  assert_null(launch_queue_front(&b.launches[SMS - 1]));
  arena_free(&b.arena);
}

static void first_wave_goes_round(void **state)
{
  (void)state;
  struct bench b;
  bench_start(&b, 10, 2);
  first_wave(&b);
  for (unsigned cta = 0; cta < 2 * SMS; cta++) expect_launch(&b, cta % SMS, cta, cta, 0);
  for (unsigned i = 0; i < SMS; i++) assert_null(next_cta(&b, i)); /* all are full */
  assert_true(dispatcher_busy(&b.d));
  arena_free(&b.arena);
}

/* The next CTAs go to whoever reports first, at equal times to the lower SM, not before the report. */
static void completions_in_time_and_sm_order(void **state)
{
  (void)state;
  struct bench b;
  bench_start(&b, 5, 1);
  first_wave(&b);
  for (unsigned i = 0; i < SMS; i++) expect_launch(&b, i, i, i, 0);
  picos late = 1000000000, early = late - 1000000;
  done_queue_push(&b.done[2], (struct cta_done){early, 2, 0});
  done_queue_push(&b.done[1], (struct cta_done){late, 1, 0});
  done_queue_push(&b.done[0], (struct cta_done){late, 0, 0});
  assert_int_equal(dispatcher_run(&b.d, early, late), late); /* those at `late` belong to the next window */
  expect_launch(&b, 2, 3, 0, early);
  assert_int_equal(dispatcher_run(&b.d, late, late + 1), TIME_NEVER);
  expect_launch(&b, 0, 4, 0, late);
  assert_null(next_cta(&b, 1)); /* the grid is given out */
  assert_int_equal(b.d.done, 3);
  assert_int_equal(b.d.grid[0].last_done, late);
  done_queue_push(&b.done[2], (struct cta_done){late + 5, 3, 0});
  done_queue_push(&b.done[0], (struct cta_done){late + 9, 4, 0});
  dispatcher_run(&b.d, late + 1, late + 10);
  assert_false(dispatcher_busy(&b.d));
  arena_free(&b.arena);
}

/* Completions at one time: the dispatcher gives out one CTA per interval. */
static void one_cta_per_interval(void **state)
{
  (void)state;
  struct bench b;
  bench_start(&b, 6, 1);
  first_wave(&b);
  for (unsigned i = 0; i < SMS; i++) expect_launch(&b, i, i, i, 0);
  picos now = 1000000000;
  for (unsigned i = 0; i < SMS; i++) done_queue_push(&b.done[i], (struct cta_done){now, i, 0});
  dispatcher_run(&b.d, now, now + 1);
  for (unsigned i = 0; i < SMS; i++) expect_launch(&b, i, SMS + i, i, now);
  arena_free(&b.arena);
}

/* CTAs of both grids given to an SM. */
static void expect_grids(struct bench *b, unsigned sm, unsigned first, unsigned second)
{
  unsigned n[3] = {0};
  for (struct cta_launch *l; (l = next_cta(b, sm)); launch_queue_pop(&b->launches[sm])) n[l->grid]++;
  assert_int_equal(n[0], first);
  assert_int_equal(n[1], second);
}

static void finish(struct bench *b, unsigned sm, unsigned grid, picos at)
{
  done_queue_push(&b->done[sm], (struct cta_done){at, 0, grid});
  dispatcher_run(&b->d, at, at + 1);
}

/* The second grid gets what the first leaves: of each resource in turn half an SM is left by one CTA of the first
 * grid, and the second takes half of it, or a little more. */
static void second_grid_gets_the_rest(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct sm_space has = sm_space_of(&p);
  const struct sm_space half[] = {{has.ctas / 2, 1, 256, 1024}, {1, has.warps / 2, 256, 1024},
                                  {1, 1, has.registers / 2, 1024}, {1, 1, 256, 32768}};
  const struct sm_space more[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 256, 0}, {0, 0, 0, 128}};
  for (unsigned i = 0; i < 4; i++)
    for (unsigned too_much = 0; too_much < 2; too_much++) {
      struct bench b;
      bench_build(&b);
      b.grid[0] = b.grid[1] = small_grid(SMS);
      b.grid[0].cta = b.grid[1].cta = half[i];
      if (too_much) {
        b.grid[1].cta.ctas += more[i].ctas;
        b.grid[1].cta.warps += more[i].warps;
        b.grid[1].cta.registers += more[i].registers;
        b.grid[1].cta.shared += more[i].shared;
      }
      start_both(&b);
      dispatcher_run(&b.d, 0, 1000000000);
      for (unsigned sm = 0; sm < SMS; sm++) expect_grids(&b, sm, 1, !too_much);
      finish(&b, 1, 0, 2000000000);
      expect_grids(&b, 1, 0, too_much); /* there is room now */
      arena_free(&b.arena);
    }
}

/* An SM keeps the carve-out of the CTA that came to it while it was empty. */
static void carveout_of_the_first(void **state)
{
  (void)state;
  struct bench b;
  bench_build(&b);
  b.grid[0] = b.grid[1] = small_grid(1);
  b.grid[0].carveout = 8192;
  b.grid[1].n_ctas = SMS;
  b.grid[1].cta.shared = 8192; /* 1,024 are taken */
  start_both(&b);
  dispatcher_run(&b.d, 0, 1000000000);
  assert_int_equal(next_cta(&b, 0)->carveout, 8192);
  assert_int_equal(next_cta(&b, 1)->carveout, 65536);
  expect_grids(&b, 0, 1, 0);
  expect_grids(&b, 1, 0, 2);
  expect_grids(&b, 2, 0, 1);
  arena_free(&b.arena);
}

/* A later grid waits until all CTAs of the one before are given out, though its own would fit, and until its own
 * start. */
static void grids_go_in_order(void **state)
{
  (void)state;
  struct bench b;
  bench_build(&b);
  picos start = 3000000000, first = start + b.params.launch_latency_cycles * b.clock;
  b.grid[0] = small_grid(SMS + 1);
  b.grid[1] = small_grid(1);
  b.grid[0].cta.warps = 40; /* of 48 */
  b.grid[1].start = start;
  start_both(&b);
  dispatcher_run(&b.d, 0, 1000000000);
  for (unsigned sm = 0; sm < SMS; sm++) expect_grids(&b, sm, 1, 0);
  finish(&b, 2, 0, 2000000000);
  expect_grids(&b, 2, 1, 0);
  assert_int_equal(dispatcher_run(&b.d, 2000000001, 2000000002), start); /* to announce it */
  assert_int_equal(dispatcher_run(&b.d, start, start + 1), first);
  dispatcher_run(&b.d, first, first + 1);
  assert_int_equal(next_cta(&b, 0)->grid, 1);
  assert_int_equal(next_cta(&b, 0)->arrive, first + b.params.launch_cta_latency * b.clock);
  arena_free(&b.arena);
}

/* Grids with masks of SMs: each has its own SMs alone, and of those that it shares with a grid before it that still waits none,
 * though its CTAs would fit beside; a grid without a mask waits behind them all. When the first is given out the others go on. */
static void masks_share_in_order(void **state)
{
  (void)state;
  struct bench b;
  bench_build(&b);
  struct core_set left = {0}, right = {0};
  core_set_add(&left, 0);
  core_set_add(&left, 1);
  core_set_add(&right, 1);
  core_set_add(&right, 2);
  struct dispatch_grid first = small_grid(3), second = small_grid(2), third = small_grid(1);
  first.cta.warps = 40; /* of 48: one to an SM, and others fit beside it */
  first.cores = &left;
  second.per_sm = 1;
  second.cores = &right;
  dispatcher_start(&b.d, 0);
  dispatcher_add(&b.d, 0, &first);
  dispatcher_add(&b.d, 1, &second);
  dispatcher_add(&b.d, 2, &third);
  dispatcher_run(&b.d, 0, 1000000000);
  expect_grids(&b, 0, 1, 0);
  expect_grids(&b, 1, 1, 0);
  expect_grids(&b, 2, 0, 1);
  assert_int_equal(b.d.grid[2].next_cta, 0);
  finish(&b, 0, 0, 2000000000);
  expect_grids(&b, 1, 0, 1);
  assert_int_equal(b.d.grid[0].next_cta, 3);
  assert_int_equal(b.d.grid[1].next_cta, 2);
  assert_int_equal(b.d.grid[2].next_cta, 1);
  arena_free(&b.arena);
}

/* A grid with a higher priority comes when the first has given out a CTA for each SM: what becomes free is its own, once it
 * has reached the SMs. Until then, and when its CTAs are given out, the first goes on; nothing resident is touched. */
static void priority_at_cta_boundaries(void **state)
{
  (void)state;
  struct bench b;
  bench_build(&b);
  struct dispatch_grid low = small_grid(20), high = small_grid(2);
  low.cta.warps = high.cta.warps = 48; /* one CTA fills an SM */
  high.priority = 1;
  high.start = 1000000000;
  picos comes = high.start + b.params.launch_latency_cycles * b.clock;
  dispatcher_start(&b.d, 0);
  dispatcher_add(&b.d, 0, &low);
  dispatcher_run(&b.d, 0, high.start);
  dispatcher_add(&b.d, 1, &high);
  assert_int_equal(b.d.grid[0].next_cta, SMS);
  finish(&b, 0, 0, comes - 10); /* still on its way */
  assert_int_equal(b.d.grid[0].next_cta, SMS + 1);
  assert_int_equal(b.d.grid[1].next_cta, 0);
  finish(&b, 1, 0, comes + 10);
  finish(&b, 2, 0, comes + 20);
  assert_int_equal(b.d.grid[0].next_cta, SMS + 1);
  assert_int_equal(b.d.grid[1].next_cta, 2);
  expect_grids(&b, 1, 1, 1);
  finish(&b, 0, 0, comes + 30); /* it has given out all */
  assert_int_equal(b.d.grid[0].next_cta, SMS + 2);
  arena_free(&b.arena);
}

/* A CTA that runs gets those that are next, in their order, until all are handed out; a grid is done when the CTAs that
 * were launched are. No more once a grid of higher priority could start, and its CTAs come before what is left. */
static void running_ctas_take_over(void **state)
{
  (void)state;
  for (unsigned high = 0; high < 2; high++) {
    struct bench b;
    bench_build(&b);
    struct dispatch_grid low = small_grid(SMS + 3), above = small_grid(1);
    uint64_t cta = 99;
    low.cta.warps = above.cta.warps = 48; /* one CTA fills an SM */
    above.priority = 1;
    above.start = 1000000000;
    picos comes = above.start + b.params.launch_latency_cycles * b.clock;
    dispatcher_start(&b.d, 0);
    dispatcher_add(&b.d, 0, &low);
    dispatcher_run(&b.d, 0, above.start);
    if (high) dispatcher_add(&b.d, 1, &above);
    for (unsigned i = 0; i < 2; i++) {
      assert_true(dispatcher_take(&b.d, 0, comes - 100, &cta));
      assert_int_equal(cta, SMS + i);
    }
    dispatcher_run(&b.d, comes, comes + 1);
    assert_int_equal(dispatcher_take(&b.d, 0, comes + 1, &cta), !high);
    for (unsigned i = 0; i < SMS; i++) finish(&b, i, 0, comes + 10 + i);
    assert_int_equal(b.d.grid[0].next_cta, SMS + 3);
    assert_int_equal(b.d.grid[1].next_cta, high);
    assert_false(dispatcher_take(&b.d, 0, comes + 20, &cta));
    assert_int_equal(b.d.taken, high ? 2 : 3);
    assert_int_equal(b.d.grid[0].done, high ? SMS + 2 : SMS + 3);
    assert_int_equal(dispatcher_busy(&b.d), high);
    arena_free(&b.arena);
  }
}

/* … and of several the order is by priority, then by arrival. */
static void order_of_priorities(void **state)
{
  (void)state;
  struct bench b;
  static const int priority[6] = {0, 0, 2, 1, 2, 0};
  static const unsigned order[6] = {0, 2, 4, 3, 1, 5};
  bench_build(&b);
  dispatcher_start(&b.d, 0);
  struct dispatch_grid g = small_grid(SMS);
  g.cta.warps = 48;
  for (unsigned i = 0; i < 6; i++) {
    g.n_ctas = i ? 1 : SMS;
    g.priority = priority[i];
    dispatcher_add(&b.d, i, &g);
    if (i == 0) dispatcher_run(&b.d, 0, 1000000000);
  }
  unsigned resident = 0;
  for (unsigned i = 1; i < 6; i++) {
    finish(&b, 0, resident, 1000000000 + 1000 * i);
    resident = order[i];
    assert_int_equal(b.d.grid[order[i]].next_cta, 1);
    assert_int_equal(b.d.port[0].resident[order[i]], 1);
  }
  arena_free(&b.arena);
}

/* A gang waits for room for all of it, which comes when the last CTA in its way has ended; a grid behind it waits, too. */
static void gang_waits_for_room(void **state)
{
  (void)state;
  for (unsigned gang = 0; gang < 2; gang++) {
    struct bench b;
    bench_build(&b);
    b.grid[0] = b.grid[1] = small_grid(SMS);
    b.grid[0].cta.warps = 40; /* of 48 */
    b.grid[1].cta.warps = 24;
    b.grid[1].n_ctas = 2 * SMS - 1;
    b.grid[1].gang = gang;
    start_both(&b);
    struct dispatch_grid third = small_grid(1);
    dispatcher_add(&b.d, 2, &third);
    picos now = 1000000000;
    dispatcher_run(&b.d, 0, now);
    for (unsigned sm = 0; sm < SMS; sm++) {
      unsigned given = 0;
      expect_grids(&b, sm, 1, 0);
      finish(&b, sm, 0, now + 1000000 * (sm + 1));
      for (unsigned i = 0; i < SMS; i++) given += b.d.port[i].resident[1];
      /* two in each SM that is free; the gang: none before the last */
      assert_int_equal(given, gang && sm < SMS - 1 ? 0 : sm == SMS - 1 ? 2 * SMS - 1 : 2 * (sm + 1));
      assert_int_equal(b.d.grid[2].next_cta, sm == SMS - 1);
    }
    arena_free(&b.arena);
  }
}

/* Grids come and go: a slot is used again, one that has not begun can be taken back, and those behind it move up. */
/* A cluster of two on a GPC whose first SM is empty while the others hold two CTAs each. */
static void start_cluster(struct bench *b, const struct step_source *s)
{
  bench_build(b);
  b->d.n_gpcs = 1;
  b->grid[0] = small_grid(2);
  b->grid[0].source = s;
  dispatcher_start(&b->d, 0);
  for (unsigned i = 0; i < SMS; i++) {
    b->d.port[i].gpc = 0;
    b->d.port[i].used.ctas = i ? 2 : 0;
    b->d.port[i].carveout = 65536;
  }
  dispatcher_add(&b->d, 0, &b->grid[0]);
  first_wave(b);
}

static unsigned ctas_of(struct bench *b, unsigned sm)
{
  return b->d.port[sm].resident[0];
}

static void pairs_have_an_sm_each(void **state)
{
  struct step_source s = {.n_ctas = 2, .grid = {2, 1, 1}, .cluster = {2, 1, 1}};
  struct bench b;
  (void)state;
  start_cluster(&b, &s);
  assert_int_equal(ctas_of(&b, 0), 2); /* one or two are fewer than two */
  arena_free(&b.arena);
  s.pairs = true;
  start_cluster(&b, &s);
  assert_int_equal(ctas_of(&b, 0), 1);
  assert_int_equal(ctas_of(&b, 1), 1);
  arena_free(&b.arena);
}

static void slots_are_used_again(void **state)
{
  (void)state;
  struct bench b;
  bench_start(&b, SMS, 1);
  struct dispatch_grid big = small_grid(SMS), small = small_grid(1);
  big.cta.warps = 48;
  dispatcher_add(&b.d, 1, &big);
  dispatcher_add(&b.d, 2, &small);
  picos now = 1000000000;
  dispatcher_run(&b.d, 0, now);
  assert_int_equal(b.d.ctas, 2 * SMS + 1);
  assert_int_equal(b.d.grid[2].next_cta, 0);
  dispatcher_remove(&b.d, 1);
  assert_int_equal(b.d.ctas, SMS + 1);
  dispatcher_run(&b.d, now, now + 1);
  assert_int_equal(b.d.grid[2].next_cta, 1);
  for (unsigned sm = 0; sm < SMS; sm++) finish(&b, sm, 0, now + 1000 * (sm + 1));
  assert_int_equal(b.d.done, SMS);
  dispatcher_remove(&b.d, 0);
  dispatcher_add(&b.d, 0, &small);
  dispatcher_run(&b.d, now + 10000, now + 2000000000);
  assert_int_equal(b.d.grid[0].next_cta, 1);
  assert_int_equal(b.d.grid[0].done, 0);
  assert_true(dispatcher_busy(&b.d));
  arena_free(&b.arena);
}

/* --- paths ------------------------------------------------------------------------------------ */

enum { INST_BYTES = 16 };

/* A warp of three paths at 0x100, 0x200, 0x300, the first of which has just done `e` at 0xf0. */
static struct step_warp three_paths(void)
{
  struct step_warp w = {.paths = {.n = 3, .n_ready = 3}};
  for (unsigned i = 0; i < 3; i++) w.paths.p[i] = (struct step_path){.pc = 0x100 * (i + 1), .mask = 1u << i};
  return w;
}

static void path_runs_until_it_turns(void **state)
{
  (void)state;
  struct inst plain = {.guard = 7}, yield = {.guard = 7, .flags = INST_YIELD};
  struct step_warp w = three_paths();
  struct warp_slot slot = {.step = &w};
  struct effect e = {.inst = &plain, .pc = 0xf0};
  assert_false(path_pick(&slot, &e, e.pc + INST_BYTES)); /* goes on, the buffer stays */
  assert_int_equal(slot.path, 0);
  e.flags = EFF_BACKWARD;
  assert_true(path_pick(&slot, &e, e.pc + INST_BYTES)); /* a loop lets the next one run */
  assert_int_equal(slot.path, 1);
  w.paths.p[1].wait = PATH_WAIT_BAR;
  w.paths.n_ready = 2;
  e = (struct effect){.inst = &plain, .pc = 0x1f0, .flags = EFF_BLOCKED};
  assert_true(path_pick(&slot, &e, e.pc + INST_BYTES));
  assert_int_equal(slot.path, 2);
  w.paths.p[2].yielded = true;
  e = (struct effect){.inst = &yield, .pc = 0x2f0};
  assert_true(path_pick(&slot, &e, e.pc + INST_BYTES)); /* the blocked one is passed over */
  assert_int_equal(slot.path, 0);
  w.paths.p[0].wait = PATH_WAIT_BAR;
  e = (struct effect){.inst = &plain, .pc = 0xf0, .flags = EFF_BLOCKED};
  assert_true(path_pick(&slot, &e, e.pc + INST_BYTES)); /* who yielded runs when nobody else is ready */
  assert_int_equal(slot.path, 2);
}

static void a_waiting_warp_has_a_reason(void **state)
{
  (void)state;
  struct step_warp w = three_paths();
  struct warp_slot slot = {.step = &w};
  for (unsigned i = 0; i < 3; i++) w.paths.p[i].wait = PATH_WAIT_CONVERGE;
  w.paths.n_ready = 0;
  assert_false(path_any_ready(&slot));
  assert_int_equal(path_hold(&slot), WS_CONVERGE);
  w.paths.p[1].wait = PATH_WAIT_BAR;
  assert_int_equal(path_hold(&slot), WS_BARRIER);
}

/* --- shared FP64 pipe ------------------------------------------------------------------------- */

/* Two sub-cores: the pipe takes one instruction per interval in the order of issue; a queue is full until its oldest
 * entry is taken. */
static void fp64_queues_share_the_pipe(void **state)
{
  (void)state;
  struct params p = preset("rtx-a6000");
  struct fp64_queue a, b;
  uint64_t pipe = 0, interval = p.pipe_interval[PIPE_FP64];
  fp64_init(&a, &p, &pipe);
  fp64_init(&b, &p, &pipe);
  assert_int_equal(fp64_issue(&a, 100), 0);
  assert_int_equal(fp64_issue(&b, 101), interval - 1);
  assert_int_equal(fp64_issue(&a, 102), 2 * interval - 2);
  for (unsigned i = 2; i < p.fp64_queue_entries; i++) fp64_issue(&a, 103);
  assert_int_equal(fp64_accepts_at(&a), 100);
  fp64_issue(&a, 104); /* in the place of the first */
  assert_int_equal(fp64_accepts_at(&a), 100 + 2 * interval);
  assert_true(fp64_accepts_at(&b) <= 101);
}

/* --- dependence counters ---------------------------------------------------------------------- */

/* Raised one cycle behind the issue, seen by the next; of a raise and a drop in one cycle the raise comes first. */
static void counters_change_at_the_edge(void **state)
{
  (void)state;
  struct params p = preset("rtx-a6000");
  struct sm_stats stats = {0};
  struct writeback wb;
  struct depend d = {0};
  struct warp_table *t = calloc(1, sizeof *t);
  struct inst_ctrl c = {.write_sb = 2, .read_sb = SB_NONE};
  struct dep_counter *sb = &t->slot[0].dep[2];
  writeback_init(&wb, &p, &stats);
  depend_init(&d, &wb);
  for (uint64_t now = 10; now < 16; now++) {
    control_cycle(&d);
    if (now == 10 || now == 11) depend_issue(&d, 0, &c, WS_LONG_SCOREBOARD, 0);
    if (now == 10) depend_drop_at(&d, t, now, 13, 0, 2); /* visible in cycle 13 */
    depend_edge(&d, t, now);
    if (now == 10) assert_int_equal(sb->count, 0);
    if (now == 11) assert_int_equal(sb->count, 1);
    if (now == 12) assert_int_equal(sb->count, 1); /* second raise, first drop */
    if (now == 12) assert_int_equal(t->slot[0].dep_busy, 1 << 2);
  }
  depend_drop_at(&d, t, 16, 18, 0, 2);
  assert_int_equal(depend_next(&d, 16), 17);
  depend_edge(&d, t, 17);
  assert_int_equal(sb->count, 0);
  assert_int_equal(t->slot[0].dep_busy, 0);
  assert_int_equal(sb->zero_at, 18);
  free(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_are_announced), cmocka_unit_test(first_wave_goes_round),
      cmocka_unit_test(completions_in_time_and_sm_order),
      cmocka_unit_test(one_cta_per_interval),
      cmocka_unit_test(second_grid_gets_the_rest),
      cmocka_unit_test(carveout_of_the_first),
      cmocka_unit_test(grids_go_in_order), cmocka_unit_test(masks_share_in_order),
      cmocka_unit_test(priority_at_cta_boundaries), cmocka_unit_test(running_ctas_take_over),
      cmocka_unit_test(order_of_priorities), cmocka_unit_test(gang_waits_for_room),
      cmocka_unit_test(slots_are_used_again), cmocka_unit_test(pairs_have_an_sm_each),
      cmocka_unit_test(path_runs_until_it_turns),
      cmocka_unit_test(a_waiting_warp_has_a_reason),
      cmocka_unit_test(fp64_queues_share_the_pipe),
      cmocka_unit_test(counters_change_at_the_edge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
