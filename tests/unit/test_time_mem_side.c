/* Memory side: crossbar, L2 slices, DRAM channels, driven by requests of a mock SM. Expected values from
 * the presets' own figures (latencies, peak rates), from JEDEC rules, or by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/host_memory.h"
#include "mem_rig.h"
#include "time/mem/commit.h"

/* --- latency ---------------------------------------------------------------------------------- */

static const char *const gpus[] = {"rtx-3070", "rtx-3080", "rtx-a6000", "a100", "h200"};

/* Load to use of an L2 hit and of a DRAM access: the round trip plus what the SM adds (an L1 hit). Within
 * 2 % of the preset's measured figures. */
static void unloaded_latency(void **state)
{
  (void)state;
  for (unsigned g = 0; g < sizeof gpus / sizeof gpus[0]; g++) {
    struct rig r;
    rig_build(&r, gpus[g]);
    rig_start(&r);
    const struct params *p = &r.params;
    picos sm = params_l1_hit_cycles(p) * r.clock, dram = 0, l2 = 0, want_dram = 0;
    enum { LOADS = 500 };
    uint64_t line = 12345;
    for (unsigned i = 0; i < LOADS; i++) { /* a chase over 128 MiB */
      line = (line * 1103515245 + 12345) % (1u << 20);
      bool far = l2_partition_of_slice(p, l2_place(p, line).slice) != l2_partition_of_sm(p, 0);
      want_dram += (p->dram_latency + (far ? p->l2_far_latency - p->l2_latency : 0)) * r.clock;
      dram += round_trip(&r, REQ_READ, MEM_LOAD, line, 1) + sm;
      l2 += round_trip(&r, REQ_READ, MEM_LOAD, line, 1) + sm;
    }
    picos want_l2 = p->l2_latency * r.clock;
    assert_in_range(l2 / LOADS, want_l2 * 98 / 100, want_l2 * 102 / 100);
    assert_in_range(dram / LOADS, want_dram / LOADS * 98 / 100, want_dram / LOADS * 102 / 100);
    check_laws(&r);
    rig_free(&r);
  }
}

/* Mean time of `n` loads that miss L2 and of as many that hit it, picoseconds without the SM's part. */
static void mean_times(const struct params *p, unsigned n, picos *miss, picos *hit)
{
  struct rig r;
  rig_build(&r, "a40");
  r.params = *p;
  rig_start(&r);
  uint64_t line = 12345;
  *miss = *hit = 0;
  for (unsigned i = 0; i < n; i++) {
    line = (line * 1103515245 + 12345) % (1u << 20);
    *miss += round_trip(&r, REQ_READ, MEM_LOAD, line, 1);
    *hit += round_trip(&r, REQ_READ, MEM_LOAD, line, 1);
  }
  *miss /= n;
  *hit /= n;
  rig_free(&r);
}

/* A locked clock: L2 takes as many cycles as before, DRAM as many nanoseconds. L2 at half the SM clock:
 * twice the time. */
static void clock_domains(void **state)
{
  enum { LOADS = 300 };
  (void)state;
  struct preset a, b, c;
  struct err e = {0};
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  assert_true(preset_load("a40", dir, &a, &e) && preset_load("a40", dir, &b, &e) &&
              preset_load("a40", dir, &c, &e));
  assert_true(preset_override(&b, "clock=870", &e)); /* half */
  assert_true(preset_override(&c, "l2.clock_khz=870000", &e));
  assert_true(preset_override(&c, "launch.cta_latency=1000", &e));
  picos miss[3], hit[3];
  mean_times(&a.params, LOADS, &miss[0], &hit[0]);
  mean_times(&b.params, LOADS, &miss[1], &hit[1]);
  mean_times(&c.params, LOADS, &miss[2], &hit[2]);
  picos behind = miss[0] - hit[0];
  assert_in_range(hit[1], 2 * hit[0] * 99 / 100, 2 * hit[0] * 101 / 100);
  assert_in_range(miss[1] - hit[1], behind * 98 / 100, behind * 102 / 100);
  assert_in_range(hit[2], 2 * hit[0] * 99 / 100, 2 * hit[0] * 101 / 100);
  preset_free(&a), preset_free(&b), preset_free(&c);
}

/* Two partitions: a line at home in the far one is read from there once, then from the near copy; a write
 * makes the copy old, whoever writes. */
static void far_lines_are_copied(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "a100");
  rig_start(&r);
  const struct params *p = &r.params;
  uint64_t line = 0; /* SM 0 belongs to partition 0 */
  while (l2_partition_of_slice(p, l2_place(p, line).slice) == 0) line++;
  picos sm = params_l1_hit_cycles(p) * r.clock;
  picos near = p->l2_latency * r.clock - sm, far = p->l2_far_latency * r.clock - sm;
  round_trip(&r, REQ_WRITE, MEM_STORE, line, 0xf); /* in L2 at home, not here */
  assert_int_equal(round_trip(&r, REQ_READ, MEM_LOAD, line, 1), far);
  assert_int_equal(round_trip(&r, REQ_READ, MEM_LOAD, line, 1), near);
  assert_int_equal(round_trip(&r, REQ_READ, MEM_LOAD, line, 2), far); /* sector by sector */
  round_trip(&r, REQ_WRITE, MEM_STORE, line, 1);
  drain(&r);
  assert_int_equal(l2_sum(&r).l2_invalidated_sectors, 1);
  assert_int_equal(round_trip(&r, REQ_READ, MEM_LOAD, line, 2), near);
  assert_int_equal(round_trip(&r, REQ_READ, MEM_LOAD, line, 1), far);
  picos home = p->l2_home_latency * r.clock - sm; /* strong accesses and their answers go there */
  assert_in_range(round_trip(&r, REQ_STRONG, MEM_LOAD, line, 1), home - 1, home);
  assert_int_equal(r.performed, 1);
  check_laws(&r);
  rig_free(&r);
}

