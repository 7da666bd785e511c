/* Instruction caches: L0 with stream buffer, L1. Rules of Huerta et al., MICRO 2025, section 5.2;
 * rates per line as measured on an RTX 3060 (YKTian-x2b/AmpereArchViaMicroBenchMark). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "time/sm/const_cache.h"
#include "time/sm/l0i.h"
#include "time_rig.h"

enum { LINE = 128, INSTS_PER_LINE = 8, VL = 4 /* client behind the sub-cores */ };

struct caches {
  struct params p;
  struct arena a;
  struct sm_stats stats;
  struct l1i l1i;
  struct l0i l0i;
  struct const_cache *fl, *vl; /* clients 0 and VL */
  /* L2 answers after the unloaded way to it and back. */
  struct {
    uint64_t line, at;
  } on_its_way[256];
  unsigned n, sent;
};

static void build(struct caches *r)
{
  struct err e = {0};
  char dir[4096];
  memset(r, 0, sizeof *r);
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load("rtx-3070", dir, &r->p, &e)) fail_msg("%s", e.msg);
}

/* Lines of constants under a name that tells them from code. */
static uint64_t const_name(void *ctx, uint64_t line)
{
  (void)ctx;
  return (line & ~L1I_CONST_LINE) | (uint64_t)1 << 62;
}

static void to_l2(void *ctx, uint64_t line, uint64_t at)
{
  struct caches *r = ctx;
  assert_true(r->n < 256);
  r->on_its_way[r->n].line = line;
  r->on_its_way[r->n++].at = at + r->p.l2_latency - params_l1_hit_cycles(&r->p);
  r->sent++;
}

static void to_l0(void *ctx, unsigned client, uint64_t line, uint64_t at)
{
  struct caches *r = ctx;
  if (line & L1I_CONST_LINE) {
    const_cache_arrived(client == VL ? r->vl : r->fl, line, at);
    return;
  }
  assert_int_equal(client, 0);
  l0i_arrived(&r->l0i, line, at);
}

static void answer_first(struct caches *r)
{
  uint64_t line = r->on_its_way[0].line, at = r->on_its_way[0].at;
  memmove(r->on_its_way, r->on_its_way + 1, --r->n * sizeof r->on_its_way[0]);
  l1i_fill(&r->l1i, line, at);
}

/* The cycle from which the instruction can be read, after all answers of L2 that it takes. */
static uint64_t fetched(struct caches *r, uint64_t pc, uint64_t now)
{
  while (r->n && r->on_its_way[0].at <= now) answer_first(r);
  uint64_t at = l0i_fetch(&r->l0i, pc, now);
  while (at == L1I_ON_ITS_WAY) {
    assert_true(r->n > 0);
    answer_first(r);
    at = l0i_fetch(&r->l0i, pc, now);
  }
  return at;
}

/* The same of a constant. */
static uint64_t constant(struct caches *r, struct const_cache *c, uint32_t offset, uint64_t now)
{
  while (r->n && r->on_its_way[0].at <= now) answer_first(r);
  uint64_t at = const_cache_read(c, 0, offset, now);
  while (at == L1I_ON_ITS_WAY) {
    assert_true(r->n > 0);
    answer_first(r);
    at = const_cache_read(c, 0, offset, now);
  }
  return at;
}

static void init(struct caches *r)
{
  l1i_init(&r->l1i, &r->a, &r->p, (struct l1i_ports){const_name, to_l2, to_l0, r}, &r->stats);
  l1i_start(&r->l1i);
  l0i_init(&r->l0i, &r->a, &r->p, 0, &r->l1i, &r->stats);
  l0i_start(&r->l0i);
}

static void done(struct caches *r)
{
  l1i_free(&r->l1i);
  arena_free(&r->a);
}

/* Runs straight through `lines` lines from pc 0, one instruction per cycle; returns the end. */
static uint64_t stream(struct caches *r, unsigned lines, uint64_t now)
{
  for (uint64_t i = 0; i < (uint64_t)lines * INSTS_PER_LINE; i++) {
    uint64_t at = fetched(r, i * 16, now);
    now = (at > now ? at : now) + 1;
  }
  return now;
}

static void cold_then_warm(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  /* The first instruction waits for L2 and L1. */
  assert_int_equal(fetched(&r, 0, 100), 100 + r.p.l1i_miss_latency);
  stream(&r, 64, 1000);
  /* 64 lines = 8 KiB fit L0: the second pass runs at one instruction per cycle. */
  assert_int_equal(stream(&r, 64, 10000) - 10000, 64 * INSTS_PER_LINE);
  done(&r);
}

/* A loop larger than L0 but within L1 runs at l1i.line_interval per line. */
static void larger_than_l0(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  unsigned lines = 3 * r.p.l0i_bytes / 2 / LINE; /* L1 holds twice L0 */
  uint64_t t = stream(&r, lines, 0), warm = stream(&r, lines, t) - t;
  double per_line = (double)warm / lines;
  assert_true(per_line > 0.95 * r.p.l1i_line_interval && per_line < 1.05 * r.p.l1i_line_interval);
  done(&r);
}

