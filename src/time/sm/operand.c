#include "time/sm/operand.h"

#include "base/bug.h"

void operand_init(struct operand_path *o, const struct params *p, struct sm_stats *stats)
{
  *o = (struct operand_path){.banks = p->regfile_banks,
                             .ports = p->regfile_read_ports,
                             .read_cycles = p->regfile_read_cycles,
                             .cache = p->regfile_cache,
                             .perfect = p->regfile_perfect,
                             .stats = stats};
  BUG_ON(o->banks > OPERAND_MAX_BANKS || o->ports > PORTS_MAX);
}

/* True when the operand comes from the cache; keeps or drops the value by its reuse bit. */
static bool cached(struct operand_path *o, unsigned bank, const struct operand *s, unsigned reg,
                   unsigned warp)
{
  if (!o->cache || s->slot >= OPERAND_POSITIONS) return false;
  struct rfc_entry *e = &o->rfc[bank][s->slot];
  bool hit = e->valid && e->warp == warp && e->reg == reg;
  *e = (struct rfc_entry){(uint16_t)reg, (uint8_t)warp, s->reuse};
  return hit;
}

/* Port reads per bank. A register named twice is read once. */
static unsigned count_reads(struct operand_path *o, const struct inst *in, unsigned warp,
                            unsigned need[OPERAND_MAX_BANKS])
{
  uint16_t seen[INST_MAX_SRC * 8];
  unsigned n_seen = 0, widest = 1;
  for (unsigned i = 0; i < in->n_src; i++) {
    const struct operand *s = &in->src[i];
    if (s->file != FILE_R) continue;
    if (s->width > widest) widest = s->width;
    for (unsigned k = 0; k < s->width; k++) {
      unsigned reg = s->index + k, bank = reg & (o->banks - 1), j = 0;
      if (cached(o, bank, s, reg, warp)) {
        o->stats->rfc_hits++;
        continue;
      }
      while (j < n_seen && seen[j] != reg) j++;
      if (j < n_seen) continue;
      seen[n_seen++] = (uint16_t)reg;
      need[bank]++;
    }
  }
  return widest;
}

static void advance(struct operand_path *o, uint64_t now)
{
  for (unsigned b = 0; b < o->banks; b++) ports_advance(&o->bank[b], o->ports, now);
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
    for (unsigned k = 0; k < n; k++) ports_take(&o->bank[b], 0, last - k);
    return last;
  }
  for (unsigned k = 0; k < n; k++)
    ports_take(&o->bank[b], k % o->ports, last - cycles + 1 + k / o->ports);
  return last;
}

/* Nobody waits for ports. */
__attribute__((cold)) static uint64_t issue_perfect(struct operand_path *o, uint64_t now)
{
  o->leaves = now + 2 > o->leaves + 1 ? now + 2 : o->leaves + 1;
  o->read_by = o->leaves + o->read_cycles + 1;
  return o->leaves - 1;
}

uint64_t operand_issue(struct operand_path *o, const struct inst *in, unsigned warp, uint64_t now)
{
  if (o->perfect) return issue_perfect(o, now);
  unsigned need[OPERAND_MAX_BANKS] = {0};
  unsigned widest = count_reads(o, in, warp, need), window = o->read_cycles;
  if (in->pipe == PIPE_TENSOR && widest >= 4)
    window *= 2; /* published simulator of Huerta et al., MICRO 2025 */
  uint64_t enters = now + 2 > o->leaves + 1 ? now + 2 : o->leaves + 1;
  uint64_t end = enters + window, last = end;
  for (unsigned b = 0; b < o->banks; b++) {
    if (!need[b]) continue;
    ports_advance(&o->bank[b], o->ports, now);
    o->stats->rf_reads += need[b];
    uint64_t at = read_bank(o, b, need[b], end);
    if (at > last) last = at;
  }
  o->leaves = enters + (last - end);
  o->read_by = last + 1;
  o->stats->rf_stalls += last - end;
  return enters - 1; /* Control is free when this one enters Allocate */
}

bool operand_read_queued(struct operand_path *o, const struct inst *in, uint64_t now,
                         unsigned window)
{
  enum { ADDRESS_SLOT = 0 };
  unsigned need[OPERAND_MAX_BANKS] = {0}, reads = 0;
  for (unsigned i = 0; i < in->n_src; i++) {
    const struct operand *s = &in->src[i];
    if (s->file != FILE_R || (in->mem.space != MEM_NONE && s->slot != ADDRESS_SLOT)) continue;
    for (unsigned k = 0; k < s->width; k++) need[(s->index + k) & (o->banks - 1)]++;
    reads += s->width;
  }
  if (!reads || o->perfect) return true;
  advance(o, now);
  uint64_t open[OPERAND_MAX_BANKS][PORTS_MAX];
  for (unsigned b = 0; b < o->banks; b++) {
    unsigned left = need[b] > window * o->ports ? window * o->ports : need[b];
    for (unsigned p = 0; p < o->ports; p++)
      open[b][p] = ports_lowest(ports_open(&o->bank[b], p, now, window), &left);
    if (left) return false;
  }
  for (unsigned b = 0; b < o->banks; b++)
    for (unsigned p = 0; p < o->ports; p++) o->bank[b].taken[p] |= open[b][p];
  o->stats->rf_reads += reads;
  return true;
}