/* Both partitions ask each other at once with one miss entry each, and everything is answered. */
static void partitions_do_not_wait_in_a_circle(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "a100");
  r.params.l2_mshr_entries = 1;
  r.params.dram_read_queue = 1;
  rig_start(&r);
  unsigned n = r.params.gpu_sms, asked = 0, got = 0;
  for (uint64_t line = 0; line < 4000; line++, asked++)
    ask(&r, (unsigned)(line * 7 % n), REQ_READ, MEM_LOAD, line / 2, 0xf, r.now);
  for (unsigned i = 0; i < 20000 && got < asked; i++) {
    rig_window(&r);
    for (unsigned sm = 0; sm < n; sm++)
      for (; reply_queue_front(&r.in[sm]); reply_queue_pop(&r.in[sm])) got++;
  }
  assert_int_equal(got, asked);
  check_laws(&r);
  rig_free(&r);
}

/* --- bandwidth -------------------------------------------------------------------------------- */

struct stream {
  uint64_t lines;      /* wraps around these */
  uint64_t stride;     /* in lines */
  bool random;
  unsigned sectors;
  unsigned outstanding; /* lines per SM */
  unsigned total;       /* lines per SM */
};

/* Each SM keeps `outstanding` lines on their way. Bytes per ps * 1e6 over the whole run. */
static double rate(struct rig *r, const struct stream *s)
{
  unsigned n = r->params.gpu_sms;
  unsigned *sent = calloc(n, sizeof *sent), *got = calloc(n, sizeof *got);
  uint64_t k = 0, x = 1;
  picos begin = r->now, last = begin;
  for (unsigned open = n; open;) {
    for (unsigned i = 0; i < s->outstanding; i++)
      for (unsigned sm = 0; sm < n; sm++) {
        if (sent[sm] - got[sm] >= s->outstanding || sent[sm] == s->total) continue;
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t line = s->random ? (x >> 33) % s->lines : k++ * s->stride % s->lines;
        ask(r, sm, REQ_READ, MEM_LOAD, line, s->sectors, r->now);
        sent[sm]++;
      }
    rig_window(r);
    open = 0;
    for (unsigned sm = 0; sm < n; sm++) {
      struct mem_reply *m;
      while ((m = reply_queue_front(&r->in[sm])) && m->arrive < r->now) {
        if (m->arrive > last) last = m->arrive;
        got[sm]++;
        reply_queue_pop(&r->in[sm]);
      }
      open += got[sm] < s->total;
    }
  }
  free(sent);
  free(got);
  return (double)n * s->total * __builtin_popcount(s->sectors) * SECTOR_BYTES /
         (double)(last - begin);
}

static void assert_near(double got, double want, double tolerance)
{
  if (got < want * (1 - tolerance) || got > want * (1 + tolerance))
    fail_msg("%g, expected %g within %g", got, want, tolerance);
}

/* A warm 1 MiB read by all SMs: l2.bytes_per_cycle, or the SMs' ports where they carry less. */
static void l2_peak_bandwidth(void **state)
{
  (void)state;
  for (unsigned g = 0; g < sizeof gpus / sizeof gpus[0]; g++) {
    struct rig r;
    rig_build(&r, gpus[g]);
    rig_start(&r);
    struct stream s = {.lines = 8192, .stride = 1, .sectors = 0xf,
                       .outstanding = 384, .total = 512};
    rate(&r, &s);
    double ports = (double)r.params.gpu_sms * r.params.noc_sm_reply_bytes;
    double peak = r.params.l2_bytes_per_cycle < ports ? r.params.l2_bytes_per_cycle : ports;
    s.total = 5000; /* the start does not count */
    assert_near(rate(&r, &s) * (double)r.clock, peak, 0.10);
    check_laws(&r);
    rig_free(&r);
  }
}

/* A stream from DRAM: dram.efficiency of the pin rate. */
static void dram_stream_bandwidth(void **state)
{
  (void)state;
  for (unsigned g = 0; g < sizeof gpus / sizeof gpus[0]; g++) {
    struct rig r;
    rig_build(&r, gpus[g]);
    rig_start(&r);
    double peak = (double)params_dram_bytes_per_second(&r.params) *
                  r.params.dram_efficiency_permille / 1000.0 * 1e-12;
    struct stream s = {.lines = 1u << 28, .stride = 1, .sectors = 0xf, .outstanding = 256,
                       .total = 1500};
    assert_near(rate(&r, &s), peak, 0.10);
    check_laws(&r);
    rig_free(&r);
  }
}

