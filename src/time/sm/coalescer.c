#include "time/sm/coalescer.h"

#include "base/bits.h"
#include "time/sm/access.h"

static void add(struct txn *t, uint64_t line, unsigned sectors)
{
  /* Neighbouring lanes mostly fall into the line seen last. */
  for (unsigned i = t->n_lines; i-- > 0;) {
    if (t->line[i].line != line) continue;
    t->line[i].sectors |= (uint8_t)sectors;
    return;
  }
  BUG_ON(t->n_lines == TXN_MAX_LINES);
  t->line[t->n_lines++] = (struct txn_line){.line = line, .sectors = (uint8_t)sectors};
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
    t->line[t->n_lines++] =
        (struct txn_line){.line = line, .sectors = (uint8_t)((2u << hi) - (1u << lo))};
  }
}

bool coalesce_global(struct txn *t)
{
  t->n_lines = 0;
  if (access_dense(&t->mem, t->mem.lanes)) {
    add_run(t, t->mem.addr[0], (uint64_t)ACCESS_LANES * t->mem.bytes);
    return true;
  }
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->mem.addr[bits_first(m)];
    add(t, addr / LINE_BYTES, sector_of(addr));
  }
  return false;
}

void coalesce_texels(struct txn *t)
{
  t->n_lines = 0;
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    for (unsigned k = 0; k < t->mem.n_texels; k++) {
      uint64_t addr = t->mem.texel[k][bits_first(m)];
      if (addr) add(t, addr / LINE_BYTES, sector_of(addr));
    }
  }
}

void coalesce_local(struct txn *t, uint64_t space)
{
  enum { WORD = 4 };
  t->n_lines = 0;
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    unsigned lane = bits_first(m);
    uint64_t word = t->mem.addr[lane] / WORD;
    unsigned words = t->mem.bytes > WORD ? t->mem.bytes / WORD : 1;
    for (unsigned i = 0; i < words; i++) add(t, space + word + i, sector_of((uint64_t)lane * WORD));
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
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    uint64_t line = t->mem.addr[bits_first(m)] / LINE_BYTES;
    unsigned i = 0;
    while (t->line[i].line != line) i++;
    t->line[i].atomics++;
  }
}
