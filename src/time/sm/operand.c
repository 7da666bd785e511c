#include "time/sm/operand.h"

#include "base/arith.h"
#include "base/bits.h"
#include "base/bug.h"

void operand_init(struct operand_path *o, const struct params *p, struct sm_stats *stats)
{
  *o = (struct operand_path){.banks = p->regfile_banks,
                             .ports = p->regfile_read_ports,
                             .read_cycles = p->regfile_read_cycles,
                             .cache = p->regfile_cache,
                             .perfect = p->regfile_perfect || p->ideal_issue,
                             .wide = p->ideal_issue,
                             .stats = stats};
  BUG_ON(o->banks > OPERAND_MAX_BANKS || o->ports > PORTS_MAX);
}

enum { RFC_VALID = 1 << 24 };

/* True when the operand comes from the cache; keeps or drops the value by its reuse bit. */
static bool cached(struct operand_path *o, unsigned bank, const struct operand *s, unsigned reg,
                   unsigned warp)
{
  if (!o->cache || s->slot >= OPERAND_POSITIONS) return false;
  uint32_t *e = &o->rfc[bank][s->slot], value = reg | warp << 16;
  bool hit = *e == (value | RFC_VALID);
  *e = s->reuse ? value | RFC_VALID : value;
  return hit;
}

/* Reads per bank, a byte each. */
typedef uint64_t bank_counts;

static bank_counts one_in(unsigned bank)
{
  return (bank_counts)1 << 8 * bank;
}

static unsigned count_in(bank_counts n, unsigned bank)
{
  return n >> 8 * bank & 0xff;
}

/* First bank with reads; *n keeps the others. */
static unsigned next_bank(bank_counts *n)
{
  unsigned bank = bits_first(*n) / 8;
  *n &= ~(one_in(bank) * 0xff);
  return bank;
}

/* Port reads per bank. A register named twice is read once. */
static bank_counts count_reads(struct operand_path *o, const struct inst *in, unsigned warp)
{
  uint16_t seen[INST_MAX_SRC * 8];
  unsigned n_seen = 0;
  bank_counts need = 0;
  for (const struct operand *s = in->src, *end = s + in->n_src; s < end; s++) {
    if (s->file != FILE_R) continue;
    for (unsigned reg = s->index, last = reg + s->width; reg < last; reg++) {
      unsigned bank = reg & (o->banks - 1), j = 0;
      if (cached(o, bank, s, reg, warp)) {
        o->stats->rfc_hits++;
        continue;
      }
      while (j < n_seen && seen[j] != reg) j++;
      if (j < n_seen) continue;
      seen[n_seen++] = (uint16_t)reg;
      need += one_in(bank);
    }
  }
  o->stats->rf_reads += n_seen;
  return need;
}

/* Published simulator of Huerta et al., MICRO 2025: twice as long for matrix products with wide sources. */
static unsigned read_window(const struct operand_path *o, const struct inst *in)
{
  unsigned widest = 0;
  if (in->pipe != PIPE_TENSOR) return o->read_cycles;
  for (unsigned i = 0; i < in->n_src; i++)
    if (in->src[i].file == FILE_R && in->src[i].width > widest) widest = in->src[i].width;
  return widest >= 4 ? 2 * o->read_cycles : o->read_cycles;
}

/* `n` reads of one bank, behind all before them and as late as the window allows. Returns the cycle of the
 * last one. */
static uint64_t read_bank(struct operand_path *o, unsigned b, unsigned n, uint64_t window_end)
{
  unsigned cycles = o->ports == 1 ? n : (n + o->ports - 1) / o->ports;
  uint64_t last = o->last_read[b] + cycles;
  if (last < window_end) last = window_end;
  o->last_read[b] = last;
  if (o->ports == 1) { /* without divisions */
    uint64_t left = earlier(n, last + 1 - o->bank[b].base); /* more than the window holds: some lie before now */
    ports_take_run(&o->bank[b], 0, last + 1 - left, (unsigned)left);
    return last;
  }
  for (unsigned k = 0; k < n; k++)
    ports_take(&o->bank[b], k % o->ports, last - cycles + 1 + k / o->ports);
  return last;
}

/* Nobody waits for ports. */
__attribute__((cold)) static uint64_t issue_perfect(struct operand_path *o, uint64_t now)
{
  o->entered = o->leaves = now + 2 > o->leaves + 1 || o->wide ? now + 2 : o->leaves + 1;
  o->read_by = o->leaves + o->read_cycles + 1;
  return o->leaves - 1;
}

uint64_t operand_issue(struct operand_path *o, const struct inst *in, unsigned warp, uint64_t now)
{
  if (o->perfect) return issue_perfect(o, now);
  bank_counts need = count_reads(o, in, warp);
  uint64_t enters = now + 2 > o->leaves + 1 ? now + 2 : o->leaves + 1;
  uint64_t end = enters + read_window(o, in), last = end;
  for (unsigned b = 0; need; b++, need >>= 8) {
    unsigned n = need & 0xff;
    if (!n) continue;
    ports_advance(&o->bank[b], o->ports, now);
    last = later(last, read_bank(o, b, n, end));
  }
  o->entered = enters;
  o->leaves = enters + (last - end);
  o->read_by = last + 1;
  o->stats->rf_stalls += last - end;
  return enters - 1; /* Control is free when this one enters Allocate */
}

/* A single register, as nearly all addresses are. */
static bool read_one(struct operand_path *o, unsigned bank, uint64_t now, unsigned window)
{
  struct ports *r = &o->bank[bank];
  ports_advance(r, o->ports, now);
  for (unsigned p = 0; p < o->ports; p++) {
    uint64_t open = ports_open(r, p, now, window);
    if (!open) continue;
    r->taken[p] |= open & -open;
    o->stats->rf_reads++;
    return true;
  }
  return false;
}

bool operand_read_queued(struct operand_path *o, const struct inst *in, uint64_t now,
                         unsigned window)
{
  enum { ADDRESS_SLOT = 0 };
  bank_counts need = 0;
  unsigned reads = 0;
  for (const struct operand *s = in->src, *end = s + in->n_src; s < end; s++) {
    if (s->file != FILE_R || (in->mem.space != MEM_NONE && s->slot != ADDRESS_SLOT)) continue;
    for (unsigned k = 0; k < s->width; k++) need += one_in((s->index + k) & (o->banks - 1));
    reads += s->width;
  }
  if (!reads || o->perfect) return true;
  if (reads == 1) return read_one(o, next_bank(&need), now, window);
  uint64_t open[OPERAND_MAX_BANKS][PORTS_MAX];
  for (bank_counts rest = need; rest;) {
    unsigned b = next_bank(&rest), n = count_in(need, b);
    unsigned left = n > window * o->ports ? window * o->ports : n;
    ports_advance(&o->bank[b], o->ports, now);
    for (unsigned p = 0; p < o->ports; p++)
      open[b][p] = ports_lowest(ports_open(&o->bank[b], p, now, window), &left);
    if (left) return false;
  }
  for (bank_counts rest = need; rest;) {
    unsigned b = next_bank(&rest);
    for (unsigned p = 0; p < o->ports; p++) o->bank[b].taken[p] |= open[b][p];
  }
  o->stats->rf_reads += reads;
  return true;
}