/* One behind the other lines are read: each channel of a slice that has several sees all columns of a row before the next. */
static void channels_of_a_slice(void **state)
{
  enum { SLICES = 2, LINES = 1024 };
  uint64_t others = 0; /* reads that did not find their row open */
  (void)state;
  for (unsigned each = 1; each <= 4; each *= 2) {
    struct rig r;
    rig_build(&r, "rtx-3070");
    r.params.l2_slices = SLICES, r.params.dram_channels = SLICES * each;
    rig_start(&r);
    struct stream s = {.lines = 1u << 28, .stride = 1, .sectors = 0xf, .outstanding = 8, .total = LINES};
    rate(&r, &s);
    const struct dram_stats d = dram_sum(&r);
    if (each == 1) others = d.dram_reads - d.row_hits;
    assert_true(others > 0);
    assert_in_range(d.dram_reads - d.row_hits, others * 9 / 10, others * 11 / 10); /* as with one channel */
    rig_free(&r);
  }
}

/* Random sectors open a row each: four ACTs per tFAW and channel are the most there can be. */
static void random_rows_are_slow(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  rig_start(&r);
  struct stream s = {.lines = 1u << 26, .random = true, .sectors = 1, .outstanding = 256,
                     .total = 1000};
  double got = rate(&r, &s);
  double faw = 4.0 * SECTOR_BYTES * r.params.dram_channels / r.params.dram_t[DRAM_T_FAW];
  assert_true(got < faw * 1.02);
  assert_true(got > faw * 0.6);
  check_laws(&r);
  struct dram_stats d = dram_sum(&r);
  assert_true(d.row_hits * 10 < d.dram_reads);
  rig_free(&r);
}

/* Power-of-two strides use all slices. */
static void strides_spread(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3080"); /* 40 slices */
  for (unsigned shift = 0; shift < 16; shift++) {
    unsigned count[64] = {0}, most = 0;
    for (uint64_t i = 0; i < 4000; i++) count[l2_place(&r.params, i << shift).slice]++;
    for (unsigned i = 0; i < r.params.l2_slices; i++) most = count[i] > most ? count[i] : most;
    if (most >= 170) fail_msg("stride 2^%u: %u of 4000 lines in one of 40 slices", shift, most);
  }
  for (uint64_t block = 0; block < 100; block++) { /* forty runs of neighbours use each slice once */
    const uint64_t together = r.params.l2_slice_lines;
    uint64_t seen = 0;
    for (uint64_t i = 0; i < 40; i++) seen |= 1ull << l2_place(&r.params, (block * 40 + i) * together).slice;
    assert_int_equal(seen, (1ull << 40) - 1);
  }
}

/* --- back-pressure ---------------------------------------------------------------------------- */

/* A line of the slice. */
static uint64_t line_of(const struct params *p, unsigned slice)
{
  uint64_t line = 0;
  while (l2_place(p, line).slice != slice) line++;
  return line;
}

/* Stores of 4 bytes to each sector of a line read and write it, through a port each: a slice takes one of them in that
 * many cycles. */
static unsigned hold_of_store(const struct params *p)
{
  return LINE_BYTES * p->l2_slices / p->l2_bytes_per_cycle;
}

/* SM 0 sends `n` such stores to slice 0 and then reads from slice 1, all at once. When the read is answered. */
static picos read_behind_stores(struct rig *r, unsigned n)
{
  const struct params *p = &r->params;
  for (unsigned i = 0; i < n; i++)
    ask_words(r, 0, REQ_WRITE, MEM_STORE, line_of(p, 0), 0xf, 0x01010101, r->now);
  ask(r, 0, REQ_READ, MEM_LOAD, line_of(p, 1), 1, r->now);
  for (;; rig_window(r))
    for (struct mem_reply *m; (m = reply_queue_front(&r->in[0])); reply_queue_pop(&r->in[0]))
      if (m->kind == REQ_READ) return m->arrive;
}

/* The stores fill the queue of slice 0, then SM 0's room in the crossbar, and then the read waits at the port although
 * its slice is idle: until the slice has taken so many stores that the read has room, told at the end of the window.
 * Another SM is not held up. The queue has to be full before the stores end: the slice's port brings one (160 bytes) in 2.5 cycles, the
 * slice takes one in 4, so that the queue gains one in 7; 300 stores do not fill a queue of 100. */
static void full_slice_blocks_the_port(void **state)
{
  (void)state;
  static const struct { unsigned queue, buffer; } c[] = {{4, 64}, {64, 64}, {1, 100}, {32, 80}};
  for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
    enum { STORES = 300 };
    struct rig r;
    rig_build(&r, "rtx-3070");
    r.params.l2_queue = c[i].queue;
    r.params.noc_sm_buffer = c[i].buffer;
    rig_start(&r);
    const struct params *p = &r.params;
    round_trip(&r, REQ_WRITE, MEM_STORE, line_of(p, 1), 0xf); /* both lines are in L2 */
    round_trip(&r, REQ_WRITE, MEM_STORE, line_of(p, 0), 0xf);
    r.now += (r.window - r.now % r.window) % r.window;
    picos hit = (p->l2_latency - params_l1_hit_cycles(p)) * r.clock, begin = r.now;
    ask(&r, 1, REQ_READ, MEM_LOAD, line_of(p, 1), 1, begin);
    picos got = read_behind_stores(&r, STORES);
    assert_int_equal(reply_queue_front(&r.in[1])->arrive - begin, hit);
    /* it has room when store STORES + 1 - buffer enters the queue: the one `queue` before is taken */
    picos room = r.window + (picos)(STORES - c[i].buffer - c[i].queue) * hold_of_store(p) * r.clock;
    picos leaves = room - room % r.window + r.window;
    /* perhaps behind the answer to a store, a flit */
    assert_in_range(got - begin, leaves + hit, leaves + hit + SECTOR_BYTES * r.clock / p->noc_sm_reply_bytes);
    struct noc_stats s;
    xbar_sum(&r.xbar, &s);
    assert_int_equal(s.noc_blocked, leaves);
    drain(&r);
    check_laws(&r);
    rig_free(&r);
  }
}

