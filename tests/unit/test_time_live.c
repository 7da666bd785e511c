/* A program's launches and copies on one GPU with links (host/live_gpu.h): times by formula, what launches beside copies
 * say of themselves, memory of the host under kernels; the same for any number of host threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/live_gpu.h"
#include "kernel_rig.h"

enum { BYTES = 2 << 20, SMS = 46, PAGE = 4096 };

/* stream_copy on a whole rtx-3070, in a machine. */
struct rig {
  struct kernel_rig k;
  struct simulator *s;
  struct sim_options o;
  struct gmem *image;
  uint64_t from, to, c, d; /* buffers, whole pages */
};

static uint64_t buffer(struct rig *r)
{
  uint64_t at = gmem_alloc(r->image, BYTES + PAGE, NULL);
  assert_true(at);
  return (at + PAGE - 1) / PAGE * PAGE;
}

/* Bank 0 of sm_86 has the size of the grid at 0xc and arguments from 0x160 on. */
static void rig_build(struct rig *r, unsigned threads)
{
  const uint32_t grid = 2 * SMS;
  memset(r, 0, sizeof *r);
  kernel_rig_build(&r->k, "stream_copy", 1);
  r->k.params.gpu_sms = SMS;
  r->k.launch->params.n_workers = SMS;
  r->image = r->k.launch->params.image;
  r->s = simulator_new(&r->k.params);
  assert_int_equal(live_copies(r->s), 0); /* before anything was asked for */
  simulator_surround(r->s);
  r->o = (struct sim_options){.timed = true, .threads = threads};
  r->from = buffer(r), r->to = buffer(r), r->c = buffer(r), r->d = buffer(r);
  const uint64_t args[] = {r->to, r->from, BYTES / 16};
  memcpy(r->k.launch->bank0 + 0x160, args, 20);
  memcpy(r->k.launch->bank0 + 0xc, &grid, sizeof grid);
  for (uint64_t i = 0; i < BYTES; i += 8) {
    const uint64_t x = i * 2654435761u, y = ~x;
    assert_true(gmem_write(r->image, r->from + i, &x, 8) && gmem_write(r->image, r->c + i, &y, 8));
  }
}

static void rig_free(struct rig *r)
{
  simulator_free(r->s);
  kernel_rig_free(&r->k);
}

static uint8_t *contents(const struct rig *r, uint64_t at)
{
  uint8_t *b = malloc(BYTES);
  assert_true(gmem_read(r->image, at, b, BYTES));
  return b;
}

static void clear(struct rig *r, uint64_t at)
{
  const uint64_t zero = 0;
  for (uint64_t i = 0; i < BYTES; i += 8) assert_true(gmem_write(r->image, at + i, &zero, 8));
}

static bool holds(const struct rig *r, uint64_t at, const uint8_t *want)
{
  uint8_t *b = contents(r, at);
  bool is = memcmp(b, want, BYTES) == 0;
  free(b);
  return is;
}

static bool same(const struct rig *r, uint64_t a, uint64_t b)
{
  uint8_t *want = contents(r, a);
  bool is = holds(r, b, want);
  free(want);
  return is;
}

static struct live_copy linear(enum live_place to, uint64_t dst, enum live_place from, uint64_t src, void *who)
{
  enum live_engine e = to == from ? LIVE_INSIDE : to == LIVE_DEVICE ? LIVE_TO_DEVICE : LIVE_TO_HOST;
  return (struct live_copy){.dst = {.addr = dst, .place = to}, .src = {.addr = src, .place = from}, .width = BYTES,
                            .height = 1, .depth = 1, .engine = e, .who = who};
}

static void copy(struct rig *r, const struct live_copy *c)
{
  live_copy(r->s, c, r->image, &r->o);
}

static struct launch launch(struct rig *r, uint64_t start, void *who)
{
  struct err e;
  struct launch l = kernel_rig_again(&r->k, 2 * SMS);
  const struct live_launch x = {.launch = &l, .start_ps = start, .who = who};
  if (!live_open(r->s, &x, &r->o, &e)) fail_msg("%s", e.msg);
  return l;
}

/* The next n ends, by who[]. The results that launches point to are those of the last call. */
static void run(struct rig *r, unsigned n, const void *const *who, struct live_end *end)
{
  struct live_end x;
  for (unsigned left = n; left;) {
    assert_int_equal(live_run(r->s, UINT64_MAX), LIVE_ENDED);
    for (; live_take(r->s, &x); left--)
      for (unsigned i = 0; i < n; i++)
        if (who[i] == x.who) end[i] = x;
  }
}

static double took(const struct live_end *e)
{
  return (double)(e->end_ps - e->start_ps);
}

