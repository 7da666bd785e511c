/* Grids that run at the same time: two that fit into one SM together run side by side there, each as if alone; two that do
 * not follow each other. Times by formula from the launch parameters and the run alone. Grids that come and go while the
 * GPU runs; counters as differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "host/live_gpu.h"
#include "kernel_rig.h"
#include "time/gpu/netlist.h"
#include "time_mock.h"

enum { INSTS = 60, STALL = 9 };

static struct params one_sm(bool warm)
{
  struct err e = {0};
  struct params p;
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &p, &e)) fail_msg("%s", e.msg);
  p.gpu_sms = 1;
  p.icache_perfect = p.const_perfect = warm;
  return p;
}

/* One CTA of one warp that issues an instruction per STALL cycles. */
static struct mock *grid_new(void)
{
  struct mock *m = mock_new(INSTS, 1);
  for (unsigned i = 0; i < INSTS; i++) m->inst[i].ctrl.stall = STALL;
  return m;
}

struct outcome {
  uint64_t start[2], end[2];
  uint64_t ctas, insts, issued[2], l1i_misses, l1_hits;
};

static uint64_t counter(const struct stat_group *g, unsigned n, const char *name)
{
  for (unsigned i = 0; i < n; i++) {
    const struct stat_desc *d = stat_find(g[i], name);
    if (d) return *(const uint64_t *)((const char *)g[i].data + d->offset);
  }
  fail_msg("no counter %s", name);
  return 0;
}

static uint64_t total_issued(const struct gpu *gpu, unsigned i)
{
  struct gpu_inst_profile p = gpu_profile(gpu, i);
  uint64_t n = 0;
  for (uint64_t k = 0; k < p.n_insts; k++) n += p.issued[k];
  gpu_profile_free(&p);
  return n;
}

/* Runs one grid or two. */
static struct outcome run(const struct params *p, struct mock *a, uint64_t start_a, struct mock *b, uint64_t start_b)
{
  struct gpu_launch l[2] = {{.source = &a->source, .start = start_a}, {.source = b ? &b->source : NULL, .start = start_b}};
  struct outcome o = {0};
  struct stat_group group[GPU_MAX_GROUPS];
  unsigned n = b ? 2 : 1;
  struct gmem *image = gmem_new(p->vm_page_bits);
  struct gpu_rig r = gpu_rig_new(p, 1);
  struct gpu *gpu = r.gpu;
  gpu_rig_run(&r, l, n, image);
  unsigned groups = gpu_stats_groups(gpu, group);
  o.ctas = counter(group, groups, "ctas");
  o.insts = counter(group, groups, "warp_insts");
  o.l1i_misses = counter(group, groups, "l1i_misses");
  o.l1_hits = counter(group, groups, "l1_hit_sectors");
  for (unsigned i = 0; i < n; i++) {
    assert_true(gpu_launch_times(gpu, i, &o.start[i], &o.end[i]));
    o.issued[i] = total_issued(gpu, i);
  }
  gpu_rig_free(&r);
  gmem_free(image);
  return o;
}

/* Halves of the SM's shared memory: the second CTA is given out an interval behind the first, begins at the next edge
 * of the clock and ends so much later. */
static void halves_run_side_by_side(void **state)
{
  (void)state;
  struct params p = one_sm(true);
  uint64_t clock = params_clock_ps(&p);
  struct mock *a = grid_new(), *b = grid_new();
  a->source.shared_bytes = b->source.shared_bytes = p.sm_shared_bytes / 2 - p.sm_shared_reserved_per_cta;
  struct outcome alone = run(&p, a, 0, NULL, 0), both = run(&p, a, 0, b, 0);
  assert_true(alone.end[0] > (uint64_t)INSTS * STALL * clock);
  assert_int_equal(both.end[0], alone.end[0]);
  assert_int_equal(both.end[1], alone.end[0] + div_up(p.launch_cta_interval_x100, 100) * clock);
  assert_int_equal(both.ctas, 2);
  assert_int_equal(both.issued[0], INSTS + 1);
  assert_int_equal(both.issued[1], INSTS + 1);
  assert_int_equal(both.insts, both.issued[0] + both.issued[1]);
  b->source.shared_bytes++; /* rounded up: no half */
  both = run(&p, a, 0, b, 0);
  assert_int_equal(both.end[0], alone.end[0]);
  assert_int_equal(both.end[1], 2 * alone.end[0] - (uint64_t)(p.launch_latency_cycles + p.membar_gpu_cycles) * clock);
  free(a);
  free(b);
}