/* With room for one message an SM sends one in two windows: there, and word of it back. */
static void room_for_one_message(void **state)
{
  (void)state;
  enum { STORES = 10 };
  struct rig r;
  rig_build(&r, "rtx-3070");
  r.params.l2_queue = r.params.noc_sm_buffer = 1;
  rig_start(&r);
  const struct params *p = &r.params;
  round_trip(&r, REQ_WRITE, MEM_STORE, line_of(p, 1), 0xf);
  r.now += (r.window - r.now % r.window) % r.window;
  picos hit = (p->l2_latency - params_l1_hit_cycles(p)) * r.clock, begin = r.now;
  assert_int_equal(read_behind_stores(&r, STORES) - begin, STORES * 2 * r.window + hit);
  rig_free(&r);
}

/* --- L2 slice --------------------------------------------------------------------------------- */

/* 2,000 requests for one missing sector: one DRAM read, the others wait for it or hit. */
static void misses_merge(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  rig_start(&r);
  for (unsigned sm = 0; sm < 40; sm++)
    for (unsigned i = 0; i < 50; i++) ask(&r, sm, REQ_READ, MEM_LOAD, 7, 1u << i % 2, i * r.clock);
  for (unsigned i = 0; i < 200; i++) rig_window(&r);
  check_laws(&r);
  struct l2_stats s = l2_sum(&r);
  assert_int_equal(s.replies, 2000);
  assert_int_equal(s.l2_miss_sectors, 2);
  assert_true(s.l2_merge_sectors > 90); /* 96 may wait, then the slice stands still */
  assert_int_equal(s.l2_hit_sectors + s.l2_merge_sectors, 1998);
  rig_free(&r);
}

/* What DRAM sends for one sector of a line, of which sector 2 was written: the rest of its piece that is not here. */
static void companions_come_along(void **state)
{
  (void)state;
  static const struct {
    uint32_t piece;
    unsigned companions, hits; /* of the four sectors afterwards */
  } cases[] = {{32, 0, 2}, {64, 1, 3}, {128, 2, 4}};
  for (unsigned i = 0; i < 3; i++) {
    struct rig r;
    rig_build(&r, "rtx-3080");
    r.params.l2_fetch_bytes = cases[i].piece;
    rig_start(&r);
    round_trip(&r, REQ_WRITE, MEM_STORE, 7, 0x4);
    round_trip(&r, REQ_READ, MEM_LOAD, 7, 0x1);
    assert_int_equal(l2_sum(&r).l2_companion_sectors, cases[i].companions);
    assert_int_equal(dram_sum(&r).dram_read_bytes, SECTOR_BYTES * (1 + cases[i].companions));
    round_trip(&r, REQ_READ, MEM_LOAD, 7, 0xf);
    assert_int_equal(l2_sum(&r).l2_hit_sectors, cases[i].hits);
    assert_int_equal(l2_sum(&r).l2_filled_sectors, dram_sum(&r).dram_read_bytes / SECTOR_BYTES);
    check_laws(&r);
    rig_free(&r);
  }
}

/* What slice 0 is asked for by many SMs at once: `n` stores or loads of these words, by turns. From the first answer to the
 * last. */
static picos busy_slice(unsigned n, bool load, bool store, uint8_t sectors, uint32_t words)
{
  struct rig r;
  rig_build(&r, "rtx-3070");
  r.params.l2_slice_hash = L2_SLICE_HASH_LINEAR;
  r.params.noc_slice_request_bytes = r.params.noc_slice_reply_bytes = 1024; /* the ports are no limit */
  rig_start(&r);
  round_trip(&r, REQ_WRITE, MEM_STORE, 0, 0xf); /* the line is in L2 */
  unsigned sms = r.params.gpu_sms, sent = 0, got = 0;
  picos first = 0, last = 0;
  for (unsigned i = 0; i < n; i++) {
    if (load) ask(&r, i % sms, REQ_READ, MEM_LOAD, 0, sectors, r.now), sent++;
    if (store) ask_words(&r, i % sms, REQ_WRITE, MEM_STORE, 0, sectors, words, r.now), sent++;
  }
  while (got < sent) {
    rig_window(&r);
    for (unsigned m = 0; m < sms; m++)
      for (struct mem_reply *a; (a = reply_queue_front(&r.in[m])); reply_queue_pop(&r.in[m]), got++) {
        if (!first || a->arrive < first) first = a->arrive;
        if (a->arrive > last) last = a->arrive;
      }
  }
  drain(&r);
  rig_free(&r);
  return last - first;
}

static void assert_about(picos got, picos want)
{
  assert_in_range(got, want * 97 / 100, want * 103 / 100);
}

/* A slice takes one sector per cycle; one that is written in part passes the tags twice. Of four sectors the port of the
 * array is the limit, which reads them while others are written. */
