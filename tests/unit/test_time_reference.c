/* Caches and DRAM against naive models of the same rules, on random traces: sectored LRU caches that keep a
 * list, and every JEDEC constraint checked on the commands a channel gives. The models share no code with
 * src/time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mem_rig.h"
#include "time/mem/l1.h"
#include "time/sm/coalescer.h"

static uint64_t rng_state = 88172645463325252ull;

static uint64_t rng(uint64_t n) /* xorshift64: 0 .. n-1 */
{
  rng_state ^= rng_state << 13;
  rng_state ^= rng_state >> 7;
  rng_state ^= rng_state << 17;
  return (rng_state >> 11) % n;
}

/* --- coalescer: byte by byte -------------------------------------------------------------------- */

static void coalescer_byte_by_byte(void **state)
{
  (void)state;
  static struct txn_access access;
  static struct txn_lines buffer;
  struct txn t = {.access = &access, .line = buffer.line};
  for (unsigned n = 0; n < 20000; n++) {
    unsigned bytes = 1u << rng(5);
    uint64_t base = (0x70000000 + rng(4096)) / bytes * bytes;
    uint64_t stride = rng(2) ? bytes : bytes * rng(20);
    t.access->mem.bytes = (uint8_t)bytes;
    t.access->mem.lanes = rng(4) ? UINT32_MAX : rng(UINT32_MAX) + 1;
    for (unsigned i = 0; i < 32; i++) t.access->mem.addr[i] = base + i * stride;
    if (!rng(8)) t.access->mem.addr[rng(32)] += bytes * (1 + rng(64));
    uint64_t line[64], lines = 0;
    uint8_t sectors[64];
    for (unsigned i = 0; i < 32; i++)
      for (uint64_t a = t.access->mem.addr[i]; (t.access->mem.lanes >> i & 1) && a < t.access->mem.addr[i] + bytes; a++) {
        unsigned k = 0;
        while (k < lines && line[k] != a / 128) k++;
        if (k == lines) line[lines] = a / 128, sectors[lines++] = 0;
        sectors[k] |= (uint8_t)(1 << a % 128 / 32);
      }
    coalesce_global(&t, 32);
    assert_int_equal(t.n_lines, lines);
    for (unsigned k = 0; k < lines; k++) {
      assert_int_equal(t.line[k].line, line[k]);
      assert_int_equal(t.line[k].sectors, sectors[k]);
    }
  }
}

/* --- sectored LRU cache ------------------------------------------------------------------------- */

enum { REF_SETS = 256, REF_WAYS = 64 };

/* Each set lists its lines, the most recently used first. */
struct ref_cache {
  unsigned n_ways;
  struct ref_set {
    unsigned n;
    struct ref_line {
      uint64_t line;
      unsigned sectors;
    } at[REF_WAYS];
  } set[REF_SETS];
};

/* Valid sectors of the line, which becomes the most recent if it is there. */
static unsigned ref_look(struct ref_cache *c, unsigned set, uint64_t line)
{
  struct ref_set *s = &c->set[set];
  for (unsigned i = 0; i < s->n; i++) {
    struct ref_line l = s->at[i];
    if (l.line != line) continue;
    for (; i > 0; i--) s->at[i] = s->at[i - 1];
    s->at[0] = l;
    return l.sectors;
  }
  return 0;
}

/* Puts sectors in; the last line of a full set goes. Returns whether one went. */
static bool ref_put(struct ref_cache *c, unsigned set, uint64_t line, unsigned sectors)
{
  struct ref_set *s = &c->set[set];
  bool full = false;
  if (!ref_look(c, set, line)) {
    full = s->n == c->n_ways;
    if (!full) s->n++;
    for (unsigned i = s->n - 1; i > 0; i--) s->at[i] = s->at[i - 1];
    s->at[0] = (struct ref_line){line, 0};
  }
  s->at[0].sectors |= sectors;
  return full;
}

static void count_done(void *ctx, uint32_t txn)
{
  (void)txn;
  ++*(unsigned *)ctx;
}

