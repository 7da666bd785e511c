/* Boxes of the memory path, one at a time: coalescer, shared-memory banks, L1, L2, bandwidth
 * server, occupancy. Expected values by hand from the rules named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/place.h"
#include "config/presets.h"
#include "time/gpu/occupancy.h"
#include "time/mem/l1.h"
#include "time/server.h"
#include "time/sm/coalescer.h"
#include "time/sm/smem.h"
#include "time/sm/strong.h"
#include "time/sm/tlb.h"

static struct params preset(const char *name)
{
  struct params p;
  struct err e = {0};
  char dir[4096];
  assert_true(presets_dir(NULL, dir, sizeof dir, &e));
  if (!params_load(name, dir, &p, &e)) fail_msg("%s", e.msg);
  return p;
}

/* --- coalescer -------------------------------------------------------------------------------- */

static struct txn access_of(uint64_t base, uint64_t stride, unsigned bytes, uint64_t lanes)
{
  static struct txn_access access;
  static struct txn_lines buffer;
  struct txn t = {.access = &access, .line = buffer.line};
  memset(&access, 0, sizeof access);
  t.access->mem.bytes = (uint8_t)bytes;
  t.access->mem.lanes = lanes;
  for (unsigned i = 0; i < 32; i++) t.access->mem.addr[i] = base + i * stride;
  return t;
}

static unsigned sectors_of(const struct txn *t)
{
  unsigned n = 0;
  for (unsigned i = 0; i < t->n_lines; i++) n += count_sectors(t->line[i].sectors);
  return n;
}

static void coalescer(void **state)
{
  (void)state;
  static const struct {
    uint64_t base, stride;
    unsigned bytes;
    uint64_t lanes;
    unsigned lines, sectors;
  } row[] = {
      {0x1000, 4, 4, 0xffffffff, 1, 4},     /* 32 x 4 bytes: one line */
      {0x1020, 4, 4, 0xffffffff, 2, 4},     /* shifted by a sector: two lines, still 4 sectors */
      {0x1010, 4, 4, 0xffffffff, 2, 5},     /* shifted by half a sector */
      {0x1000, 8, 8, 0xffffffff, 2, 8},     /* 64-bit */
      {0x1000, 16, 16, 0xffffffff, 4, 16},  /* 128-bit */
      {0x1000, 0, 4, 0xffffffff, 1, 1},     /* the same word */
      {0x1000, 128, 4, 0xffffffff, 32, 32}, /* a line each */
      {0x1000, 32, 4, 0xffffffff, 8, 32},   /* a sector each */
      {0x1000, 4, 4, 0x0000ff00, 1, 1},     /* eight lanes in one sector */
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct txn t = access_of(row[i].base, row[i].stride, row[i].bytes, row[i].lanes);
    coalesce_global(&t, 32);
    assert_int_equal(sectors_of(&t), row[i].sectors);
    assert_int_equal(t.n_lines, row[i].lines);
  }
}

/* Is every byte of the word written by a lane? */
static bool word_written(const struct txn *t, uint64_t word)
{
  for (uint64_t byte = word; byte < word + WORD_BYTES; byte++) {
    bool written = false;
    for (unsigned i = 0; i < 32; i++)
      written |= (t->access->mem.lanes >> i & 1) && byte >= t->access->mem.addr[i] && byte < t->access->mem.addr[i] + t->access->mem.bytes;
    if (!written) return false;
  }
  return true;
}

/* Which words of its lines a store writes whole, against a search byte by byte. */
static void coalescer_words(void **state)
{
  (void)state;
  static const struct {
    uint64_t base, stride;
    unsigned bytes;
    uint64_t lanes;
  } row[] = {
      {0x1000, 4, 4, 0xffffffff}, {0x1008, 4, 4, 0xffffffff}, {0x1000, 128, 4, 0xffffffff},
      {0x1000, 8, 8, 0xffffffff}, {0x1010, 16, 16, 0x00ff00ff}, {0x1000, 1, 1, 0xffffffff},
      {0x1003, 1, 1, 0xffffffff}, {0x1000, 1, 1, 0xfffff0ff}, {0x1000, 2, 1, 0xffffffff},
      {0x107e, 2, 2, 0xffffffff}, {0x1000, 6, 2, 0xffffffff}, {0x1000, 2, 2, 0x33333333},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct txn t = access_of(row[i].base, row[i].stride, row[i].bytes, row[i].lanes);
    t.access->mem.op = MEM_STORE;
    coalesce_global(&t, 32);
    for (unsigned k = 0; k < t.n_lines; k++)
      for (unsigned w = 0; w < LINE_BYTES / WORD_BYTES; w++)
        assert_int_equal(t.line[k].words >> w & 1,
                         word_written(&t, t.line[k].line * LINE_BYTES + w * WORD_BYTES));
  }
}

