/* Code as the memory system sees it: lines come from DRAM once, then from L2; launches have it prefetched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "config/presets.h"
#include "gpu_rig.h"
#include "time_mock.h"

enum { LINE = 128, INSTS = 100, INST_BYTES = 16 };

static struct params params(void)
{
  struct params p;
  struct err e = {0};
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &p, &e)) fail_msg("%s", e.msg);
  p.gpu_sms = 2;
  p.const_perfect = true;
  return p;
}

static uint64_t counter(struct gpu *gpu, const char *name)
{
  struct stat_group g[GPU_MAX_GROUPS];
  unsigned n = gpu_stats_groups(gpu, g);
  for (unsigned i = 0; i < n; i++) {
    const struct stat_desc *d = stat_find(g[i], name);
    if (d) return *(const uint64_t *)((const char *)g[i].data + d->offset);
  }
  fail_msg("no counter %s", name);
  return 0;
}

struct outcome {
  uint64_t cycles, code_lines, prefetches, dram_bytes;
};

static struct outcome launch(struct gpu_rig *r, struct mock *const *m, unsigned n, struct gmem *image)
{
  struct gpu_launch l[2] = {{.source = &m[0]->source}, {.source = &m[n - 1]->source}};
  struct gpu *gpu = r->gpu;
  gpu_rig_run(r, l, n, image);
  for (unsigned i = 0; i < n; i++) gpu_close(gpu, i);
  return (struct outcome){counter(gpu, "cycles"), counter(gpu, "l1i_code_lines"), counter(gpu, "code_prefetches"),
                          counter(gpu, "dram_read_bytes")};
}

/* The first launch and the second one of a kernel, or of two at once, on a new GPU. */
static void launches_of(const struct params *p, struct mock *const *m, unsigned n, struct outcome out[2])
{
  struct gmem *image = gmem_new(p->vm_page_bits);
  struct gpu_rig r = gpu_rig_new(p, 1);
  for (unsigned i = 0; i < 2; i++) out[i] = launch(&r, m, n, image);
  gpu_rig_free(&r);
  gmem_free(image);
}

static void launches(const struct params *p, struct mock *m, struct outcome out[2])
{
  launches_of(p, &m, 1, out);
}

/* A lone line: an L2 hit in the place of DRAM is what the two latencies of a load differ by. */
static void one_line(void **state)
{
  (void)state;
  struct params p = params();
  struct mock *m = mock_new(3, 1);
  struct outcome o[2];
  p.l0i_stream_lines = 0;
  launches(&p, m, o);
  assert_int_equal(o[0].code_lines, 1);
  assert_int_equal(o[0].dram_bytes, LINE);
  assert_int_equal(o[1].code_lines, 1); /* L1 starts empty */
  assert_int_equal(o[1].dram_bytes, 0);
  int64_t more = (int64_t)(o[0].cycles - o[1].cycles), want = (int64_t)p.dram_latency - (int64_t)p.l2_latency;
  assert_in_range(more, want - 10, want + 25); /* four sectors, where the latency is that of one */
  free(m);
}

/* icache.kept: the second launch asks L2 for nothing. */
static void kept_for_the_next_launch(void **state)
{
  (void)state;
  struct params p = params();
  struct mock *m = mock_new(INSTS, 1);
  struct outcome emptied[2], kept[2];
  assert_false(p.icache_kept);
  launches(&p, m, emptied);
  p.icache_kept = true;
  launches(&p, m, kept);
  assert_int_equal(kept[0].cycles, emptied[0].cycles);
  assert_int_equal(emptied[1].code_lines, emptied[0].code_lines);
  assert_int_equal(kept[1].code_lines, 0);
  assert_true(kept[1].cycles < emptied[1].cycles);
  free(m);
}

/* l2.code_kept: the first launch is as fast as the second one is without, and as fast as its own second one. */
static void left_by_launches_before(void **state)
{
  (void)state;
  struct params p = params();
  struct mock *m = mock_new(INSTS, 1);
  struct outcome o[2], left[2];
  p.const_perfect = false;
  launches(&p, m, o);
  p.l2_code_kept = true;
  launches(&p, m, left);
  assert_true(o[0].dram_bytes > 0);
  assert_int_equal(left[0].dram_bytes, 0);
  assert_int_equal(left[0].code_lines, o[0].code_lines);
  assert_int_equal(left[0].cycles, o[1].cycles);
  assert_int_equal(left[1].cycles, o[1].cycles);
  free(m);
}

/* Two SMs ask for the same lines: DRAM sends each once. */
static void shared_by_sms(void **state)
{
  (void)state;
  struct params p = params();
  struct mock *m[2] = {mock_new(INSTS, 1), mock_new(INSTS, 1)};
  struct outcome alone[2], both[2];
  launches(&p, m[0], alone);
  launches_of(&p, m, 2, both);
  assert_int_equal(alone[0].dram_bytes, LINE * alone[0].code_lines);
  assert_int_equal(both[0].code_lines, 2 * alone[0].code_lines);
  assert_int_equal(both[0].dram_bytes, alone[0].dram_bytes);
  assert_int_equal(both[1].dram_bytes, 0);
  free(m[0]);
  free(m[1]);
}

