#include "time/mem/l1.h"

#include <string.h>

#include "base/bug.h"

void l1_init(struct l1 *c, struct arena *a, const struct params *p)
{
  c->n_miss = p->l1_mshr_entries;
  c->n_waiters = p->l1_mshr_entries * p->l1_mshr_merges;
  if (c->n_waiters >= L1_NIL) c->n_waiters = L1_NIL - 1;
  BUG_ON(c->n_miss >= L1_NIL);
  c->perfect = p->l1_perfect;
  c->mixed = p->l1_set_hash == L1_SET_HASH_MIXED;
  tags_init(&c->tags, a, p->l1_sets, p->l1_data_max / (LINE_BYTES * p->l1_sets));
  c->words = ARENA_ARRAY(a, uint32_t, (size_t)c->tags.n_sets * c->tags.max_ways);
  c->bytes = arena_alloc(a, (size_t)c->tags.n_sets * c->tags.max_ways * LINE_BYTES, LINE_BYTES);
  c->landed = arena_alloc(a, (size_t)c->n_miss * LINE_BYTES, LINE_BYTES);
  c->miss = ARENA_ARRAY(a, struct l1_miss, c->n_miss);
  c->waiter = ARENA_ARRAY(a, struct l1_waiter, c->n_waiters);
  c->n_buckets = 256;
  c->bucket = ARENA_ARRAY(a, uint16_t, c->n_buckets);
  for (unsigned i = 0; i < c->n_buckets; i++) c->bucket[i] = L1_NIL;
  c->n_free_miss = (uint16_t)c->n_miss;
  c->n_free_waiter = (uint16_t)c->n_waiters;
  c->free_miss = c->free_waiter = L1_NIL;
}

void l1_start(struct l1 *c, uint64_t bytes)
{
  BUG_ON(c->n_free_miss != c->n_miss || c->n_free_waiter != c->n_waiters);
  uint64_t ways = bytes / ((uint64_t)LINE_BYTES * c->tags.n_sets), most = c->tags.max_ways;
  tags_clear(&c->tags, ways > most ? (unsigned)most : ways ? (unsigned)ways : 1);
}

/* What is on its way from other nodes is not kept. */
static void misses_are_old(struct l1 *c)
{
  for (unsigned b = 0; b < c->n_buckets; b++)
    for (uint16_t i = c->bucket[b]; i != L1_NIL; i = c->miss[i].next)
      if (c->miss[i].line & LINE_ELSEWHERE) c->miss[i].old = true;
}

static void forget_elsewhere(struct l1 *c)
{
  if (c->elsewhere) misses_are_old(c);
  c->elsewhere = false;
}

void l1_invalidate(struct l1 *c)
{
  tags_clear(&c->tags, c->tags.n_ways);
  forget_elsewhere(c);
}

void l1_acquire(struct l1 *c)
{
  tags_drop(&c->tags, LINE_LOCAL);
  forget_elsewhere(c);
}

/* The line's set. Silicon's index is not published. What is measured (RRZE-HPC/gpu-benches,
 * pointer chases on A40, A100 and GH200): all lines of a buffer of 0.8 times the array are found again, none
 * of 1.25 times, and in between the share falls in uneven steps, whatever the board: sets of some 64 lines
 * with hashed loads, the hash made of address bits within a page. The multiplier is fitted to those curves. */
static unsigned set_of(const struct l1 *c, uint64_t line)
{
  enum { PAGE_LINES = (1 << 21) / LINE_BYTES };
  if (!c->mixed) return (unsigned)(line % c->tags.n_sets);
  uint32_t x = (uint32_t)(line % PAGE_LINES) * 0xbfcffb1du;
  uint32_t page = (uint32_t)(line / PAGE_LINES) * 0x9e3779b9u >> 16;
  return (((x ^ x >> 15) >> 15) + page) % c->tags.n_sets;
}

static uint16_t *miss_bucket(struct l1 *c, uint64_t line)
{
  return &c->bucket[(line ^ line >> 8) % c->n_buckets];
}

static struct l1_miss *find_miss(struct l1 *c, uint64_t line)
{
  for (uint16_t i = *miss_bucket(c, line); i != L1_NIL; i = c->miss[i].next)
    if (c->miss[i].line == line) return &c->miss[i];
  return NULL;
}

static struct l1_miss *new_miss(struct l1 *c, uint64_t line)
{
  uint16_t i = c->free_miss, *b = miss_bucket(c, line);
  BUG_ON(c->n_free_miss == 0);
  if (i == L1_NIL)
    i = c->fresh_miss++;
  else
    c->free_miss = c->miss[i].next;
  struct l1_miss *m = &c->miss[i];
  c->n_free_miss--;
  *m = (struct l1_miss){.line = line, .next = *b, .waiters = L1_NIL};
  *b = i;
  return m;
}

static void free_miss(struct l1 *c, struct l1_miss *m)
{
  uint16_t i = (uint16_t)(m - c->miss), *link = miss_bucket(c, m->line);
  while (*link != i) link = &c->miss[*link].next;
  *link = m->next;
  m->next = c->free_miss;
  c->free_miss = i;
  c->n_free_miss++;
}

static void add_waiter(struct l1 *c, struct l1_miss *m, uint32_t txn, unsigned sectors)
{
  uint16_t i = c->free_waiter;
  BUG_ON(c->n_free_waiter == 0);
  if (i == L1_NIL)
    i = c->fresh_waiter++;
  else
    c->free_waiter = c->waiter[i].next;
  c->n_free_waiter--;
  c->waiter[i] = (struct l1_waiter){txn, m->waiters, (uint8_t)sectors};
  m->waiters = i;
}