/* Which set of L1 a line falls into (l1.c's rules, written anew): modulo, or the bits from 15 on of a product
 * whose upper half is XORed into the lower, moved by one of the 2 MiB page. */
static unsigned l1_set(const struct params *p, uint64_t line)
{
  if (p->l1_set_hash == L1_SET_HASH_LINEAR) return (unsigned)(line % p->l1_sets);
  uint64_t product = (line & 0x3fff) * 0xbfcffb1d & 0xffffffff;
  uint64_t page = ((line >> 14) * 0x9e3779b9 & 0xffffffff) >> 16;
  uint64_t hash = (product ^ product / 32768) / 32768;
  return (unsigned)((hash + page) % p->l1_sets);
}

/* Random loads and answers in random order, several on their way at once. */
static void l1_against_reference_with(enum l1_set_hash hash)
{
  enum { LINES = 3000, IN_FLIGHT = 32 };
  static struct ref_cache ref;
  static unsigned on_its_way[LINES];
  struct rig r;
  struct l1 c = {0};
  struct { uint64_t line; unsigned sectors; } flight[IN_FLIGHT];
  unsigned n_flight = 0, waiting = 0, done = 0, hits = 0, merges = 0;
  memset(&ref, 0, sizeof ref);
  memset(on_its_way, 0, sizeof on_its_way);
  rig_build(&r, "rtx-3070");
  r.params.l1_set_hash = hash;
  l1_init(&c, &r.arena, &r.params);
  l1_start(&c, 32 * 128 * r.params.l1_sets);
  ref.n_ways = 32;
  for (unsigned n = 0; n < 200000; n++) {
    if (n_flight == IN_FLIGHT || (n_flight && rng(3) == 0)) {
      unsigned k = (unsigned)rng(n_flight);
      uint64_t line = flight[k].line;
      l1_fill(&c, line, flight[k].sectors, count_done, &done);
      ref_put(&ref, l1_set(&r.params, line), line, flight[k].sectors);
      on_its_way[line] &= ~flight[k].sectors;
      flight[k] = flight[--n_flight];
      continue;
    }
    uint64_t line = rng(2) ? rng(LINES) : rng(600);
    unsigned sectors = 1 + (unsigned)rng(15);
    unsigned hit = sectors & ref_look(&ref, l1_set(&r.params, line), line);
    unsigned merged = sectors & ~hit & on_its_way[line];
    unsigned missed = sectors & ~hit & ~merged;
    struct l1_access a = l1_load(&c, line, sectors, UINT32_MAX, n);
    assert_int_equal(a.hit, hit);
    assert_int_equal(a.merged, merged);
    assert_int_equal(a.missed, missed);
    hits += hit != 0, merges += merged != 0;
    waiting += hit != sectors;
    if (!missed) continue;
    on_its_way[line] |= missed;
    flight[n_flight].line = line;
    flight[n_flight++].sectors = missed;
  }
  while (n_flight--) l1_fill(&c, flight[n_flight].line, flight[n_flight].sectors, count_done, &done);
  assert_int_equal(done, waiting); /* every load that had to wait was told, once */
  assert_in_range(hits, 10000, 190000);
  assert_in_range(merges, 500, 190000);
  arena_free(&r.arena);
}

static void l1_against_reference(void **state)
{
  (void)state;
  l1_against_reference_with(L1_SET_HASH_LINEAR);
  l1_against_reference_with(L1_SET_HASH_MIXED);
}

/* Which set of a slice a line falls into: in order, beginning anew at a hashed set after some rounds over all
 * sets (l2_slice.c's rule, written anew). */
static unsigned l2_set(const struct params *p, uint64_t local, unsigned slice, unsigned sets)
{
  if (!p->l2_set_rounds_x2) return (unsigned)((local ^ local / 1024 ^ local / 1048576) % sets);
  uint64_t rounds = local / (sets * p->l2_set_rounds_x2 / 2);
  uint64_t product = (rounds + slice * 0x10001) * 0x9e3779b9 & 0xffffffff;
  return (unsigned)((local + (product ^ product / 32768) / 128) % sets);
}