/* The kernel's lines, no more than launch.prefetch_bytes. */
static void prefetched(void **state)
{
  (void)state;
  struct params p = params();
  struct mock *m = mock_new(INSTS, 1);
  const uint64_t bytes = (INSTS + 1) * INST_BYTES, lines = (bytes + LINE - 1) / LINE;
  assert_int_equal(MOCK_BASE % LINE, 0);
  m->source.entry_pc = MOCK_BASE;
  m->source.code_bytes = bytes;
  p.l0i_stream_lines = 0;
  struct outcome with[2], without[2];
  p.launch_prefetch_bytes = 0;
  launches(&p, m, without);
  assert_int_equal(without[0].prefetches, 0);
  p.launch_prefetch_bytes = 1 << 17;
  launches(&p, m, with);
  assert_int_equal(with[0].prefetches, lines);
  assert_int_equal(with[0].dram_bytes, without[0].dram_bytes);
  /* They are there before the first CTA. */
  uint64_t gain = lines * (p.dram_latency - p.l2_latency);
  assert_in_range(without[0].cycles - with[0].cycles, gain * 9 / 10, gain * 11 / 10);
  p.launch_prefetch_bytes = 3 * LINE;
  launches(&p, m, with);
  assert_int_equal(with[0].prefetches, 3);
  free(m);
}

/* Fewer lines on their way at once: slower, and the same lines. */
static void few_entries(void **state)
{
  (void)state;
  struct params p = params();
  struct mock *m = mock_new(INSTS, 1);
  struct outcome many[2], one[2];
  launches(&p, m, many);
  p.l1i_mshr_entries = 1;
  launches(&p, m, one);
  assert_int_equal(one[0].code_lines, many[0].code_lines);
  assert_true(one[0].cycles > many[0].cycles + 2 * (uint64_t)p.dram_latency);
  free(m);
}

/* --- constants ---------------------------------------------------------------------------------- */

enum { PIECE = 256 };

static struct params only_constants(void)
{
  struct params p = params();
  p.icache_perfect = true;
  p.const_perfect = false;
  assert_int_equal(p.l1i_const_fetch_bytes, PIECE);
  return p;
}

static struct mock *with_operand(unsigned bank)
{
  struct mock *m = mock_new(3, 1);
  struct inst in = mock_alu(1, false);
  in.has_const = true;
  in.const_bank = (uint8_t)bank;
  in.const_off = 0x160;
  mock_set(m, 1, in);
  return m;
}

/* Lane i loads the constants from i * bytes on; the next instruction waits for them. */
static struct mock *with_ldc(unsigned bytes)
{
  struct mock *m = mock_new(3, 1);
  struct inst in = mock_alu(2, false), user = mock_alu(1, false);
  in.pipe = PIPE_MEM;
  in.mem = (struct inst_mem){.space = MEM_CONST, .op = MEM_LOAD, .bytes = (uint8_t)bytes};
  in.n_dst = 1;
  in.ctrl.write_sb = 0;
  user.ctrl.wait = 1;
  m->dense = true;
  mock_set(m, 0, in);
  mock_set(m, 1, user);
  return m;
}

/* The first launch waits for DRAM, `trips` times, the second one finds all in L2. */
static void expect_from_dram(struct mock *m, unsigned pieces, unsigned trips)
{
  struct params p = only_constants();
  struct outcome o[2];
  launches(&p, m, o);
  for (unsigned i = 0; i < 2; i++) assert_int_equal(o[i].code_lines, pieces * PIECE / LINE);
  assert_int_equal(o[0].dram_bytes, pieces * PIECE);
  assert_int_equal(o[1].dram_bytes, 0);
  int64_t more = (int64_t)(o[0].cycles - o[1].cycles), want = (int64_t)p.dram_latency - (int64_t)p.l2_latency;
  assert_in_range(more, trips * want - 10, trips * want + 60);
  free(m);
}

static void constants_from_dram(void **state)
{
  (void)state;
  expect_from_dram(with_operand(0), 1, 1);
  expect_from_dram(with_operand(3), 1, 1);
  expect_from_dram(with_ldc(4), 1, 1);
  expect_from_dram(with_ldc(16), 2, 1); /* all of its lines are asked for at once */
}

/* Two launches at once have a bank 0 each; the other banks belong to the code. */
static void whose_constants(void **state)
{
  (void)state;
  struct params p = only_constants();
  for (unsigned bank = 0; bank < 4; bank += 3) {
    struct mock *m[2] = {with_operand(bank), with_operand(bank)};
    struct outcome o[2];
    launches_of(&p, m, 2, o);
    assert_int_equal(o[0].dram_bytes, bank ? PIECE : 2 * PIECE);
    free(m[0]);
    free(m[1]);
  }
}

/* Other code at the same pcs is not found, the same code again is, wherever its decoded form lies. */
static void places(void **state)
{
  (void)state;
  struct mock *a = mock_new(INSTS, 1), *b = mock_new(INSTS, 1);
  uint64_t place = code_place(&a->source.code);
  assert_int_equal(code_place(&b->source.code), place);
  b->inst[INSTS / 2].mnemonic++; /* our number of it: another table must not move the code */
  assert_int_equal(code_place(&b->source.code), place);
  b->inst[INSTS / 2].ctrl.stall++;
  assert_int_not_equal(code_place(&b->source.code), place);
  free(a);
  free(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_line), cmocka_unit_test(kept_for_the_next_launch),
      cmocka_unit_test(left_by_launches_before), cmocka_unit_test(shared_by_sms), cmocka_unit_test(prefetched),
      cmocka_unit_test(few_entries), cmocka_unit_test(places),
      cmocka_unit_test(constants_from_dram), cmocka_unit_test(whose_constants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
