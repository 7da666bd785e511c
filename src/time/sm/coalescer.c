#include "time/sm/coalescer.h"

#include "base/bits.h"

static void add(struct txn *t, uint64_t line, unsigned sectors)
{
  /* Neighbouring lanes mostly fall into the line seen last. */
  for (unsigned i = t->n_lines; i-- > 0;) {
    if (t->line[i].line != line) continue;
    t->line[i].sectors |= (uint8_t)sectors;
    return;
  }
  BUG_ON(t->n_lines == TXN_MAX_LINES);
  t->line[t->n_lines++] = (struct txn_line){line, (uint8_t)sectors};
}

static unsigned sector_count(const struct txn *t)
{
  unsigned n = 0;
  for (unsigned i = 0; i < t->n_lines; i++) n += bits_count(t->line[i].sectors);
  return n;
}

/* An access of at most 16 aligned bytes lies in one sector. */
static unsigned sector_of(uint64_t addr)
{
  return 1u << (addr / SECTOR_BYTES % SECTORS_PER_LINE);
}

unsigned coalesce_global(struct txn *t)
{
  t->n_lines = 0;
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->mem.addr[bits_first(m)];
    add(t, addr / LINE_BYTES, sector_of(addr));
  }
  return sector_count(t);
}

unsigned coalesce_local(struct txn *t, uint64_t space)
{
  enum { WORD = 4 };
  t->n_lines = 0;
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    unsigned lane = bits_first(m);
    uint64_t word = t->mem.addr[lane] / WORD;
    unsigned words = t->mem.bytes > WORD ? t->mem.bytes / WORD : 1;
    for (unsigned i = 0; i < words; i++) add(t, space + word + i, sector_of((uint64_t)lane * WORD));
  }
  return sector_count(t);
}