/* One CTA whose instruction `at` stores to memory. */
static struct mock *stores_once(unsigned at)
{
  struct mock *m = grid_new();
  m->dense = true;
  m->inst[at].pipe = PIPE_MEM;
  m->inst[at].mem = (struct inst_mem){.op = MEM_STORE, .space = MEM_GLOBAL, .bytes = 4};
  return m;
}

/* A CTA that takes another one's place waits until so long after its last store issued, and not at all when that is over. */
static void stores_keep_the_place(void **state)
{
  (void)state;
  enum { AT = 20, HELD = 2000 };
  struct params p = one_sm(true);
  uint64_t begins[4];
  struct mock *a = stores_once(AT), *b = grid_new();
  a->source.shared_bytes = b->source.shared_bytes = p.sm_shared_bytes / 2 + 1;
  const uint32_t cycles[] = {0, (INSTS - AT) * STALL - 20, HELD, HELD + 100};
  for (unsigned i = 0; i < 4; i++) {
    p.launch_cta_store_cycles = cycles[i];
    run(&p, a, 0, b, 0);
    begins[i] = b->issued[0][0];
    if (cycles[i] == HELD) assert_in_range(begins[i], a->issued[0][AT] + HELD, a->issued[0][AT] + HELD + 400);
  }
  assert_true(begins[0] > a->issued[0][INSTS - 1]);
  assert_int_equal(begins[1], begins[0]);
  assert_int_equal(begins[3], begins[2] + 100);
  free(a);
  free(b);
}

/* A kernel ends with a fence: its last stores have time until then, and one without stores ends as late. */
static void kernels_end_with_a_fence(void **state)
{
  (void)state;
  enum { FENCE = 1000 };
  struct params p = one_sm(true);
  uint64_t clock = params_clock_ps(&p), end[2][2];
  struct mock *m[2] = {grid_new(), stores_once(INSTS - 1)};
  p.launch_cta_store_cycles = 0;
  for (unsigned fence = 0; fence < 2; fence++) {
    p.membar_gpu_cycles = fence * FENCE;
    for (unsigned i = 0; i < 2; i++) end[fence][i] = run(&p, m[i], 0, NULL, 0).end[0];
  }
  assert_in_range(end[0][1], end[0][0] + (uint64_t)p.noc_reply_latency * clock, end[0][0] + FENCE * clock);
  assert_int_equal(end[1][0], end[0][0] + FENCE * clock);
  assert_true(end[1][1] < end[0][1] + FENCE * clock);
  assert_in_range(end[1][1], end[1][0], end[1][0] + 4 * clock);
  free(m[0]);
  free(m[1]);
}

/* Registers: 255 of them take 256, so that eight warps fill the SM: four and four fit, five and four do not. */
static void registers_are_shared_out(void **state)
{
  (void)state;
  struct params p = one_sm(true);
  uint64_t clock = params_clock_ps(&p), first = (uint64_t)p.launch_latency_cycles * clock;
  for (unsigned warps = 4; warps <= 5; warps++) {
    struct mock *a = mock_new(INSTS, warps), *b = mock_new(INSTS, 4);
    for (unsigned i = 0; i < INSTS; i++) a->inst[i].ctrl.stall = b->inst[i].ctrl.stall = STALL;
    a->source.regs_per_thread = b->source.regs_per_thread = 255;
    struct outcome alone = run(&p, b, 0, NULL, 0), both = run(&p, a, 0, b, 0);
    if (warps == 4)
      assert_int_equal(both.end[1], alone.end[0] + div_up(p.launch_cta_interval_x100, 100) * clock);
    else
      assert_int_equal(both.end[1], both.end[0] + alone.end[0] - first - p.membar_gpu_cycles * clock);
    free(a);
    free(b);
  }
}

