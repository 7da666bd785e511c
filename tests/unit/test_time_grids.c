/* Grids that run at the same time: two that fit into one SM together run side by side there, each as if alone; two that do
 * not follow each other. Times by formula from the launch parameters and the run alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "config/presets.h"
#include "gpu_rig.h"
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
  uint64_t ctas, insts, issued[2], l1i_misses;
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
  struct gpu_launch l[2] = {{&a->source, start_a}, {b ? &b->source : NULL, start_b}};
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
  for (unsigned i = 0; i < n; i++) {
    assert_true(gpu_launch_times(gpu, i, &o.start[i], &o.end[i]));
    o.issued[i] = total_issued(gpu, i);
  }
  gpu_rig_free(&r);
  gmem_free(image);
  return o;
}

/* Halves of the SM's shared memory: the second CTA is given out an interval behind the first and ends so much later. */
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
  assert_int_equal(both.end[1], alone.end[0] + p.launch_cta_interval * clock);
  assert_int_equal(both.ctas, 2);
  assert_int_equal(both.issued[0], INSTS + 1);
  assert_int_equal(both.issued[1], INSTS + 1);
  assert_int_equal(both.insts, both.issued[0] + both.issued[1]);
  b->source.shared_bytes++; /* rounded up: no half */
  both = run(&p, a, 0, b, 0);
  assert_int_equal(both.end[0], alone.end[0]);
  assert_int_equal(both.end[1], 2 * alone.end[0] - (uint64_t)p.launch_latency_cycles * clock);
  free(a);
  free(b);
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
      assert_int_equal(both.end[1], alone.end[0] + p.launch_cta_interval * clock);
    else
      assert_int_equal(both.end[1], both.end[0] + alone.end[0] - first);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_run_side_by_side),
      cmocka_unit_test(registers_are_shared_out),
      cmocka_unit_test(start_of_the_second),
      cmocka_unit_test(code_does_not_alias),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