static void assert_within(double got, double want, double margin)
{
  if (got < want * (1 - margin) || got > want * (1 + margin)) fail_msg("%f is not %f", got, want);
}

/* From the host's program, which is no guest memory, into the GPU and back, staged and not. */
static void copies_of_the_program(void **state)
{
  (void)state;
  struct rig r;
  struct live_end end;
  int me;
  const void *who = &me;
  uint8_t *plain = malloc(BYTES);
  rig_build(&r, 1);
  const struct params *p = &r.k.params;
  for (unsigned mbps = 0; mbps <= 8000; mbps += 8000) {
    const double rate = mbps ? mbps : p->pcie_h2d_mbps, want = p->pcie_latency_ns * 1e3 + BYTES * 1e6 / rate;
    for (uint64_t i = 0; i < BYTES; i++) plain[i] = (uint8_t)(i * 7 + mbps);
    struct live_copy c = linear(LIVE_DEVICE, r.d, LIVE_PROGRAM, (uintptr_t)plain, &me);
    c.staging_mbps = mbps;
    c.start_ps = 5000000 + live_now(r.s);
    copy(&r, &c);
    assert_true(live_busy(r.s));
    assert_int_equal(live_count(r.s), 0);
    run(&r, 1, &who, &end);
    assert_true(end.copy && !end.failed);
    assert_int_equal(end.start_ps, c.start_ps);
    assert_within(took(&end), want, 0.02);
    assert_true(holds(&r, r.d, plain));
    memset(plain, 0, BYTES);
    c = linear(LIVE_PROGRAM, (uintptr_t)plain, LIVE_DEVICE, r.d, &me);
    c.staging_mbps = mbps;
    c.start_ps = end.end_ps;
    copy(&r, &c);
    run(&r, 1, &who, &end);
    assert_within(took(&end), want, 0.02);
    assert_true(holds(&r, r.d, plain));
  }
  assert_false(live_busy(r.s));
  struct live_copy lost = linear(LIVE_DEVICE, (uint64_t)1 << 46, LIVE_DEVICE, r.d, &me);
  copy(&r, &lost);
  run(&r, 1, &who, &end);
  assert_true(end.failed);
  rig_free(&r);
  free(plain);
}

/* The host stages what is not pinned: how the program's memory is aligned does not matter. That of pinned memory, which
 * the engine meets itself, cuts bursts. */
static void alignment_of_the_program(void **state)
{
  (void)state;
  enum { SMALL = 4096 };
  struct rig r;
  struct live_end end;
  int me;
  const void *who = &me;
  uint8_t *plain = aligned_alloc(4096, BYTES);
  double took_at[2][2];
  rig_build(&r, 1);
  for (unsigned staged = 0; staged < 2; staged++) {
    for (unsigned off = 0; off < 2; off++) {
      struct live_copy c = linear(LIVE_PROGRAM, (uintptr_t)plain + 48 * off, LIVE_DEVICE, r.d, &me);
      c.width = SMALL;
      c.staging_mbps = staged * 8000;
      c.start_ps = 5000000 + live_now(r.s);
      copy(&r, &c);
      run(&r, 1, &who, &end);
      took_at[staged][off] = took(&end);
    }
  }
  assert_true(took_at[1][0] == took_at[1][1]);
  assert_true(took_at[0][0] < took_at[0][1]);
  rig_free(&r);
  free(plain);
}

struct beside {
  double kernel, copy;
  uint64_t dram, insts, cycles;
};

/* A launch, a copy inside the GPU, or both; `late`: the launch comes when the copy is under way, and finds it alone. */
static struct beside run_beside(bool kernel, bool copies, uint64_t late, unsigned threads)
{
  struct rig r;
  struct live_end end[2] = {{.start_ps = 0}};
  struct launch l = {.func = NULL};
  int a, b;
  const void *const who[] = {kernel ? (const void *)&a : &b, &b};
  rig_build(&r, threads);
  struct live_copy c = linear(LIVE_DEVICE, r.d, LIVE_DEVICE, r.c, &b);
  if (copies) copy(&r, &c);
  if (late) assert_int_equal(live_run(r.s, late), LIVE_REACHED);
  if (kernel) l = launch(&r, late, &a);
  run(&r, kernel + copies, who, end);
  struct beside x = {.kernel = kernel ? took(&end[0]) : 0, .copy = copies ? took(&end[kernel]) : 0};
  if (copies) assert_true(same(&r, r.c, r.d));
  if (kernel) {
    const struct sim_result *res = &end[0].result;
    assert_true(same(&r, r.from, r.to));
    assert_int_equal(res->end, RUN_DONE);
    assert_int_equal(res->together, 1);
    assert_int_equal(sim_counter(res, "ctas"), 2 * SMS);
    assert_int_equal(sim_counter(res, "time_ps"), end[0].end_ps - end[0].start_ps);
    x.insts = sim_counter(res, "warp_insts");
    x.dram = sim_counter(res, "dram_read_bytes");
    x.cycles = res->cycles;
    func_launch_free(l.func);
  }
  rig_free(&r);
  return x;
}