static void coalescer_local(void **state)
{
  (void)state; /* the same local address of all threads is one line; 64-bit takes two */
  struct txn t = access_of(64, 0, 4, 0xffffffff);
  coalesce_local(&t, 1000, 32);
  assert_int_equal(sectors_of(&t), 4);
  assert_int_equal(t.n_lines, 1);
  assert_int_equal(t.line[0].line, 1000 + 16);
  t = access_of(64, 0, 8, 0xffffffff);
  coalesce_local(&t, 0, 32);
  assert_int_equal(sectors_of(&t), 8);
  assert_int_equal(t.n_lines, 2);
}

/* Four banks, a line each per cycle (RRZE-HPC/gpu-benches, A100, gpu-strides: 8.0 wavefronts for 32 lines
 * at strides of 1 and 2 lines, 2 for 5 lines in a row); with one bank a cycle for each line. */
static void tag_banks(void **state)
{
  (void)state;
  struct params p = preset("a100");
  struct param_list one = {.n = 1, .v = {0}};
  for (unsigned stride = 128; stride <= 256; stride *= 2) {
    struct txn t = access_of(0, stride, 4, 0xffffffff);
    coalesce_global(&t, 32);
    assert_int_equal(coalescer_tag_passes(&t, &p.l1_tag_bank_masks), 8);
    assert_int_equal(coalescer_tag_passes(&t, &one), 32);
  }
  struct txn t = access_of(0, 16, 4, 0xffffffff);
  coalesce_global(&t, 32);
  assert_int_equal(coalescer_tag_passes(&t, &p.l1_tag_bank_masks), 1);
  t = access_of(16, 16, 4, 0xffffffff);
  coalesce_global(&t, 32);
  assert_int_equal(coalescer_tag_passes(&t, &p.l1_tag_bank_masks), 2);
  t = access_of(0x1000, 0, 4, 0);
  coalesce_global(&t, 32);
  assert_int_equal(coalescer_tag_passes(&t, &p.l1_tag_bank_masks), 1);
}

/* Updates of 64 bits by a warp's atomics in each line, most of one word. */
static void atomic_words(void **state)
{
  (void)state;
  static const struct {
    unsigned stride, bytes, lines, wide, repeats;
  } row[] = {
      {4, 4, 1, 0, 1}, {0, 4, 1, 0, 32}, {8, 8, 2, 16, 1},   {0, 8, 1, 32, 32},
      {8, 4, 2, 0, 1}, {2, 2, 1, 0, 2},  {16, 16, 4, 16, 1},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct txn t = access_of(0x1000, row[i].stride, row[i].bytes, 0xffffffff);
    coalesce_global(&t, 32);
    coalesce_atomics(&t);
    assert_int_equal(t.n_lines, row[i].lines);
    for (unsigned k = 0; k < t.n_lines; k++) {
      assert_int_equal(t.line[k].wide, row[i].wide);
      assert_int_equal(t.line[k].repeats, row[i].repeats);
    }
  }
}

/* --- TLB -------------------------------------------------------------------------------------- */

/* 16 pages fit the first level; the 17th and, in turn, all others miss it and find the second; a page is
 * walked for once. */
static void tlb_levels(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct tlb t;
  struct sm_stats s = {0};
  uint64_t page = (uint64_t)1 << (p.vm_page_bits - 7);
  tlb_init(&t, &a, &p);
  assert_int_equal(tlb_translate(&t, 5 * page, 100, &s), 100 + p.tlb_walk_cycles + p.tlb_l1_miss_cycles);
  /* behind the walk for the same page */
  assert_int_equal(tlb_translate(&t, 5 * page + 9, 110, &s), 100 + p.tlb_walk_cycles + p.tlb_l1_miss_cycles);
  for (uint64_t i = 0; i < p.tlb_l1_entries; i++) tlb_translate(&t, i * page, 1000, &s);
  assert_int_equal(s.tlb_walks, p.tlb_l1_entries);
  for (uint64_t i = 0; i < p.tlb_l1_entries; i++)
    assert_int_equal(tlb_translate(&t, i * page, 2000, &s), 2000);
  for (unsigned round = 0; round < 3; round++)
    for (uint64_t i = 0; i <= p.tlb_l1_entries; i++) tlb_translate(&t, i * page, 3000 + 1000 * round, &s);
  assert_int_equal(tlb_translate(&t, 0, 9000, &s), 9000 + p.tlb_l1_miss_cycles);
  assert_int_equal(s.tlb_walks, p.tlb_l1_entries + 1);
  arena_free(&a);
}