static void parts_take_two_passes(void **state)
{
  enum { N = 400 };
  (void)state;
  picos one = busy_slice(N, false, true, 1, 0xff);
  assert_about(busy_slice(N, false, true, 1, 1), 2 * one);
  assert_about(busy_slice(N, false, true, 0xf, UINT32_MAX), 4 * one);
  assert_about(busy_slice(N, false, true, 0xf, 0x01010101), 4 * one);
}

/* Loads and stores use ports of their own: as many of both as of one kind take no longer. */
static void loads_and_stores_have_ports(void **state)
{
  enum { N = 400 };
  (void)state;
  picos loads = busy_slice(N, true, false, 0xf, 0);
  assert_about(busy_slice(N, true, true, 0xf, UINT32_MAX), loads);
}

/* Atomics on one sector follow each other at l2.atomic_interval; a lone one costs l2.atomic_cycles more
 * than a load. */
static void atomics_have_a_rate(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  r.params.l2_atomic_interval = 10;
  rig_start(&r);
  round_trip(&r, REQ_READ, MEM_LOAD, 0, 1);
  picos hit = round_trip(&r, REQ_READ, MEM_LOAD, 0, 1);
  picos atomic = round_trip(&r, REQ_STRONG, MEM_ATOMIC, 0, 1);
  assert_int_equal(atomic, hit + r.params.l2_atomic_cycles * r.clock);
  while (r.now % 1000000 > r.window) rig_window(&r);
  for (unsigned i = 0; i < 100; i++) ask(&r, i % 46, REQ_STRONG, MEM_ATOMIC, 0, 1, r.now);
  picos begin = r.now, last = 0;
  for (unsigned i = 0; i < 100; i++) rig_window(&r);
  for (unsigned sm = 0; sm < 46; sm++)
    for (struct mem_reply *m; (m = reply_queue_front(&r.in[sm])); reply_queue_pop(&r.in[sm]))
      if (m->arrive > last) last = m->arrive;
  assert_int_equal(last - begin, atomic + 99 * 10 * r.clock);
  assert_int_equal(r.performed, 101);
  check_laws(&r);
  rig_free(&r);
}

/* How long a request holds the unit: the longest of its sectors (and a cycle where there are several), its updates of
 * 64 bits, and those of its most frequent word. By the measured cycles of a line of 32 words (5), of 16 doubles (16), of
 * 32 lanes that add an integer (32) or floating point (96) to one word, of one lane (1). */
static void atomics_hold_their_unit(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3080");
  static const struct { struct mem_req req; unsigned cycles; } row[] = {
      {{.sectors = 0xf, .repeats = 1}, 5},
      {{.sectors = 0x1, .repeats = 1}, 1},
      {{.sectors = 0xa, .repeats = 1}, 3},
      {{.sectors = 0xf, .repeats = 1, .wide = 16, .floats = 1}, 16},
      {{.sectors = 0x1, .repeats = 32}, 32},
      {{.sectors = 0x1, .repeats = 32, .floats = 1}, 96},
      {{.sectors = 0x1, .repeats = 32, .wide = 32, .floats = 1}, 96},
  };
  struct l2_atomics u;
  l2_atomics_init(&u, &r.params);
  picos free_at = 0;
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    assert_int_equal(l2_atomics_take(&u, &row[i].req, 0), free_at);
    free_at += row[i].cycles * params_l2_clock_ps(&r.params);
    assert_int_equal(u.free_at, free_at);
  }
  l2_atomics_free(&u);
  u = (struct l2_atomics){0};
  r.params.ideal_atomics = true;
  l2_atomics_init(&u, &r.params);
  assert_int_equal(l2_atomics_take(&u, &row[0].req, 0), 0);
  assert_int_equal(u.free_at, 0);
  l2_atomics_free(&u);
}

/* --- DRAM channel ------------------------------------------------------------------------------- */

/* Two reads of one bank: of one row they follow by the bank group's rate, of two rows by tRC. */
static void rows_of_a_bank(void **state)
{
  (void)state;
  struct rig r;
  struct dram_answer a, b;
  rig_build(&r, "rtx-3070");
  for (unsigned other = 0; other < 2; other++) {
    static struct dram c;
    const uint32_t *t = r.params.dram_t;
    dram_init(&c, &r.arena, &r.params, 16, 16, 16);
    uint64_t rows = (uint64_t)r.params.dram_row_bytes / LINE_BYTES * r.params.dram_banks;
    uint64_t far = rows * (1 + r.params.dram_banks); /* next row but 16: the same bank again */
    picos at = 300000; /* behind the first refresh of the bank */
    dram_request(&c, DRAM_READ, at, 0, 1, 1, 0);
    dram_request(&c, DRAM_READ, at, other ? far : 2, 2, 1, 0);
    assert_int_equal(c.view[DRAM_READ].banks & (c.view[DRAM_READ].banks - 1), 0);
    while (!dram_step(&c, dram_next(&c), &a)) {
    }
    while (!dram_step(&c, dram_next(&c), &b)) {
    }
    picos first = at + t[DRAM_T_RCD] + t[DRAM_T_CL] + c.slot + c.extra;
    assert_int_equal(a.at, first);
    assert_int_equal(b.at - a.at, other ? t[DRAM_T_RAS] + t[DRAM_T_RP] : t[DRAM_T_CCD_L]);
    assert_int_equal(c.stats.row_hits, !other);
    assert_int_equal(c.stats.row_conflicts, other);
  }
  arena_free(&r.arena);
}