/* One request at a time through the whole memory side of a small L2: hits, misses, evictions. */
static void l2_against_reference_with(unsigned set_rounds_x2)
{
  enum { SLICES = 64 };
  struct rig r;
  rig_build(&r, "rtx-3070");
  r.params.l2_set_rounds_x2 = set_rounds_x2;
  r.params.l2_bytes = r.params.l2_slices * 8 * r.params.l2_ways * LINE_BYTES; /* 8 sets a slice */
  rig_start(&r);
  struct ref_cache *ref = calloc(SLICES, sizeof *ref);
  assert_non_null(ref);
  for (unsigned i = 0; i < SLICES; i++) ref[i].n_ways = r.params.l2_ways;
  struct l2_stats want = {0};
  uint64_t lines = r.params.l2_slices * 8 * r.params.l2_ways * 3 / 2; /* half as many again as fit */
  for (unsigned n = 0; n < 20000; n++) {
    uint64_t line = 0x1000000 + rng(lines);
    unsigned sectors = 1 + (unsigned)rng(15);
    struct l2_place at = l2_place(&r.params, line);
    unsigned set = l2_set(&r.params, at.local, at.slice, 8);
    bool write = rng(3) == 0;
    if (write) {
      want.l2_write_sectors += count_sectors(sectors);
      want.l2_evicted_lines += ref_put(&ref[at.slice], set, line, sectors);
    } else {
      unsigned hit = sectors & ref_look(&ref[at.slice], set, line);
      want.l2_read_sectors += count_sectors(sectors);
      want.l2_hit_sectors += count_sectors(hit);
      want.l2_miss_sectors += count_sectors(sectors & ~hit);
      if (hit != sectors)
        want.l2_evicted_lines += ref_put(&ref[at.slice], set, line, sectors & ~hit);
    }
    round_trip(&r, write ? REQ_WRITE : REQ_READ, write ? MEM_STORE : MEM_LOAD, line, sectors);
  }
  struct l2_stats got = {0};
  for (unsigned i = 0; i < r.n; i++)
    for (unsigned k = 0; k < r.part[i].n_slices; k++)
      stat_add(l2_stats_group("l2", &got), l2_stats_group("l2", &r.part[i].slice[k].stats));
  assert_int_equal(got.l2_write_sectors, want.l2_write_sectors);
  assert_int_equal(got.l2_read_sectors, want.l2_read_sectors);
  assert_int_equal(got.l2_hit_sectors, want.l2_hit_sectors);
  assert_int_equal(got.l2_miss_sectors, want.l2_miss_sectors);
  assert_int_equal(got.l2_evicted_lines, want.l2_evicted_lines);
  assert_true(want.l2_hit_sectors > 1000 && want.l2_evicted_lines > 1000);
  free(ref);
  rig_free(&r);
}

static void l2_against_reference(void **state)
{
  (void)state;
  l2_against_reference_with(0);
  l2_against_reference_with(15);
}

/* --- JEDEC constraints --------------------------------------------------------------------------- */

/* What a checker of the command bus would know. Times are of the last command of a kind; 0: none yet. */
struct checker {
  const uint32_t *t;
  picos slot; /* a burst on the data bus */
  unsigned n_groups, n_banks;
  struct checked_bank {
    bool open;
    uint64_t row;
    picos act, read, write_end; /* last ACT, last read burst's command, end of the last write data */
  } bank[DRAM_MAX_BANKS];
  picos group_act[DRAM_MAX_GROUPS], group_burst[DRAM_MAX_GROUPS];
  picos act[4], last_act;         /* the last four */
  picos read_end, write_data_end; /* of the data of reads counted from their command; of writes */
  picos bus_free;                 /* commands of one direction: the data bus is theirs until then */
  unsigned acts, columns;
};

static void after(picos now, picos since, picos gap, const char *rule)
{
  if (since && now < since + gap)
    fail_msg("%s: %llu after %llu, needs %llu", rule, (unsigned long long)now,
             (unsigned long long)since, (unsigned long long)gap);
}