/* --- shared memory ---------------------------------------------------------------------------- */

static unsigned passes(uint64_t stride, unsigned bytes, enum mem_op op)
{
  struct txn t = access_of(0, stride, bytes, 0xffffffff);
  t.access->mem.op = (uint8_t)op;
  return smem_time(&t.access->mem, false, 32, 1).passes;
}

static void shared_banks(void **state)
{
  (void)state; /* 32 banks of 4 bytes: stride s words costs gcd(s, 32) passes */
  static const unsigned stride_words[] = {1, 2, 3, 4, 8, 16, 32, 33, 17, 64};
  static const unsigned want[] = {1, 2, 1, 4, 8, 16, 32, 1, 1, 32};
  for (unsigned i = 0; i < 10; i++)
    assert_int_equal(passes(stride_words[i] * 4, 4, MEM_LOAD), want[i]);
  assert_int_equal(passes(0, 4, MEM_LOAD), 1);     /* one word: broadcast */
  assert_int_equal(passes(0, 4, MEM_ATOMIC), 32);  /* atomics on one word serialise */
  assert_int_equal(passes(8, 8, MEM_LOAD), 2);     /* 64-bit: per half warp */
  assert_int_equal(passes(16, 16, MEM_LOAD), 4);   /* 128-bit: per quarter warp */
  assert_int_equal(passes(16, 8, MEM_LOAD), 4);    /* 64-bit with a gap: two-way conflict */
  assert_int_equal(passes(16, 16, MEM_LDSM), 4);   /* x4: a pass per matrix of contiguous rows */
  assert_int_equal(passes(128, 16, MEM_LDSM), 32); /* rows 128 bytes apart: all in the same banks */
  assert_int_equal(passes(144, 16, MEM_LDSM), 4);  /* padded by 16 bytes: free of conflicts */
}

/* --- L1 --------------------------------------------------------------------------------------- */

/* Transactions that were told of their last sectors, and what they got of the lines that are elsewhere. */
struct seen {
  unsigned n, parts;
  uint32_t txn[8];
  unsigned sectors[8];
  uint8_t byte[8];
};

static void note(void *ctx, uint32_t txn)
{
  struct seen *s = ctx;
  s->txn[s->n++] = txn;
}

static void note_bytes(void *ctx, uint32_t txn, unsigned sectors, const uint8_t *bytes, bool whole)
{
  struct seen *s = ctx;
  s->parts++;
  if (!whole) return;
  s->sectors[s->n] = sectors;
  s->byte[s->n] = bytes[SECTOR_BYTES * bits_first(sectors)];
  note(ctx, txn);
}

/* Words stored are known without a fetch, until the line is replaced. */
static void l1_keeps_stores(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct l1 c = {0};
  struct seen s = {0};
  l1_init(&c, &a, &p);
  c.mixed = false;
  l1_start(&c, (uint64_t)p.l1_sets * LINE_BYTES); /* one way */
  l1_store(&c, 7, 0x00ff3f00);
  assert_int_equal(l1_load(&c, 7, 0x6, 0x00ff3f00, 1).hit, 0x6);
  struct l1_access r = l1_load(&c, 7, 0x7, 0x00ff7f01, 1); /* one word more of sector 1, and sector 0 */
  assert_int_equal(r.hit, 0x4);
  assert_int_equal(r.missed, 0x3);
  l1_fill(&c, 7, 0x3, note, &s);
  assert_int_equal(l1_load(&c, 7, 0x7, UINT32_MAX, 2).hit, 0x7);
  l1_store(&c, 7 + p.l1_sets, 0xff); /* takes its place */
  r = l1_load(&c, 7, 0x4, 0x00ff0000, 3);
  assert_int_equal(r.missed, 0x4);
  l1_fill(&c, 7, 0x4, note, &s);
  assert_int_equal(l1_load(&c, 7, 0x2, 0x00000100, 4).missed, 0x2); /* nor are the words of sector 1 known again */
  l1_fill(&c, 7, 0x2, note, &s);
  arena_free(&a);
}