/* Writes wait while there are reads, until dram.write_high of them have gathered. */
static void writes_are_drained_together(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  static struct dram c;
  struct dram_answer a;
  dram_init(&c, &r.arena, &r.params, 1024, 1024, 16);
  uint64_t line = 0;
  for (unsigned i = 0; i + 1 < r.params.dram_write_high; i++) {
    dram_request(&c, DRAM_READ, 0, line++, 0, 0xf, 0);
    dram_request(&c, DRAM_WRITE, 0, line++ + 100000, 0, 0xf, 0);
  }
  while (c.n[DRAM_READ] > 1) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.stats.dram_writes, 0);
  dram_request(&c, DRAM_WRITE, dram_next(&c), line++, 0, 0xf, 0);
  while (c.n[DRAM_READ]) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.n[DRAM_WRITE], r.params.dram_write_low);
  while (dram_busy(&c)) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.stats.dram_writes, r.params.dram_write_high);
  assert_int_equal(c.stats.turnarounds, 3);
  arena_free(&r.arena);
}

/* A bank that slept through many refreshes finds its row closed and waits for the last one at most. */
static void refresh_closes_rows(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "rtx-3070");
  static struct dram c;
  struct dram_answer a;
  const uint32_t *t = r.params.dram_t;
  dram_init(&c, &r.arena, &r.params, 16, 16, 16);
  for (unsigned i = 0; i < 3; i++) {
    picos at = i * 20ull * t[DRAM_T_REFI] + (i == 2 ? t[DRAM_T_REFI] / 16 + 1000 : 50000);
    dram_request(&c, DRAM_READ, at, 0, 0, 1, 0);
    while (!dram_step(&c, dram_next(&c), &a)) {
    }
    picos wait = a.at - at - c.extra - t[DRAM_T_RCD] - t[DRAM_T_CL] - c.slot;
    assert_int_equal(wait, i == 2 ? t[DRAM_T_RFC] - 1000 : 0); /* bank 0: first at refi / 16 */
  }
  assert_int_equal(c.stats.row_misses, 3);
  arena_free(&r.arena);
}

/* What a channel moves beside the data of a stream, by the rule: a burst for each span read, two for each span written. */
static void check_bits_of_streams(void **state)
{
  (void)state;
  enum { LINES = 4096 };
  for (unsigned span = 128; span <= 1024; span *= 2) {
    for (unsigned dir = DRAM_READ; dir < DRAM__N; dir++) {
      struct rig r;
      static struct dram c;
      struct dram_answer a;
      rig_build(&r, "l4");
      r.params.dram_ecc_span = span;
      dram_init(&c, &r.arena, &r.params, 1024, 1024, 16);
      for (unsigned i = 0; i < LINES; i++) {
        dram_request(&c, dir, 0, i, 0, 0xf, 0);
        while (dram_busy(&c) && (dir == DRAM_READ || c.n[DRAM_WRITE] > 8)) dram_step(&c, dram_next(&c), &a);
      }
      while (dram_busy(&c)) dram_step(&c, dram_next(&c), &a);
      const uint64_t data = (uint64_t)LINES * LINE_BYTES, spans = data / span;
      const uint64_t kept = r.params.dram_ecc_entries; /* have not been written back yet */
      const uint64_t check = (dir == DRAM_READ ? spans : 2 * spans - kept) * SECTOR_BYTES;
      assert_int_equal(dir == DRAM_READ ? c.stats.dram_read_bytes : c.stats.dram_write_bytes, data);
      assert_int_equal(c.stats.dram_check_bytes, check);
      assert_int_equal(c.stats.data_bus_busy, (data + check) / SECTOR_BYTES * c.slot);
      arena_free(&r.arena);
    }
  }
}

/* A sector alone moves as many check bits as data; a part of one written changes check bits that were read with it. */
static void check_bits_of_scattered_sectors(void **state)
{
  (void)state;
  struct rig r;
  static struct dram c;
  struct dram_answer a;
  rig_build(&r, "l4");
  dram_init(&c, &r.arena, &r.params, 64, 64, 16);
  const uint64_t apart = (uint64_t)r.params.dram_ecc_span / LINE_BYTES * (r.params.dram_ecc_entries + 1);
  for (unsigned i = 0; i < 16; i++) dram_request(&c, DRAM_READ, 0, i * apart, 0, 1, 0);
  while (dram_busy(&c)) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.stats.dram_check_bytes, 16 * SECTOR_BYTES);
  dram_merge(&c, dram_next(&c) == TIME_NEVER ? 0 : dram_next(&c), 100 * apart, 1, 1);
  while (dram_busy(&c)) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.stats.dram_check_bytes, 17 * SECTOR_BYTES);
  assert_int_equal(c.stats.dram_write_bytes, SECTOR_BYTES);
  arena_free(&r.arena);
}

/* Check bits elsewhere, or none: nothing moves with the data, and programs have all of the memory. */
static void check_bits_elsewhere(void **state)
{
  (void)state;
  static const struct { const char *gpu; unsigned sixteenths; } boards[] = {
      {"rtx-3070", 16}, {"a100", 16}, {"l4", 15}, {"t4", 15}};
  for (unsigned i = 0; i < sizeof boards / sizeof boards[0]; i++) {
    struct rig r;
    rig_build(&r, boards[i].gpu);
    assert_int_equal(params_memory_bytes(&r.params),
                     ((uint64_t)r.params.gpu_memory_mib << 20) / 16 * boards[i].sixteenths);
    struct ecc_cache e;
    ecc_cache_init(&e, &r.arena, &r.params);
    assert_int_equal(ecc_cache_access(&e, 12345, true), boards[i].sixteenths == 15);
    arena_free(&r.arena);
  }
}