/* The bank's last refresh up to now, 0: none. Banks take turns within tREFI. */
static picos last_refresh(const struct checker *c, unsigned b, picos now)
{
  picos every = c->t[DRAM_T_REFI], first = every * (b + 1) / c->n_banks;
  return now < first ? 0 : now - (now - first) % every;
}

static void check_act(struct checker *c, unsigned b, uint64_t row, picos now)
{
  struct checked_bank *k = &c->bank[b];
  const uint32_t *t = c->t;
  unsigned g = b % c->n_groups;
  after(now, last_refresh(c, b, now), t[DRAM_T_RFC], "tRFC");
  after(now, k->act, (picos)t[DRAM_T_RAS] + t[DRAM_T_RP], "tRC");
  if (k->open) { /* a precharge lies between */
    after(now, k->read, (picos)t[DRAM_T_RTP] + t[DRAM_T_RP], "tRTP + tRP");
    after(now, k->write_end, (picos)t[DRAM_T_WR] + t[DRAM_T_RP], "tWR + tRP");
  }
  after(now, c->last_act, t[DRAM_T_RRD_S], "tRRD_S");
  after(now, c->group_act[g], t[DRAM_T_RRD_L], "tRRD_L");
  after(now, c->act[c->acts % 4], t[DRAM_T_FAW], "tFAW");
  c->act[c->acts++ % 4] = c->group_act[g] = c->last_act = k->act = now;
  k->open = true;
  k->row = row;
}

static void check_column(struct checker *c, unsigned b, bool write, unsigned bursts, picos now)
{
  struct checked_bank *k = &c->bank[b];
  const uint32_t *t = c->t;
  unsigned g = b % c->n_groups;
  assert_true(k->open);
  assert_true(k->act >= last_refresh(c, b, now)); /* that closed the row */
  after(now, k->act, t[DRAM_T_RCD], "tRCD");
  if (write)
    after(now, c->read_end, t[DRAM_T_RTW], "read to write");
  else
    after(now, c->write_data_end, t[DRAM_T_WTR], "tWTR");
  after(now, c->bus_free, 0, "data bus");
  for (unsigned i = 0; i < bursts; i++) {
    picos at = now + i * (c->slot > t[DRAM_T_CCD_L] ? c->slot : t[DRAM_T_CCD_L]);
    after(at, c->group_burst[g], t[DRAM_T_CCD_L], "tCCD_L");
    c->group_burst[g] = at;
    if (write)
      k->write_end = at + t[DRAM_T_CWL] + c->slot;
    else
      k->read = at;
  }
  c->bus_free = now + bursts * c->slot;
  if (write)
    c->write_data_end = now + t[DRAM_T_CWL] + bursts * c->slot;
  else
    c->read_end = now + bursts * c->slot;
  c->columns++;
}

/* One command of the channel, as its counters tell. */
static void check_step(struct checker *k, struct dram *c, unsigned *answered)
{
  struct dram_answer a;
  struct dram_stats before = c->stats;
  picos now = dram_next(c);
  unsigned b = c->plan.bank;
  uint16_t pick = c->bank[b].pick[c->writing];
  const struct dram_req r = pick == DRAM_NIL ? (struct dram_req){0} : c->pool[pick];
  const bool gathering = c->gathering;
  if (dram_step(c, now, &a)) {
    ++*answered;
    return;
  }
  if (gathering) { /* no command: writes need not wait any longer */
    assert_false(c->gathering);
    assert_true(c->n[DRAM_WRITE]);
    return;
  }
  if (c->stats.activates > before.activates) {
    check_act(k, r.bank, r.row, now);
    return;
  }
  bool write = c->stats.dram_writes > before.dram_writes;
  assert_true(write || c->stats.dram_reads > before.dram_reads);
  assert_int_equal(k->bank[r.bank].row, r.row);
  check_column(k, r.bank, write, count_sectors(r.sectors), now);
}

