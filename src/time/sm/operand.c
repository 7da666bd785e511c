#include "time/sm/operand.h"

#include <string.h>

#include "base/bug.h"

void operand_init(struct operand_path *o, const struct params *p, struct sm_stats *stats)
{
  *o = (struct operand_path){.banks = p->regfile_banks,
                             .ports = p->regfile_read_ports,
                             .read_cycles = p->regfile_read_cycles,
                             .cache = p->regfile_cache,
                             .stats = stats};
  BUG_ON(o->banks > OPERAND_MAX_BANKS);
}

/* Forgets reservations before cycle `now`. */
static void advance(struct operand_path *o, uint64_t now)
{
  if (now <= o->base) return;
  uint64_t steps = now - o->base;
  o->base = now;
  if (steps >= OPERAND_WINDOW) {
    memset(o->used, 0, sizeof o->used);
    return;
  }
  for (uint64_t c = now - steps; c < now; c++)
    for (unsigned b = 0; b < o->banks; b++) o->used[b][c % OPERAND_WINDOW] = 0;
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
      unsigned reg = s->index + k, bank = reg % o->banks, j = 0;
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

/* Ports of bank b free in cycles [from, from + window). */
static unsigned free_ports(const struct operand_path *o, unsigned b, uint64_t from, unsigned window)
{
  unsigned n = 0;
  for (unsigned k = 0; k < window; k++) n += o->ports - o->used[b][(from + k) % OPERAND_WINDOW];
  return n;
}

static bool fits(const struct operand_path *o, const unsigned need[], uint64_t from,
                 unsigned window)
{
  for (unsigned b = 0; b < o->banks; b++)
    if (need[b] > free_ports(o, b, from, window)) return false;
  return true;
}

static void reserve(struct operand_path *o, const unsigned need[], uint64_t from)
{
  for (unsigned b = 0; b < o->banks; b++)
    for (unsigned left = need[b], k = 0; left; k++) {
      uint8_t *u = &o->used[b][(from + k) % OPERAND_WINDOW];
      while (*u < o->ports && left) {
        ++*u;
        left--;
      }
    }
}

uint64_t operand_issue(struct operand_path *o, const struct inst *in, unsigned warp, uint64_t now)
{
  unsigned need[OPERAND_MAX_BANKS] = {0};
  unsigned widest = count_reads(o, in, warp, need), window = o->read_cycles, most = 0;
  if (in->pipe == PIPE_TENSOR && widest >= 4)
    window *= 2; /* published simulator of Huerta et al., MICRO 2025 */
  for (unsigned b = 0; b < o->banks; b++) {
    o->stats->rf_reads += need[b];
    if (need[b] > most) most = need[b];
  }
  /* An operand list wider than its window reads on beyond it. */
  if (most > window * o->ports) window = (most + o->ports - 1) / o->ports;
  uint64_t enters = now + 2 > o->leaves + 1 ? now + 2 : o->leaves + 1, leaves = enters;
  advance(o, now);
  while (!fits(o, need, leaves + 1, window)) leaves++;
  BUG_ON(leaves + 1 + window - now >= OPERAND_WINDOW);
  reserve(o, need, leaves + 1);
  o->leaves = leaves;
  o->stats->rf_stalls += leaves - enters;
  return enters - 1; /* Control is free when this one enters Allocate */
}