/* A grid that comes later begins at its own time, beside the one that runs. */
static void start_of_the_second(void **state)
{
  (void)state;
  struct params p = one_sm(true);
  uint64_t late = 300 * params_clock_ps(&p);
  struct mock *a = grid_new(), *b = grid_new();
  struct outcome alone = run(&p, a, 0, NULL, 0), both = run(&p, a, 0, b, late);
  assert_int_equal(both.start[1], late);
  assert_int_equal(both.end[0], alone.end[0]);
  assert_int_equal(both.end[1], alone.end[0] + late);
  free(a);
  free(b);
}

/* One warp loads a line, waits for it, and loads it again at its end. */
static struct mock *line_twice(void)
{
  struct mock *m = grid_new();
  struct inst load = m->inst[0];
  load.pipe = PIPE_MEM;
  load.mem = (struct inst_mem){.space = MEM_GLOBAL, .op = MEM_LOAD, .bytes = 4};
  load.n_dst = 1;
  load.ctrl.write_sb = 0;
  m->dense = true;
  mock_set(m, 0, load);
  mock_set(m, INSTS - 1, load);
  m->inst[1].ctrl.wait = m->inst[INSTS].ctrl.wait = 1;
  return m;
}

/* A grid that starts beside another invalidates L1: while the line lies there, from the first load's end to the second load,
 * a start makes the second one miss; a start at any other time changes nothing. */
static void start_invalidates_l1(void **state)
{
  (void)state;
  enum { STEP = 50, LINE_SECTORS = 4 };
  struct params p = one_sm(true);
  struct mock *a = line_twice(), *b = grid_new();
  uint64_t clock = params_clock_ps(&p), lost = 0;
  struct outcome alone = run(&p, a, 0, NULL, 0);
  uint64_t held = a->issued[0][INSTS - 1] - a->issued[0][1];
  assert_int_equal(alone.l1_hits, LINE_SECTORS);
  for (uint64_t at = 0; at * clock < alone.end[0]; at += STEP) {
    uint64_t hits = run(&p, a, 0, b, at * clock).l1_hits;
    assert_true(hits == 0 || hits == LINE_SECTORS);
    lost += hits == 0;
  }
  assert_in_range(lost, held / STEP - 1, held / STEP + 2);
  free(a);
  free(b);
}

/* mock_step without the record, which is by the mock's own instructions. */
static bool step_in_code_of_another(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  struct step_path *p = &w->paths.p[path];
  (void)f;
  *e = (struct effect){.mem = e->mem, .inst = code_at(&w->cta->source->code, p->pc), .pc = p->pc,
                       .active = p->mask, .exec = p->mask};
  p->pc += 16;
  if (!(e->inst->flags & INST_EXIT)) return true;
  w->paths.n = w->paths.n_ready = 0;
  w->cta->warps_left--;
  e->flags = EFF_EXITED | EFF_WARP_DONE | EFF_CTA_DONE;
  return true;
}

/* Code of two modules lies at the same addresses and is fetched twice; two launches of one kernel share it. */
static void code_does_not_alias(void **state)
{
  (void)state;
  struct params p = one_sm(false);
  struct mock *a = grid_new(), *b = grid_new();
  b->source.code.place = a->source.code.place + ((uint64_t)1 << 40);
  uint64_t lines = run(&p, a, 0, NULL, 0).l1i_misses;
  assert_true(lines > 0);
  assert_int_equal(run(&p, a, 0, b, 0).l1i_misses, 2 * lines);
  struct step_ops ops = mock_ops;
  ops.step = step_in_code_of_another;
  b->source.ops = &ops;
  b->source.code.inst = a->inst;
  b->source.code.place = a->source.code.place;
  assert_int_equal(run(&p, a, 0, b, 0).l1i_misses, lines);
  free(a);
  free(b);
}

/* --- grids come and go ------------------------------------------------------------------------- */

/* Two launches of a kernel, the second at `late`: listed with the first, or added when the time has come. */
static void run_late(struct kernel_rig *k, struct launch *second, picos late, bool added)
{
  kernel_rig_build(k, "hist_global", 1);
  *second = kernel_rig_again(k, 4);
  struct gpu_launch a = kernel_rig_launch(k), b = {.source = func_source(second->func), .start = late, .beside = true};
  a.beside = true;
  assert_int_equal(gpu_rig_open(&k->rig, &a, k->launch->params.image), 0);
  gpu_watch(k->rig.gpu, &gpu_rig_watch, false);
  if (added) assert_int_equal(machine_run(k->rig.machine, late), MACHINE_REACHED);
  assert_int_equal(gpu_rig_open(&k->rig, &b, k->launch->params.image), 1);
  gpu_rig_finish(&k->rig);
}