static void commands_keep_jedec_rules(const char *gpu, uint64_t lines, picos pause)
{
  struct rig r;
  static struct dram c;
  static struct checker k;
  unsigned asked = 0, answered = 0;
  rig_build(&r, gpu);
  dram_init(&c, &r.arena, &r.params, 4096, 4096, 16);
  k = (struct checker){.t = r.params.dram_t,
                       .slot = c.slot,
                       .n_groups = r.params.dram_bank_groups,
                       .n_banks = r.params.dram_banks};
  picos now = 1000000;
  uint64_t run = 0;
  for (unsigned n = 0; n < 40000; n++) {
    run = rng(4) ? run + 1 : rng(lines); /* runs of neighbours, as caches ask */
    bool write = rng(3) == 0;
    while (dram_busy(&c) && (dram_next(&c) <= now || (write ? !dram_write_room(&c) : !dram_read_room(&c)))) {
      if (dram_next(&c) > now) now = dram_next(&c);
      check_step(&k, &c, &answered);
    }
    asked += !write;
    dram_request(&c, write ? DRAM_WRITE : DRAM_READ, now, run % lines, n, 1 + (unsigned)rng(15), 0);
    now += rng(pause);
  }
  while (dram_busy(&c)) check_step(&k, &c, &answered);
  assert_int_equal(answered, asked);
  assert_int_equal(k.columns, 40000);
  assert_true(k.acts > 1000);
  arena_free(&r.arena);
}

static void jedec_rules(void **state)
{
  static const char *const gpu[] = {"rtx-3070", "a100", "h100", "rtx-2080ti", "b200"};
  (void)state;
  for (unsigned i = 0; i < sizeof gpu / sizeof *gpu; i++) {
    commands_keep_jedec_rules(gpu[i], 1 << 20, 2000); /* crowded, everywhere */
    commands_keep_jedec_rules(gpu[i], 1 << 12, 8000); /* few rows */
    commands_keep_jedec_rules(gpu[i], 1 << 20, 400000); /* pauses: refreshes in between */
  }
}

/* Fewer writes than dram.write_high wait while reads come, however far apart; and once none has come for
 * dram.write_idle they go, and the read behind them finds the bus free. */
static void writes_wait_for_a_pause(void **state)
{
  (void)state;
  struct rig r;
  rig_build(&r, "a100");
  static struct dram c;
  struct dram_answer a;
  dram_init(&c, &r.arena, &r.params, 1024, 1024, 16);
  const picos idle = r.params.dram_write_idle, apart = idle - 1;
  picos now = 0;
  dram_request(&c, DRAM_READ, 0, 0, 0, 0xf, 0);
  dram_request(&c, DRAM_WRITE, 0, 100000, 0, 0xf, 0);
  for (unsigned i = 1; i < 8; i++) {
    while (c.n[DRAM_READ]) dram_step(&c, now = dram_next(&c), &a);
    for (; dram_next(&c) < now + apart;) dram_step(&c, dram_next(&c), &a);
    now += apart;
    dram_request(&c, DRAM_READ, now, i * 1000, 0, 0xf, 0);
    dram_request(&c, DRAM_WRITE, now, 100000 + i, 0, 0xf, 0);
  }
  assert_int_equal(c.stats.dram_writes, 0);
  while (c.n[DRAM_READ]) dram_step(&c, now = dram_next(&c), &a);
  while (dram_next(&c) < now + idle) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.stats.dram_writes, 0);
  while (c.n[DRAM_WRITE]) dram_step(&c, dram_next(&c), &a);
  assert_int_equal(c.stats.dram_writes, 8);
  assert_int_equal(c.stats.turnarounds, 1); /* for the eight writes; none where a read found writes gathering */
  assert_false(dram_busy(&c));
  arena_free(&r.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coalescer_byte_by_byte),
      cmocka_unit_test(l1_against_reference),
      cmocka_unit_test(l2_against_reference),
      cmocka_unit_test(jedec_rules),
      cmocka_unit_test(writes_wait_for_a_pause),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