/* --- slices ----------------------------------------------------------------------------------- */

/* Remainder of a polynomial division over GF(2), coefficient by coefficient. */
static unsigned remainder_of(uint64_t line, unsigned degree, const unsigned *poly)
{
  unsigned bit[64 + 16] = {0};
  for (unsigned i = 0; i < 64; i++) bit[i + degree] = line >> i & 1; /* line * x^degree */
  for (unsigned i = 64 + degree; i-- > degree;) {
    if (!bit[i]) continue;
    for (unsigned k = 0; k <= degree; k++) bit[i - k] ^= poly[degree - k];
  }
  unsigned r = 0;
  for (unsigned i = 0; i < degree; i++) r |= bit[i] << i;
  return r;
}

static void residue_is_polynomial_division(void **state)
{
  (void)state;
  static const unsigned x5[] = {1, 0, 1, 0, 0, 1}, x7[] = {1, 1, 0, 0, 0, 0, 0, 1};
  uint64_t line = 1;
  for (unsigned i = 0; i < 20000; i++) {
    line = line * 6364136223846793005u + 1442695040888963407u;
    uint64_t at = line >> (i % 40 + 8);
    assert_int_equal(l2_residue(at, 37, 5), remainder_of(at, 5, x5));
    assert_int_equal(l2_residue(at, 131, 7), remainder_of(at, 7, x7));
  }
}

/* Every hash, any number of slices and of lines that stay together: (slice, local) names the line, and back, and runs
 * cover each slice once. */
static void slices_are_a_partition(void **state)
{
  (void)state;
  static const struct { unsigned slices, poly; } shape[] = {
      {32, 37}, {64, 67}, {24, 37}, {44, 67}, {48, 67}, {80, 131}, {96, 131}, {1, 3}, {10, 19}};
  static const uint32_t together[] = {1, 3, 4};
  for (unsigned i = 0; i < 3 * sizeof shape / sizeof *shape; i++) {
    for (unsigned hash = 0; hash < L2_SLICE_HASH__N; hash++) {
      struct params p = {.l2_slices = shape[i / 3].slices, .l2_slice_hash = hash, .l2_slice_poly = shape[i / 3].poly,
                         .l2_slice_lines = together[i % 3]};
      const uint32_t run = p.l2_slice_lines;
      unsigned seen[128] = {0};
      for (uint64_t line = 0; line < 60ull * run * p.l2_slices; line++) {
        struct l2_place at = l2_place(&p, line);
        assert_true(at.slice < p.l2_slices);
        assert_int_equal(at.local, line / run / p.l2_slices * run + line % run);
        assert_int_equal(seen[at.slice], at.local); /* one piece of each run, in order */
        assert_int_equal(l2_line_at(&p, at), line);
        assert_int_equal(l2_place(&p, line - line % run).slice, at.slice); /* neighbours stay together */
        seen[at.slice]++;
      }
    }
  }
}

/* Rau: with a power of two of slices, as many lines as slices at any power-of-two stride miss none of them. */
static void ipoly_strides_have_no_conflicts(void **state)
{
  (void)state;
  static const struct { unsigned slices, poly; } shape[] = {{16, 19}, {32, 37}, {64, 67}};
  for (unsigned i = 0; i < sizeof shape / sizeof *shape; i++) {
    struct params p = {.l2_slices = shape[i].slices, .l2_slice_hash = L2_SLICE_HASH_IPOLY,
                       .l2_slice_poly = shape[i].poly, .l2_slice_lines = 1};
    for (unsigned shift = 0; shift < 20; shift++) {
      for (uint64_t block = 0; block < 8; block++) {
        uint64_t hit = 0;
        for (uint64_t k = 0; k < p.l2_slices; k++)
          hit |= (uint64_t)1 << l2_place(&p, (block * p.l2_slices + k) << shift).slice;
        assert_int_equal(hit, p.l2_slices == 64 ? UINT64_MAX : ((uint64_t)1 << p.l2_slices) - 1);
      }
    }
  }
}