/* Sectors that are valid or of which all wanted words were stored. */
static unsigned known(const struct l1 *c, struct tag_at at, uint32_t words)
{
  uint32_t stored = c->words[tags_index(&c->tags, at)];
  unsigned valid = tags_state(&c->tags, at)->sectors;
  return stored ? valid | whole_sectors(0xf, stored | ~words) : valid;
}

struct l1_access l1_load(struct l1 *c, uint64_t line, unsigned sectors, uint32_t words, uint32_t txn)
{
  struct l1_access r = {0};
  if (c->perfect) {
    r.hit = (uint8_t)sectors;
    return r;
  }
  struct tag_at at = tags_find(&c->tags, set_of(c, line), line);
  if (at.way != TAGS_NONE) {
    r.hit = (uint8_t)(known(c, at, words) & sectors);
    tags_use(&c->tags, at);
  }
  unsigned need = sectors & ~(unsigned)r.hit;
  if (!need) return r;
  struct l1_miss *m = find_miss(c, line);
  if (!m) m = new_miss(c, line);
  if (line & LINE_ELSEWHERE) {
    if (m->old) return (struct l1_access){.passed = (uint8_t)sectors};
    c->elsewhere = true;
    r.miss = (uint16_t)(m - c->miss);
  }
  r.merged = (uint8_t)(need & m->pending);
  r.missed = (uint8_t)(need & ~(unsigned)m->pending);
  m->pending |= r.missed;
  add_waiter(c, m, txn, need);
  return r;
}

/* The line's place, the youngest of its set now. */
static struct tag_at place(struct l1 *c, uint64_t line)
{
  struct tag_at at = tags_find(&c->tags, set_of(c, line), line);
  if (at.way == TAGS_NONE) {
    at = tags_oldest(&c->tags, at.set);
    tags_replace(&c->tags, at, line);
    c->words[tags_index(&c->tags, at)] = 0;
  }
  tags_use(&c->tags, at);
  return at;
}

void l1_store(struct l1 *c, uint64_t line, uint32_t words)
{
  if (c->perfect) return;
  struct tag_at at = place(c, line);
  uint32_t *stored = &c->words[tags_index(&c->tags, at)];
  *stored |= words;
}

const uint8_t *l1_bytes(const struct l1 *c, uint64_t line)
{
  struct tag_at at = tags_find(&c->tags, set_of(c, line), line);
  BUG_ON(at.way == TAGS_NONE);
  return c->bytes[tags_index(&c->tags, at)];
}

static void copy_sectors(uint8_t to[LINE_BYTES], const uint8_t from[LINE_BYTES], unsigned sectors)
{
  for (unsigned s = 0; s < SECTORS_PER_LINE; s++)
    if (sectors >> s & 1) memcpy(to + s * SECTOR_BYTES, from + s * SECTOR_BYTES, SECTOR_BYTES);
}

void l1_land(struct l1 *c, unsigned miss, unsigned sectors, const uint8_t line[LINE_BYTES])
{
  copy_sectors(c->landed[miss], line, sectors);
}

void l1_forget_line(struct l1 *c, uint64_t line)
{
  struct tag_at at = tags_find(&c->tags, set_of(c, line), line);
  struct l1_miss *m = find_miss(c, line);
  if (at.way != TAGS_NONE) tags_state(&c->tags, at)->sectors = 0;
  if (m) m->old = true;
}

/* The waiter at *link gets these sectors. True: they were the last for it, and *link is the next one. */
static bool serve(struct l1 *c, uint16_t *link, unsigned sectors)
{
  const uint16_t i = *link;
  struct l1_waiter *x = &c->waiter[i];
  x->sectors &= (uint8_t)~sectors;
  if (x->sectors) return false;
  *link = x->next;
  x->next = c->free_waiter;
  c->free_waiter = i;
  c->n_free_waiter++;
  return true;
}

void l1_fill(struct l1 *c, uint64_t line, unsigned sectors, void (*done)(void *ctx, uint32_t txn), void *ctx)
{
  tags_fill(&c->tags, place(c, line), sectors);
  struct l1_miss *m = find_miss(c, line);
  BUG_ON(!m);
  m->pending &= (uint8_t)~sectors;
  for (uint16_t *link = &m->waiters, i; (i = *link) != L1_NIL;) {
    const uint32_t txn = c->waiter[i].txn;
    if (serve(c, link, sectors)) done(ctx, txn);
    else link = &c->waiter[i].next;
  }
  if (m->waiters == L1_NIL) free_miss(c, m);
}

/* The sectors are valid, unless they came too late for that. */
static void keep(struct l1 *c, const struct l1_miss *m, unsigned sectors)
{
  if (m->old) return;
  struct tag_at at = place(c, m->line);
  tags_fill(&c->tags, at, sectors);
  copy_sectors(c->bytes[tags_index(&c->tags, at)], c->landed[m - c->miss], sectors);
}

void l1_fill_elsewhere(struct l1 *c, uint64_t line, unsigned sectors, l1_filled *filled, void *ctx)
{
  struct l1_miss *m = find_miss(c, line);
  BUG_ON(!m);
  const uint8_t *bytes = c->landed[m - c->miss];
  keep(c, m, sectors);
  m->pending &= (uint8_t)~sectors;
  for (uint16_t *link = &m->waiters, i; (i = *link) != L1_NIL;) {
    const uint32_t txn = c->waiter[i].txn;
    const unsigned come = c->waiter[i].sectors & sectors;
    const bool whole = serve(c, link, sectors);
    if (come) filled(ctx, txn, come, bytes, whole);
    if (!whole) link = &c->waiter[i].next;
  }
  if (m->waiters == L1_NIL) free_miss(c, m);
}