static void l1_miss_merge_hit(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct l1 c = {0};
  l1_init(&c, &a, &p);
  l1_start(&c, 65536);
  struct l1_access r = l1_load(&c, 7, 0x3, UINT32_MAX, 1);
  assert_int_equal(r.missed, 0x3);
  r = l1_load(&c, 7, 0x6, UINT32_MAX, 2); /* sector 1 is on its way, sector 2 is not */
  assert_int_equal(r.hit, 0);
  assert_int_equal(r.merged, 0x2);
  assert_int_equal(r.missed, 0x4);
  struct seen s = {0};
  l1_fill(&c, 7, 0x3, note, &s);
  assert_int_equal(s.n, 1);
  assert_int_equal(s.txn[0], 1);
  l1_fill(&c, 7, 0x4, note, &s);
  assert_int_equal(s.n, 2);
  assert_int_equal(s.txn[1], 2);
  r = l1_load(&c, 7, 0xf, UINT32_MAX, 3);
  assert_int_equal(r.hit, 0x7);
  assert_int_equal(r.missed, 0x8);
  l1_fill(&c, 7, 0x8, note, &s);
  assert_int_equal(c.n_free_miss, c.n_miss);
  assert_int_equal(c.n_free_waiter, c.n_waiters);
  arena_free(&a);
}

/* A line all of whose bytes are `byte` comes from another node for a miss. */
static void come(struct l1 *c, uint64_t line, unsigned sectors, uint8_t byte, unsigned miss, struct seen *s)
{
  uint8_t bytes[LINE_BYTES];
  memset(bytes, byte, sizeof bytes);
  l1_land(c, miss, sectors, bytes);
  l1_fill_elsewhere(c, line | LINE_ELSEWHERE, sectors, note_bytes, s);
}

static struct l1_access load_far(struct l1 *c, uint64_t line, unsigned sectors, uint32_t txn)
{
  return l1_load(c, line | LINE_ELSEWHERE, sectors, UINT32_MAX, txn);
}

/* Lines that are elsewhere are found again with the bytes that came, until they are forgotten; what was on its way then is
 * for those who wait for it. */
static void l1_keeps_what_is_elsewhere(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct l1 c = {0};
  struct seen s = {0};
  l1_init(&c, &a, &p);
  l1_start(&c, 65536);
  struct l1_access r = load_far(&c, 7, 0x3, 1);
  assert_int_equal(r.missed, 0x3);
  const struct l1_access other = load_far(&c, 7, 0x6, 2);
  assert_int_equal(other.merged, 0x2);
  assert_int_equal(other.missed, 0x4);
  come(&c, 7, 0x3, 10, r.miss, &s);
  assert_int_equal(s.n, 1);
  assert_int_equal(s.parts, 2);
  assert_int_equal(s.byte[0], 10);
  come(&c, 7, 0x4, 11, other.miss, &s);
  assert_int_equal(s.txn[1], 2);
  assert_int_equal(s.sectors[1], 0x4);
  assert_int_equal(s.byte[1], 11);
  assert_int_equal(load_far(&c, 7, 0x7, 3).hit, 0x7);
  const uint8_t *bytes = l1_bytes(&c, 7 | LINE_ELSEWHERE);
  assert_int_equal(bytes[2 * SECTOR_BYTES - 1], 10);
  assert_int_equal(bytes[2 * SECTOR_BYTES], 11);

  l1_forget(&c, 7); /* this SM writes there */
  r = load_far(&c, 7, 0x1, 4);
  assert_int_equal(r.missed, 0x1);
  l1_forget(&c, 7);
  assert_int_equal(load_far(&c, 7, 0x1, 5).passed, 0x1);
  come(&c, 7, 0x1, 12, r.miss, &s);
  assert_int_equal(s.txn[2], 4);
  assert_int_equal(s.byte[2], 12);
  r = load_far(&c, 7, 0x1, 6);
  assert_int_equal(r.missed, 0x1);
  come(&c, 7, 0x1, 13, r.miss, &s);
  assert_int_equal(load_far(&c, 7, 0x1, 7).hit, 0x1);
  assert_int_equal(c.n_free_miss, c.n_miss);
  arena_free(&a);
}