/* Both are slower than alone; a launch beside copies has counters of its own. */
static void beside_a_copy(void **state)
{
  (void)state;
  struct beside kernel = run_beside(true, false, 0, 1), only = run_beside(false, true, 0, 1);
  for (unsigned late = 0; late < 2; late++) {
    struct beside both = run_beside(true, true, late * 2000000, 1);
    assert_true(both.kernel > 1.2 * kernel.kernel);
    assert_true(both.copy > 1.03 * only.copy); /* it has had 2 us to itself, or the time of cold code */
    assert_true(both.kernel + both.copy > 1.25 * (kernel.kernel + only.copy));
    assert_int_equal(both.insts, kernel.insts);
    assert_true(both.dram > kernel.dram && both.dram < kernel.dram + 2 * BYTES);
    assert_true(both.cycles > kernel.cycles);
    for (unsigned threads = 2; threads <= 3; threads++) {
      struct beside again = run_beside(true, true, late * 2000000, threads);
      assert_memory_equal(&again, &both, sizeof both);
    }
  }
}

/* Whenever a launch comes: company makes no copy faster. */
static void never_faster_than_alone(void **state)
{
  (void)state;
  const double only = run_beside(false, true, 0, 1).copy;
  for (uint64_t ns = 500; ns < 10500; ns += 1700) {
    const double beside = run_beside(true, true, ns * 1000, 1).copy;
    if (beside < only) fail_msg("a launch that comes after %u ns: %.0f ps, %.0f alone", (unsigned)ns, beside, only);
  }
}

/* Reads at the host: no faster than the link. Again in own memory: as if nothing had been. */
static void pages_at_the_host(void **state)
{
  (void)state;
  struct rig r;
  struct live_end end;
  int me;
  const void *who = &me;
  double ps[3];
  rig_build(&r, 1);
  for (unsigned i = 0; i < 3; i++) {
    if (i == 1) simulator_place_at_host(r.s, r.from, BYTES);
    else simulator_place(r.s, r.from, BYTES, -1);
    struct launch l = launch(&r, (uint64_t)i << 40, &me);
    run(&r, 1, &who, &end);
    assert_int_equal(end.result.end, RUN_DONE);
    assert_true(same(&r, r.from, r.to));
    clear(&r, r.to);
    ps[i] = took(&end);
    func_launch_free(l.func);
  }
  const double link = BYTES * 1e6 / r.k.params.pcie_h2d_mbps;
  assert_true(ps[1] > link && ps[1] < 1.05 * link + 2e6);
  assert_true(ps[0] < link / 3);
  assert_within(ps[2], ps[0], 0.3); /* L2 is warm now */
  rig_free(&r);
}

/* What is cut short is over, copies too. */
static void a_fault_ends_copies(void **state)
{
  (void)state;
  struct rig r;
  struct live_end end[2];
  int a, b;
  const void *const who[] = {&a, &b};
  rig_build(&r, 1);
  const uint64_t nowhere = (uint64_t)1 << 46;
  memcpy(r.k.launch->bank0 + 0x160, &nowhere, 8);
  struct live_copy c = linear(LIVE_AT_HOST, r.d, LIVE_DEVICE, r.c, &b);
  copy(&r, &c);
  struct launch l = launch(&r, 0, &a);
  run(&r, 2, who, end);
  assert_int_equal(end[0].result.end, RUN_FAULT);
  assert_true(end[1].copy && end[1].end_ps <= end[0].end_ps + 1000000);
  assert_false(live_busy(r.s));
  func_launch_free(l.func);
  memcpy(r.k.launch->bank0 + 0x160, &r.to, 8); /* and the next run is as ever */
  copy(&r, &c);
  l = launch(&r, 0, &a);
  run(&r, 2, who, end);
  assert_int_equal(end[0].result.end, RUN_DONE);
  assert_true(same(&r, r.c, r.d) && same(&r, r.from, r.to));
  func_launch_free(l.func);
  rig_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_of_the_program), cmocka_unit_test(alignment_of_the_program),
      cmocka_unit_test(beside_a_copy), cmocka_unit_test(never_faster_than_alone), cmocka_unit_test(pages_at_the_host),
      cmocka_unit_test(a_fault_ends_copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