/* A grid added at t is one listed at t: before the first CTA of the other one, between the first and the last, behind. */
static void added_is_listed(void **state)
{
  (void)state;
  for (picos t = 300; t <= 6000; t += 1140) {
    struct kernel_rig a, b;
    struct launch la, lb;
    uint64_t start[2], end[2];
    struct params p = one_sm(true);
    picos late = t * params_clock_ps(&p);
    run_late(&a, &la, late, false);
    run_late(&b, &lb, late, true);
    for (unsigned slot = 0; slot < 2; slot++) {
      assert_same_run(a.rig.gpu, b.rig.gpu, slot, slot);
      assert_true(gpu_launch_times(a.rig.gpu, slot, &start[0], &end[0]));
      assert_true(gpu_launch_times(b.rig.gpu, slot, &start[1], &end[1]));
      assert_int_equal(start[0], slot ? late : 0);
      assert_int_equal(start[1], start[0]);
      assert_int_equal(end[1], end[0]);
    }
    func_launch_free(la.func);
    func_launch_free(lb.func);
    kernel_rig_free(&a);
    kernel_rig_free(&b);
  }
}

enum { GRIDS = 200, WINDOW = 20000 };

/* More grids than slots, one SM: each gets a slot when an earlier one has gone, and does all its work. */
static void more_grids_than_slots(void **state)
{
  (void)state;
  struct params p = one_sm(true);
  struct mock *m[GRIDS];
  struct gmem *image = gmem_new(p.vm_page_bits);
  struct gpu_rig r = gpu_rig_new(&p, 1);
  unsigned opened = 0, ended = 0, most = 0, grid_of[GPU_SLOTS], n_open = 0;
  uint64_t start, end, last_end = 0;
  bool open[GPU_SLOTS] = {0};
  for (unsigned i = 0; i < GRIDS; i++) m[i] = grid_new();
  gpu_watch(r.gpu, &gpu_rig_watch, true);
  while (ended < GRIDS) {
    for (; opened < GRIDS && !gpu_full(r.gpu); opened++) {
      unsigned slot = gpu_rig_open(&r, &(struct gpu_launch){.source = &m[opened]->source, .beside = true}, image);
      assert_false(open[slot]);
      open[slot] = true;
      grid_of[slot] = opened;
      n_open++;
    }
    if (n_open > most) most = n_open;
    enum machine_stop stop = machine_run(r.machine, TIME_NEVER);
    assert_true(stop == MACHINE_NOTICE || ended + n_open == GRIDS);
    assert_int_equal(gpu_stopped(r.gpu), RUN_DONE);
    for (unsigned slot = 0; slot < GPU_SLOTS; slot++) {
      if (!open[slot] || !gpu_launch_times(r.gpu, slot, &start, &end)) continue;
      assert_int_equal(total_issued(r.gpu, slot), INSTS + 1);
      assert_int_equal(m[grid_of[slot]]->issued[0][INSTS] > 0, 1);
      assert_true(end > start && end + params_request_ps(&p) >= last_end); /* of one window: by slots */
      gpu_close(r.gpu, slot);
      open[slot] = false;
      n_open--;
      ended++;
      last_end = end;
    }
  }
  assert_int_equal(most, GPU_SLOTS);
  assert_true(n_open == 0 && !gpu_full(r.gpu));
  gpu_rig_free(&r);
  gmem_free(image);
  for (unsigned i = 0; i < GRIDS; i++) free(m[i]);
}

/* More launches than slots by host/live_gpu.h: they come when there is room, those that were there together tell their
 * instructions apart, and one that comes when all have gone has a run of its own, with counters. */