/* Stores of a window reach the image in (cycle, SM, sequence) order, whoever wrote them first on the host. */
static void stores_reach_the_image_in_order(void **state)
{
  (void)state;
  enum { WORDS = 4 };
  struct rig r;
  struct commit c;
  struct gmem_log log[2], none;
  rig_build(&r, "rtx-3070");
  rig_start(&r);
  struct gmem *image = gmem_new(r.params.vm_page_bits);
  uint64_t at = gmem_alloc(image, 4 * WORDS, "x");
  commit_init(&c, &r.arena, &r.params, &r.xbar, mock_perform_at, &r);
  commit_start(&c, image);
  gmem_log_init(&none);
  for (unsigned i = 0; i < c.n_sms; i++) c.log[i] = &none;
  for (unsigned sm = 0; sm < 2; sm++) {
    gmem_log_init(&log[sm]);
    c.log[sm] = &log[sm];
  }
  struct store {
    unsigned sm;
    uint64_t cycle;
    unsigned word;
    uint32_t value;
  } store[] = {
      {1, 5, 0, 15}, {0, 7, 0, 7},             /* the later cycle stays, whatever the SM */
      {0, 7, 1, 70}, {1, 7, 1, 71},            /* in one cycle the higher SM is later */
      {1, 9, 2, 90}, {1, 9, 2, 91}, {0, 8, 2, 80}, /* in one cycle and SM the younger one */
  };
  unsigned n = sizeof store / sizeof *store;
  for (unsigned sm = 2; sm-- > 0;) /* each SM on its own, one after the other */
    for (unsigned i = 0; i < n; i++) {
      struct gmem_view v = {.image = image, .log = &log[sm], .now = store[i].cycle};
      if (store[i].sm == sm) assert_true(gmem_view_write(&v, at + 4 * store[i].word, &store[i].value, 4));
    }
  uint32_t words[WORDS];
  assert_true(gmem_read(image, at, words, sizeof words));
  assert_int_equal(words[0], 0); /* nothing before the end of the window */
  commit_run(&c, 0, r.window);
  assert_true(gmem_read(image, at, words, sizeof words));
  assert_int_equal(words[0], 7);
  assert_int_equal(words[1], 71);
  assert_int_equal(words[2], 91);
  assert_int_equal(log[0].n + log[1].n, 0);
  for (unsigned sm = 0; sm < 2; sm++) gmem_log_free(&log[sm]);
  gmem_log_free(&none);
  gmem_free(image);
  rig_free(&r);
}

/* Time between the first and the last answer to `n` requests for one line that is on its way from DRAM: all can be answered
 * when it is there. *bytes came into the SM. */
static picos answers_take(enum req_kind kind, enum mem_op op, unsigned n, uint64_t *bytes)
{
  struct rig r;
  struct noc_stats before, after;
  rig_build(&r, "rtx-3070");
  rig_start(&r);
  assert_true(n <= r.params.l2_mshr_merges);
  xbar_sum(&r.xbar, &before);
  for (unsigned i = 0; i < n; i++) ask(&r, 0, kind, op, line_of(&r.params, 0), 0xf, r.now);
  picos first = 0, last = 0;
  for (unsigned got = 0; got < n; rig_window(&r))
    for (struct mem_reply *m; (m = reply_queue_front(&r.in[0])); reply_queue_pop(&r.in[0])) {
      assert_int_equal(m->kind, kind);
      if (got++ == 0) first = m->arrive;
      last = m->arrive;
    }
  xbar_sum(&r.xbar, &after);
  *bytes = after.noc_reply_bytes - before.noc_reply_bytes;
  drain(&r);
  check_laws(&r);
  rig_free(&r);
  return last - first;
}

/* A prefetch of the PTX ISA brings a line into the cache named, here L2, and no data to the SM: its answer is a message
 * without data, a flit, which the slice's port sends in the time of one. Answers to reads take the time of a line. */
static void prefetches_bring_no_data(void **state)
{
  (void)state;
  enum { N = 4 };
  struct rig r;
  rig_build(&r, "rtx-3070");
  picos sector = SECTOR_BYTES * params_l2_clock_ps(&r.params) / r.params.noc_slice_reply_bytes;
  uint64_t data, none, code;
  picos reads = answers_take(REQ_READ, MEM_LOAD, N, &data);
  picos prefetches = answers_take(REQ_READ, MEM_PREFETCH, N, &none);
  picos lines = answers_take(REQ_PREFETCH, MEM_PREFETCH, N, &code);
  assert_int_equal(data, N * LINE_BYTES);
  assert_int_equal(none, N * SECTOR_BYTES);
  assert_int_equal(code, N * SECTOR_BYTES);
  assert_in_range(reads, (N - 1) * (SECTORS_PER_LINE * sector - 1), (N - 1) * SECTORS_PER_LINE * sector); /* rounded down */
  assert_in_range(prefetches, (N - 1) * (sector - 1), (N - 1) * sector);
  assert_in_range(lines, (N - 1) * (sector - 1), (N - 1) * sector);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unloaded_latency),
      cmocka_unit_test(clock_domains),
      cmocka_unit_test(residue_is_polynomial_division),
      cmocka_unit_test(slices_are_a_partition),
      cmocka_unit_test(ipoly_strides_have_no_conflicts),
      cmocka_unit_test(far_lines_are_copied),
      cmocka_unit_test(partitions_do_not_wait_in_a_circle),
      cmocka_unit_test(l2_peak_bandwidth),
      cmocka_unit_test(dram_stream_bandwidth),
      cmocka_unit_test(channels_of_a_slice), cmocka_unit_test(random_rows_are_slow),
      cmocka_unit_test(strides_spread),
      cmocka_unit_test(full_slice_blocks_the_port),
      cmocka_unit_test(room_for_one_message),
      cmocka_unit_test(misses_merge),
      cmocka_unit_test(companions_come_along),
      cmocka_unit_test(parts_take_two_passes),
      cmocka_unit_test(loads_and_stores_have_ports),
      cmocka_unit_test(atomics_have_a_rate),
      cmocka_unit_test(atomics_hold_their_unit),
      cmocka_unit_test(rows_of_a_bank),
      cmocka_unit_test(writes_are_drained_together),
      cmocka_unit_test(refresh_closes_rows),
      cmocka_unit_test(check_bits_of_streams),
      cmocka_unit_test(check_bits_of_scattered_sectors),
      cmocka_unit_test(check_bits_elsewhere),
      cmocka_unit_test(stores_reach_the_image_in_order),
      cmocka_unit_test(prefetches_bring_no_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