static void larger_than_l1(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  unsigned lines = 2 * r.p.l1i_bytes / LINE;
  uint64_t t = stream(&r, lines, 0), warm = stream(&r, lines, t) - t;
  double per_line = (double)warm / lines;
  assert_true(per_line > 0.95 * r.p.l1i_miss_line_interval &&
              per_line < 1.05 * r.p.l1i_miss_line_interval);
  done(&r);
}

/* Without prefetcher every line costs a round trip; the buffer's size bounds what is in flight. */
static void prefetch_depth(void **state)
{
  (void)state;
  uint64_t time[3];
  static const uint32_t depth[3] = {0, 2, 8};
  for (unsigned i = 0; i < 3; i++) {
    struct caches r;
    build(&r);
    r.p.l0i_stream_lines = depth[i];
    init(&r);
    stream(&r, 64, 0);
    l0i_start(&r.l0i); /* L0 empty, L1 warm */
    time[i] = stream(&r, 64, 100000) - 100000;
    if (depth[i] == 0) {
      assert_int_equal(r.stats.l0i_prefetches, 0);
      assert_int_equal(time[i], 64 * (r.p.l1i_latency + INSTS_PER_LINE));
    }
    done(&r);
  }
  assert_true(time[2] < time[1] && time[1] < time[0]);
}

/* L1 reads eight lines ahead, L0 one: L2 is asked for nine lines at once, then for one with each line that L0 asks
 * for; and where L1 has had the time, a line costs no more than L1's own latency. */
static void l1_reads_ahead(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  r.p.l0i_stream_lines = 1;
  r.p.l1i_stream_lines = 8;
  r.p.l1i_latency = 62;
  init(&r);
  uint64_t now = fetched(&r, 0, 0);
  assert_int_equal(r.sent, 1 + 1 + 8); /* line 0, line 1 of the stream, and eight behind that */
  uint64_t late = now + 1000;
  assert_true(fetched(&r, 1 * LINE, late) <= late); /* the stream's; it asks for line 2 */
  assert_int_equal(r.sent, 11);
  assert_int_equal(fetched(&r, 2 * LINE, late), late + 62);
  late += 1000;
  assert_int_equal(fetched(&r, 9 * LINE, late), late + 62); /* a jump, as far as L1 has read */
  assert_true(fetched(&r, 40 * LINE, late + 1000) > late + 1000 + 62); /* and further */
  done(&r);
}

static void stream_buffer_serves_its_head_only(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  fetched(&r, 0, 0); /* lines 1 … 8 are prefetched */
  assert_int_equal(r.stats.l0i_prefetches, r.p.l0i_stream_lines);
  uint64_t requests = r.stats.l1i_requests;
  fetched(&r, 1 * LINE, 5000); /* the head: no new demand request, one more prefetch */
  assert_int_equal(r.stats.l1i_requests, requests + 1);
  fetched(&r, 5 * LINE, 6000); /* in the buffer, but not at its head: a miss, and a restart */
  assert_int_equal(r.stats.l1i_requests, requests + 2 + r.p.l0i_stream_lines);
  done(&r);
}

/* Lines of a stream that a jump has dropped do not stand in its way, but for the one on the link: all in L1, a line
 * arrives l1i.latency after its request and l1i.line_interval after another. */
static void dropped_lines_make_room(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  const unsigned latency = r.p.l1i_latency, interval = r.p.l1i_line_interval;
  enum { AT = 100000, FAR = 40, FARTHER = 60 };
  stream(&r, 80, 0);
  l0i_start(&r.l0i); /* L0 empty, L1 warm */
  assert_int_equal(l0i_fetch(&r.l0i, 0, AT), AT + latency);
  assert_int_equal(l0i_fetch(&r.l0i, FAR * LINE, AT + 1), AT + latency + interval); /* behind line 0 */
  /* Some lines behind FAR have come, one is under way. */
  uint64_t later = AT + latency + 3 * interval;
  assert_int_equal(l0i_fetch(&r.l0i, FARTHER * LINE, later), later + latency);
  done(&r);
}

/* An L0 of one line and two warps per sub-core, each of which throws out the other one's line while it comes: both get on,
 * and as the second instruction of a line may have to be fetched as the first was, no faster than the larger L0. */
static void one_line_for_two_warps(void **state)
{
  (void)state;
  uint64_t ends[2];
  for (unsigned small = 0; small < 2; small++) {
    struct rig r;
    rig_params(&r, "rtx-3070");
    r.params.icache_perfect = false;
    if (small) r.params.l0i_ways = 1, r.params.l0i_bytes = LINE;
    rig_init(&r);
    struct mock *m = mock_new(2 * INSTS_PER_LINE + 1, 8);
    rig_run(&r, m);
    ends[small] = m->issued[0][2 * INSTS_PER_LINE];
    free(m);
    rig_free(&r);
  }
  assert_true(ends[1] > ends[0]);
}