static void live_through_slots(void **state)
{
  (void)state;
  struct kernel_rig k;
  struct launch l[GRIDS];
  struct live_end end;
  struct sim_options o = {.timed = true, .threads = 1};
  struct err e = {0};
  unsigned opened = 0, ended = 0;
  struct sim_result alone;
  kernel_rig_build(&k, "vecadd", 1);
  for (unsigned i = 0; i < GRIDS; i++) l[i] = kernel_rig_again(&k, 1 + i % 2);
  struct launch single = kernel_rig_again(&k, 1);
  struct simulator *s = simulator_new(&k.params);
  if (!simulate(s, &single, &o, &alone, &e)) fail_msg("%s", e.msg);
  const uint64_t one = alone.warp_insts;
  assert_true(one > 0);
  while (ended < GRIDS) {
    for (; opened < GRIDS && !live_full(s); opened++) {
      const struct live_launch x = {.launch = &l[opened], .beside = true, .who = &l[opened]};
      if (!live_open(s, &x, &o, &e)) fail_msg("%s", e.msg);
    }
    assert_int_equal(live_run(s, UINT64_MAX), LIVE_ENDED);
    for (uint64_t last = 0; live_take(s, &end); ended++, last = end.end_ps) {
      const unsigned i = (unsigned)((struct launch *)end.who - l);
      assert_int_equal(end.result.end, RUN_DONE);
      assert_true(end.result.together > 1 && end.end_ps > end.start_ps);
      assert_int_equal(end.result.warp_insts, (1 + i % 2) * one);
      assert_true(end.end_ps >= last);
    }
  }
  assert_int_equal(live_count(s), 0);
  assert_int_equal(live_now(s), 0);
  simulator_free(s);
  for (unsigned i = 0; i < GRIDS; i++) func_launch_free(l[i].func);
  func_launch_free(single.func);
  kernel_rig_free(&k);
}

/* A launch alone is what simulate says of it, to the last counter, and takes as long; stopping on the way changes
 * nothing, nor do links and copy engines that nobody uses. */
static void alone(bool surrounded)
{
  struct kernel_rig k;
  struct sim_result want;
  struct live_end end;
  struct sim_options o = {.timed = true, .threads = 1};
  struct err e = {0};
  kernel_rig_build(&k, "vecadd", 1);
  struct launch first = kernel_rig_again(&k, 2), again = kernel_rig_again(&k, 2);
  struct simulator *s = simulator_new(&k.params), *t = simulator_new(&k.params);
  if (!simulate(s, &first, &o, &want, &e)) fail_msg("%s", e.msg);
  const struct live_launch x = {.launch = &again};
  if (surrounded) simulator_surround(t);
  if (!live_open(t, &x, &o, &e)) fail_msg("%s", e.msg);
  uint64_t until = 0;
  while (live_run(t, until += 100000) == LIVE_REACHED) continue;
  assert_true(live_take(t, &end));
  assert_int_equal(end.result.together, 1);
  assert_int_equal(end.result.cycles, want.cycles);
  assert_int_equal(end.end_ps - end.start_ps, want.time_ps);
  assert_int_equal(end.result.n_groups, want.n_groups);
  for (unsigned i = 0; i < want.n_groups; i++)
    for (unsigned d = 0; d < want.group[i].n; d++) {
      const struct stat_desc *x_of = &want.group[i].desc[d];
      assert_memory_equal((const char *)end.result.group[i].data + x_of->offset,
                          (const char *)want.group[i].data + x_of->offset, x_of->count * sizeof(uint64_t));
    }
  simulator_free(s);
  simulator_free(t);
  func_launch_free(first.func);
  func_launch_free(again.func);
  kernel_rig_free(&k);
}

static void live_alone(void **state)
{
  (void)state;
  alone(false);
  alone(true);
}

