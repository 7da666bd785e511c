#include "time/sm/coalescer.h"

#include <string.h>

#include "base/bits.h"
#include "time/sm/access.h"

/* The line's entry, with the sectors added. */
static struct txn_line *add(struct txn *t, uint64_t line, unsigned sectors)
{
  /* Neighbouring lanes mostly fall into the line seen last. */
  for (unsigned i = t->n_lines; i-- > 0;) {
    if (t->line[i].line != line) continue;
    t->line[i].sectors |= (uint8_t)sectors;
    return &t->line[i];
  }
  BUG_ON(t->n_lines == TXN_MAX_LINES);
  t->line[t->n_lines] = (struct txn_line){.line = line, .sectors = (uint8_t)sectors};
  return &t->line[t->n_lines++];
}

/* What a lane stores whole, or what a load of its bytes needs. */
static uint32_t words_of(const struct mem_effect *m, unsigned from)
{
  unsigned first = from / WORD_BYTES, bytes = m->bytes;
  if (bytes == WORD_BYTES && from % WORD_BYTES == 0) return (uint32_t)1 << first;
  if (m->op == MEM_STORE || bytes >= WORD_BYTES) return words_within(from, from + bytes);
  return (uint32_t)1 << first;
}

/* An access of at most 16 aligned bytes lies in one sector. */
static unsigned sector_of(uint64_t addr)
{
  return 1u << (addr / SECTOR_BYTES % SECTORS_PER_LINE);
}

/* The bytes of one consecutive access, line by line. */
static void add_run(struct txn *t, uint64_t from, uint64_t bytes)
{
  uint64_t first = from / SECTOR_BYTES, last = (from + bytes - 1) / SECTOR_BYTES;
  for (uint64_t line = first / SECTORS_PER_LINE; line <= last / SECTORS_PER_LINE; line++) {
    uint64_t base = line * SECTORS_PER_LINE;
    unsigned lo = first > base ? (unsigned)(first - base) : 0;
    unsigned hi = last < base + SECTORS_PER_LINE ? (unsigned)(last - base) : SECTORS_PER_LINE - 1;
    uint64_t start = line * LINE_BYTES, end = start + LINE_BYTES;
    unsigned a = from > start ? (unsigned)(from - start) : 0;
    unsigned b = from + bytes < end ? (unsigned)(from + bytes - start) : LINE_BYTES;
    t->line[t->n_lines++] = (struct txn_line){
        .line = line, .sectors = (uint8_t)((2u << hi) - (1u << lo)), .words = words_within(a, b)};
  }
}

/* Lanes narrower than a word: which words they write together. */
static void add_narrow_words(struct txn *t)
{
  uint8_t written[LANES_MAX][LINE_BYTES / WORD_BYTES]; /* of each line: bytes of each word */
  memset(written, 0, t->n_lines * sizeof written[0]);
  for (lane_mask m = t->access->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->access->mem.addr[bits_first(m)];
    unsigned i = 0, at = (unsigned)(addr % LINE_BYTES), bytes = (1u << t->access->mem.bytes) - 1;
    while (t->line[i].line != addr / LINE_BYTES) i++;
    uint8_t *word = &written[i][at / WORD_BYTES];
    *word |= (uint8_t)(bytes << at % WORD_BYTES);
    if (*word == (1u << WORD_BYTES) - 1) t->line[i].words |= (uint32_t)1 << at / WORD_BYTES;
  }
}

bool coalesce_global(struct txn *t, unsigned lanes)
{
  t->n_lines = 0;
  if (access_dense(&t->access->mem, t->access->mem.lanes, lanes)) {
    add_run(t, t->access->mem.addr[0], (uint64_t)lanes * t->access->mem.bytes);
    return true;
  }
  struct txn_line *l = NULL;
  for (lane_mask m = t->access->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->access->mem.addr[bits_first(m)];
    if (l && l->line == addr / LINE_BYTES)
      l->sectors |= (uint8_t)sector_of(addr);
    else
      l = add(t, addr / LINE_BYTES, sector_of(addr));
    l->words |= words_of(&t->access->mem, (unsigned)(addr % LINE_BYTES));
  }
  if (t->access->mem.op == MEM_STORE && t->access->mem.bytes < WORD_BYTES) add_narrow_words(t);
  return false;
}