/* CCTL.IVALL takes global lines, here and elsewhere, and leaves local ones; lines elsewhere that are on their way are old. */
static void l1_acquires(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct l1 c = {0};
  struct seen s = {0};
  l1_init(&c, &a, &p);
  l1_start(&c, 65536);
  l1_store(&c, 3 | LINE_LOCAL, UINT32_MAX);
  l1_store(&c, 4, UINT32_MAX);
  struct l1_access there = load_far(&c, 5, 0x1, 1), on_its_way = load_far(&c, 6, 0x1, 2);
  come(&c, 5, 0x1, 1, there.miss, &s);
  assert_int_equal(load_far(&c, 5, 0x1, 3).hit, 0x1);
  l1_acquire(&c);
  assert_int_equal(l1_load(&c, 3 | LINE_LOCAL, 0xf, UINT32_MAX, 3).hit, 0xf);
  assert_int_equal(l1_load(&c, 4, 0xf, UINT32_MAX, 3).missed, 0xf);
  there = load_far(&c, 5, 0x1, 3);
  assert_int_equal(there.missed, 0x1);
  assert_int_equal(load_far(&c, 6, 0x1, 4).passed, 0x1);
  come(&c, 6, 0x1, 2, on_its_way.miss, &s);
  assert_int_equal(load_far(&c, 6, 0x1, 5).missed, 0x1);
  l1_invalidate(&c); /* so does a kernel that begins */
  assert_int_equal(load_far(&c, 5, 0x1, 6).passed, 0x1);
  arena_free(&a);
}

/* Of a set that fences have emptied in part, free ways are taken before local lines go. */
static void l1_fills_what_was_dropped(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct l1 c = {0};
  p.l1_set_hash = L1_SET_HASH_LINEAR;
  l1_init(&c, &a, &p);
  l1_start(&c, (uint64_t)4 * p.l1_sets * LINE_BYTES); /* four ways */
  const uint64_t set = p.l1_sets;
  l1_store(&c, 0 | LINE_LOCAL, UINT32_MAX);
  l1_store(&c, 1 * set, UINT32_MAX);
  l1_store(&c, (2 * set) | LINE_LOCAL, UINT32_MAX);
  l1_store(&c, 3 * set, UINT32_MAX);
  l1_acquire(&c);
  l1_store(&c, 4 * set, UINT32_MAX);
  l1_store(&c, 5 * set, UINT32_MAX);
  assert_int_equal(l1_load(&c, (2 * set) | LINE_LOCAL, 1, UINT32_MAX, 0).hit, 1);
  assert_int_equal(l1_load(&c, 4 * set, 1, UINT32_MAX, 0).hit, 1);
  assert_int_equal(l1_load(&c, 5 * set, 1, UINT32_MAX, 0).hit, 1);
  assert_int_equal(l1_load(&c, 0 | LINE_LOCAL, 1, UINT32_MAX, 0).hit, 1);
  l1_store(&c, 6 * set, UINT32_MAX); /* the oldest goes now */
  assert_int_equal(l1_load(&c, (2 * set) | LINE_LOCAL, 1, UINT32_MAX, 0).missed, 1);
  arena_free(&a);
}

static void l1_evicts_least_recently_used(void **state)
{
  (void)state;
  struct params p = preset("rtx-3070");
  struct arena a = {0};
  struct l1 c = {0};
  p.l1_set_hash = L1_SET_HASH_LINEAR;
  l1_init(&c, &a, &p);
  l1_start(&c, (uint64_t)2 * p.l1_sets * LINE_BYTES); /* two ways */
  struct seen s = {0};
  uint64_t set = p.l1_sets;
  for (uint64_t i = 0; i < 3; i++) {
    if (i == 2) assert_int_equal(l1_load(&c, 0, 1, UINT32_MAX, 0).hit, 1); /* line 0 used again */
    assert_int_equal(l1_load(&c, i * set, 1, UINT32_MAX, 0).missed, 1);
    l1_fill(&c, i * set, 1, note, &s);
  }
  assert_int_equal(l1_load(&c, 0, 1, UINT32_MAX, 0).hit, 1);
  assert_int_equal(l1_load(&c, 2 * set, 1, UINT32_MAX, 0).hit, 1);
  assert_int_equal(l1_load(&c, set, 1, UINT32_MAX, 0).missed, 1); /* the victim */
  arena_free(&a);
}