/* All grids that have a slot end in one window, when others still wait for one: these belong to the same run. */
static void all_slots_at_once(void **state)
{
  (void)state;
  struct params p = one_sm(true);
  struct mock *m[GPU_SLOTS + 1];
  struct stat_group group[GPU_MAX_GROUPS];
  struct err e = {0};
  uint64_t start, end;
  p.gpu_sms = 16; /* room for all at once */
  p.noc_request_latency += WINDOW;
  p.noc_reply_latency += WINDOW;
  p.launch_cta_latency += WINDOW;
  p.l2_latency += 2 * WINDOW;
  p.dram_latency += 2 * WINDOW;
  if (!params_check(&p, &e)) fail_msg("%s", e.msg);
  struct gmem *image = gmem_new(p.vm_page_bits);
  struct gpu_rig r = gpu_rig_new(&p, 1);
  gpu_watch(r.gpu, &gpu_rig_watch, true);
  for (unsigned i = 0; i <= GPU_SLOTS; i++) m[i] = grid_new();
  for (unsigned i = 0; i < GPU_SLOTS; i++)
    gpu_rig_open(&r, &(struct gpu_launch){.source = &m[i]->source, .beside = true}, image);
  assert_int_equal(machine_run(r.machine, TIME_NEVER), MACHINE_NOTICE);
  for (unsigned i = 0; i < GPU_SLOTS; i++) {
    assert_true(gpu_launch_times(r.gpu, i, &start, &end));
    gpu_close(r.gpu, i);
  }
  gpu_rig_open(&r, &(struct gpu_launch){.source = &m[GPU_SLOTS]->source, .beside = true}, image);
  gpu_rig_finish(&r);
  unsigned n = gpu_stats_groups(r.gpu, group);
  assert_int_equal(counter(group, n, "ctas"), GPU_SLOTS + 1);
  assert_int_equal(counter(group, n, "warp_insts"), (GPU_SLOTS + 1) * (INSTS + 1));
  gpu_rig_free(&r);
  gmem_free(image);
  for (unsigned i = 0; i <= GPU_SLOTS; i++) free(m[i]);
}

static struct stat_group *groups_of(struct netlist_stats *s, struct stat_group g[4])
{
  g[0] = sm_stats_group("sm", &s->sm), g[1] = noc_stats_group("noc", &s->noc);
  g[2] = l2_stats_group("l2", &s->l2), g[3] = dram_stats_group("dram", &s->dram);
  return g;
}

/* Counters of two launches, one behind the other, are what lay between the stops of their runs, added up; nothing is
 * counted while the GPU has none, and the next launch finds none of the last one's. */
static void counters_are_differences(void **state)
{
  (void)state;
  struct kernel_rig k;
  struct netlist_stats at, next, step, sum, all = {0};
  struct stat_group of_run[GPU_MAX_GROUPS], g[4], h[4];
  struct fault f = {0};
  kernel_rig_build(&k, "hist_global", 1);
  struct gpu_launch l = kernel_rig_launch(&k);
  for (unsigned i = 0; i < 2; i++) {
    picos until = gpu_now(k.rig.gpu);
    enum machine_stop stop = MACHINE_REACHED;
    unsigned slot = gpu_rig_open(&k.rig, &l, k.launch->params.image);
    gpu_watch(k.rig.gpu, &gpu_rig_watch, false);
    gpu_counters(k.rig.gpu, &at);
    assert_same_groups(groups_of(&at, g), groups_of(&all, h), 4);
    sum = (struct netlist_stats){0};
    while (stop == MACHINE_REACHED) {
      stop = machine_run(k.rig.machine, until += 1000000);
      gpu_counters(k.rig.gpu, &next);
      step = next;
      netlist_since(&step, &at);
      at = next;
      for (unsigned j = 0; j < 4; j++) stat_add(groups_of(&sum, g)[j], groups_of(&step, h)[j]);
    }
    assert_int_equal(stop, MACHINE_IDLE);
    assert_int_equal(gpu_finish(k.rig.gpu, &f, NULL), RUN_DONE);
    k.rig.running = false;
    unsigned n = gpu_stats_groups(k.rig.gpu, of_run);
    assert_int_equal(n, 5); /* the first is the GPU's own */
    assert_same_groups(of_run + 1, groups_of(&sum, g), 4);
    assert_int_equal(sum.sm.ctas, l.source->n_ctas);
    for (unsigned j = 0; j < 4; j++) stat_add(groups_of(&all, h)[j], groups_of(&sum, g)[j]);
    gpu_close(k.rig.gpu, slot);
  }
  kernel_rig_free(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_run_side_by_side),
      cmocka_unit_test(stores_keep_the_place),
      cmocka_unit_test(kernels_end_with_a_fence),
      cmocka_unit_test(registers_are_shared_out),
      cmocka_unit_test(start_of_the_second),
      cmocka_unit_test(start_invalidates_l1),
      cmocka_unit_test(code_does_not_alias),
      cmocka_unit_test(added_is_listed),
      cmocka_unit_test(more_grids_than_slots),
      cmocka_unit_test(live_through_slots), cmocka_unit_test(live_alone),
    cmocka_unit_test(all_slots_at_once),
      cmocka_unit_test(counters_are_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