static void perfect(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  r.p.icache_perfect = true;
  init(&r);
  assert_int_equal(l0i_fetch(&r.l0i, 12345 * 16, 77), 77);
  done(&r);
}

/* Section 5.1: a line that only the LDC-side cache holds is a miss for a fixed-latency operand, and
 * costs 79 cycles. */
static void constant_caches_are_separate(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  struct const_cache fl, vl;
  const_cache_init(&vl, &r.a, &r.p, r.p.const_vl_bytes, VL, &r.l1i, &r.stats);
  r.vl = &vl;
  const_cache_init(&fl, &r.a, &r.p, r.p.const_fl_bytes, 0, &r.l1i, &r.stats);
  r.fl = &fl;
  assert_int_equal(constant(&r, &vl, 0x160, 0), r.p.l1i_miss_latency);
  assert_int_equal(constant(&r, &vl, 0x164, 1000), r.p.l1i_miss_latency); /* there since */
  assert_int_equal(constant(&r, &fl, 0x160, 1000), 1079);
  assert_int_equal(constant(&r, &fl, 0x160, 2000), 1079);
  assert_int_equal(r.stats.const_misses, 2);
  done(&r);
}

/* A constant that misses L1 brings what lies in its l1i.const_fetch_bytes, and nothing beyond. */
static void constants_come_in_pieces(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  init(&r);
  struct const_cache fl;
  const_cache_init(&fl, &r.a, &r.p, r.p.const_fl_bytes, 0, &r.l1i, &r.stats);
  r.fl = &fl;
  const unsigned miss = r.p.l1i_miss_latency, hit = r.p.l1i_latency;
  assert_int_equal(r.p.l1i_const_fetch_bytes, 256);
  assert_int_equal(constant(&r, &fl, 0x160, 0), miss);
  assert_int_equal(constant(&r, &fl, 0x1c0, 1000), 1000 + hit);
  assert_int_equal(constant(&r, &fl, 0x100, 2000), 2000 + hit);
  assert_int_equal(constant(&r, &fl, 0x0c0, 3000), 3000 + miss);
  assert_int_equal(constant(&r, &fl, 0x200, 4000), 4000 + miss);
  assert_int_equal(r.stats.l1i_misses, 3);
  done(&r);
}

/* icache.kept: code stays in both levels for the next kernel, constants do not. */
static void constants_go_with_their_kernel(void **state)
{
  (void)state;
  struct caches r;
  build(&r);
  r.p.icache_kept = true;
  init(&r);
  struct const_cache fl;
  const_cache_init(&fl, &r.a, &r.p, r.p.const_fl_bytes, 0, &r.l1i, &r.stats);
  r.fl = &fl;
  assert_int_equal(constant(&r, &fl, 0x160, 0), r.p.l1i_miss_latency);
  while (r.n) answer_first(&r);
  l1i_start(&r.l1i);
  const_cache_start(&fl);
  assert_int_equal(constant(&r, &fl, 0x160, 1000), 1000 + r.p.l1i_miss_latency);
  done(&r);
}

/* Section 5.1: the greedy warp's constant miss blocks the scheduler for four cycles, then the
 * youngest ready warp issues. */
static void constant_miss_switches_after_four_cycles(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r);
  r.params.const_perfect = false;
  rig_free(&r);
  r.arena = (struct arena){0};
  r.image = gmem_new(r.params.vm_page_bits);
  r.sm = ARENA_NEW(&r.arena, struct sm);
  sm_init(r.sm, &r.arena, &r.params, 0);
  struct mock *m = mock_new(6, 5); /* warps 0 and 4 share sub-core 0 */
  struct inst in = mock_alu(1, false);
  in.has_const = true;
  in.const_off = 0x160;
  mock_set(m, 1, in);
  rig_run(&r, m);
  assert_int_equal(m->issued[4][0], START);
  assert_int_equal(m->issued[0][0], START + 1 + 4);
  /* By then warp 0 is the greedy one. */
  assert_int_equal(m->issued[0][1], START + 1 + r.params.l1i_miss_latency);
  free(m);
  rig_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cold_then_warm),
      cmocka_unit_test(larger_than_l0),
      cmocka_unit_test(larger_than_l1),
      cmocka_unit_test(prefetch_depth),
      cmocka_unit_test(l1_reads_ahead),
      cmocka_unit_test(stream_buffer_serves_its_head_only),
      cmocka_unit_test(dropped_lines_make_room),
      cmocka_unit_test(one_line_for_two_warps),
      cmocka_unit_test(perfect),
      cmocka_unit_test(constant_caches_are_separate),
      cmocka_unit_test(constants_come_in_pieces),
      cmocka_unit_test(constants_go_with_their_kernel),
      cmocka_unit_test(constant_miss_switches_after_four_cycles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