/* --- bandwidth -------------------------------------------------------------------------------- */

static void server_caps_bandwidth(void **state)
{
  (void)state; /* 448 GB/s: 32 bytes every 71.43 ps */
  struct server s = {.femtos_per_byte = 2232};
  for (unsigned i = 0; i < 1000; i++) server_take(&s, 0, 32);
  assert_in_range(server_take(&s, 0, 32), 71424, 71429);
  assert_int_equal(server_take(&s, 1000000, 32), 1000000); /* idle: at once */
}

/* --- occupancy -------------------------------------------------------------------------------- */

static void occupancy_limits(void **state)
{
  (void)
      state; /* CUDA occupancy calculator, compute capability 8.6: 48 warps, 16 CTAs, 64 K registers,
                  100 KB shared memory of which 1 KB per CTA is reserved */
  struct params p = preset("rtx-3070");
  static const struct {
    unsigned warps, regs, shared, ctas;
    const char *limiter;
  } row[] = {
      {1, 16, 0, 16, "CTA slots"},
      {8, 32, 0, 6, "warps"},
      {8, 64, 0, 4, "registers"},
      {8, 255, 0, 1, "registers"},
      {4, 32, 33 * 1024, 2, "shared memory"},
      {4, 32, 24 * 1024, 4, "shared memory"},
      {32, 64, 0, 1, "warps"},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct step_source s = {.n_ctas = 100000,
                            .warps_per_cta = row[i].warps,
                            .lanes = 32,
                            .regs_per_thread = row[i].regs,
                            .shared_bytes = row[i].shared};
    struct occupancy o;
    struct err e = {0};
    if (!occupancy_of(&p, &s, &o, &e)) fail_msg("%s", e.msg);
    assert_int_equal(o.ctas, row[i].ctas);
    assert_string_equal(o.limiter, row[i].limiter);
  }
  struct step_source big = {.n_ctas = 1, .warps_per_cta = 32, .lanes = 32, .regs_per_thread = 128};
  struct occupancy o;
  struct err e = {0};
  assert_false(occupancy_of(&p, &big, &o, &e));
  assert_non_null(strstr(e.msg, "registers"));
}

/* Warps whose registers fit, as the CUDA occupancy calculator has it: registers of a warp are rounded up to 256, each of
 * the four sub-cores holds floor(16,384 / registers of a warp) of them. With 96 registers 20 warps, although 21 would fit
 * into 65,536. */
static void registers_of_sub_cores(void **state)
{
  (void)state;
  static const struct {
    unsigned regs, warps; /* per thread; that fit */
  } row[] = {{40, 48}, {41, 40}, {48, 40}, {49, 36}, {56, 36}, {64, 32}, {65, 28}, {72, 28}, {80, 24}, {81, 20}, {88, 20},
             {96, 20}, {97, 16}, {128, 16}, {129, 12}, {168, 12}, {169, 8}, {255, 8}};
  const struct params p = preset("rtx-3070");
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
    for (unsigned warps = 3; warps <= 8; warps++) { /* fewer: CTA slots limit */
      struct step_source s = {.n_ctas = 100000, .warps_per_cta = warps, .lanes = 32, .regs_per_thread = row[i].regs};
      struct occupancy o;
      struct err e = {0};
      if (!occupancy_of(&p, &s, &o, &e)) fail_msg("%s", e.msg);
      assert_int_equal(o.ctas, row[i].warps / warps);
    }
}

/* --- order of accesses to one line ------------------------------------------------------------- */

static struct txn of_line(struct txn_line *l, uint64_t line, enum txn_kind kind, enum mem_op op)
{
  *l = (struct txn_line){.line = line};
  return (struct txn){.kind = (uint8_t)kind, .op = (uint8_t)op, .line = l, .n_lines = 1};
}