unsigned coalescer_excess(const struct txn *t)
{
  const struct mem_effect *m = &t->access->mem;
  unsigned bytes = bits_count(m->lanes) * m->bytes, least = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES, sectors = 0;
  if (m->op == MEM_ATOMIC || m->op == MEM_RED) return 0;
  for (unsigned i = 0; i < t->n_lines; i++) sectors += bits_count(t->line[i].sectors);
  return sectors > least ? sectors - least : 0;
}

bool coalesce_ideal(struct txn *t)
{
  const struct mem_effect *m = &t->access->mem;
  unsigned bytes = bits_count(m->lanes) * m->bytes, place = SECTOR_BYTES;
  if (!coalescer_excess(t)) return false;
  while (place < bytes && place < LINE_BYTES) place *= 2;
  t->n_lines = 0;
  add_run(t, m->addr[bits_first(m->lanes)] & ~(uint64_t)(place - 1), bytes);
  return true;
}

void coalesce_texels(struct txn *t)
{
  t->n_lines = 0;
  for (lane_mask m = t->access->mem.lanes; m; m &= m - 1) {
    for (unsigned k = 0; k < t->access->mem.n_texels; k++) {
      uint64_t addr = t->access->mem.texel[k][bits_first(m)];
      if (addr) add(t, addr / LINE_BYTES, sector_of(addr))->words = UINT32_MAX; /* of whatever width */
    }
  }
}

void coalesce_local(struct txn *t, uint64_t space, unsigned lanes)
{
  enum { WORD = WORD_BYTES, LINE_WORDS = LINE_BYTES / WORD_BYTES };
  const unsigned apart = (lanes + LINE_WORDS - 1) / LINE_WORDS; /* lines of one word of all lanes */
  t->n_lines = 0;
  for (lane_mask m = t->access->mem.lanes; m; m &= m - 1) {
    unsigned lane = bits_first(m);
    uint64_t word = t->access->mem.addr[lane] / WORD;
    unsigned words = t->access->mem.bytes > WORD ? t->access->mem.bytes / WORD : 1;
    for (unsigned i = 0; i < words; i++)
      add(t, space + (word + i) * apart + lane / LINE_WORDS, sector_of((uint64_t)lane * WORD))->words |=
          (uint32_t)1 << lane % LINE_WORDS;
  }
}

unsigned coalescer_tag_passes(const struct txn *t, const struct param_list *masks)
{
  enum { MAX_BANKS = 16 };
  uint8_t n[MAX_BANKS] = {0};
  unsigned most = 1;
  if (t->n_lines < 2) return 1;
  for (unsigned i = 0; i < t->n_lines; i++) {
    unsigned bank = 0;
    for (unsigned k = 0; k < masks->n; k++)
      bank |= (bits_count((uint32_t)t->line[i].line & masks->v[k]) & 1) << k;
    if (++n[bank] > most) most = n[bank];
  }
  return most;
}

void coalesce_atomics(struct txn *t)
{
  enum { WIDE_BYTES = 8 };
  const uint8_t wide = t->access->mem.bytes / WIDE_BYTES;
  uint8_t updates[TXN_MAX_LINES][LINE_BYTES / WORD_BYTES];
  memset(updates, 0, t->n_lines * sizeof updates[0]);
  for (lane_mask m = t->access->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->access->mem.addr[bits_first(m)];
    unsigned i = 0;
    while (t->line[i].line != addr / LINE_BYTES) i++;
    struct txn_line *l = &t->line[i];
    uint8_t *n = &updates[i][addr % LINE_BYTES / WORD_BYTES];
    l->wide = (uint8_t)(l->wide + wide);
    if (++*n > l->repeats) l->repeats = *n;
  }
}