/* Stores queue behind loads of memory elsewhere, loads do not; both behind strong accesses, and only to the line. */
static void who_queues_behind_whom(void **state)
{
  (void)state;
  static struct strong_lines s;
  struct txn_line l[4];
  const struct txn elsewhere = of_line(&l[0], 7, TXN_ELSEWHERE, MEM_LOAD), load = of_line(&l[1], 7, TXN_GLOBAL, MEM_LOAD),
                   store = of_line(&l[2], 7, TXN_GLOBAL, MEM_STORE), other = of_line(&l[3], 8, TXN_GLOBAL, MEM_STORE);
  struct txn strong = store;
  strong.kind = TXN_STRONG;
  assert_false(strong_pending(&s, &store));
  strong_note(&s, &elsewhere, 1);
  assert_true(strong_pending(&s, &store) && !strong_pending(&s, &load) && !strong_pending(&s, &other));
  strong_note(&s, &strong, 1);
  strong_note(&s, &elsewhere, -1);
  assert_true(strong_pending(&s, &store) && strong_pending(&s, &load) && !strong_pending(&s, &other));
  strong_note(&s, &strong, -1);
  assert_false(strong_pending(&s, &store));
}

/* A strong load waits for the atomics of its lines that were sent before it, and for none of those behind it. */
static void strong_loads_behind_atomics(void **state)
{
  (void)state;
  static struct strong_lines s;
  struct txn_line l[4];
  const struct txn atomic = of_line(&l[0], 7, TXN_STRONG, MEM_ATOMIC), load = of_line(&l[1], 7, TXN_STRONG, MEM_LOAD),
                   other = of_line(&l[2], 8, TXN_STRONG, MEM_LOAD), store = of_line(&l[3], 7, TXN_STRONG, MEM_STORE);
  struct strong_wait first = {0}, second = {0}, none = {0};
  s.atomics_sent = s.atomics_answered = UINT32_MAX; /* they wrap */
  assert_false(strong_load_waits(&s, &load, &none) || none.looked);
  strong_atomic_sent(&s, &store); /* is none */
  assert_false(strong_load_waits(&s, &load, &none));
  strong_atomic_sent(&s, &atomic);
  assert_true(strong_load_waits(&s, &load, &first));
  assert_false(strong_load_waits(&s, &other, &none) || strong_load_waits(&s, &store, &none));
  strong_atomic_sent(&s, &atomic);
  assert_true(strong_load_waits(&s, &load, &second));
  strong_atomic_answered(&s, &atomic);
  assert_false(strong_load_waits(&s, &load, &first)); /* though the line's second one is on its way */
  assert_true(strong_load_waits(&s, &load, &second));
  strong_atomic_answered(&s, &atomic);
  assert_false(strong_load_waits(&s, &load, &second));
}

/* Once some have gone another way it is not sure where all go, until none is left. */
static void ways_of_a_line(void **state)
{
  (void)state;
  static struct strong_lines s;
  struct txn_line l;
  const struct txn t = of_line(&l, 7, TXN_STRONG, MEM_STORE);
  strong_note(&s, &t, 1);
  strong_note(&s, &t, 1);
  assert_true(strong_same_way(&s, 7, PLACE_OWN) && strong_same_way(&s, 7, PLACE_FAULTS));
  strong_sent(&s, 7, PLACE_FAULTS);
  assert_true(strong_same_way(&s, 7, PLACE_FAULTS) && !strong_same_way(&s, 7, PLACE_OWN) && strong_same_way(&s, 8, PLACE_OWN));
  strong_sent(&s, 7, PLACE_OWN);
  assert_false(strong_same_way(&s, 7, PLACE_FAULTS) || strong_same_way(&s, 7, PLACE_OWN));
  strong_note(&s, &t, -1);
  assert_false(strong_same_way(&s, 7, PLACE_OWN));
  strong_note(&s, &t, -1);
  assert_true(strong_same_way(&s, 7, PLACE_OWN));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coalescer),
      cmocka_unit_test(coalescer_local),
      cmocka_unit_test(coalescer_words),
      cmocka_unit_test(atomic_words),
      cmocka_unit_test(tag_banks),
      cmocka_unit_test(tlb_levels),
      cmocka_unit_test(shared_banks),
      cmocka_unit_test(l1_miss_merge_hit), cmocka_unit_test(l1_keeps_what_is_elsewhere), cmocka_unit_test(l1_acquires),
      cmocka_unit_test(l1_fills_what_was_dropped), cmocka_unit_test(l1_keeps_stores),
      cmocka_unit_test(l1_evicts_least_recently_used),
      cmocka_unit_test(server_caps_bandwidth),
      cmocka_unit_test(occupancy_limits),
      cmocka_unit_test(registers_of_sub_cores),
      cmocka_unit_test(who_queues_behind_whom),
      cmocka_unit_test(strong_loads_behind_atomics),
      cmocka_unit_test(ways_of_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
