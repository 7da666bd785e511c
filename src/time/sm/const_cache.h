/* L0 constant caches (Huerta et al., MICRO 2025): one per sub-core for constant operands of
 * fixed-latency instructions (L0 FL), one per SM for LDC (L0 VL). They are separate: an LDC does
 * not warm L0 FL. Both miss into the L1 instruction and constant cache.
 *
 *   params  const.fl_bytes, const.vl_bytes, const.ways, const.line, const.perfect
 *   callers issue.c for operands, mem_access.c for LDC (const_cache_read)
 *   Times are computed when a line is requested, or when L1 has it from L2. Emptied when a kernel comes to an idle GPU.
 */
#ifndef WS_TIME_SM_CONST_CACHE_H
#define WS_TIME_SM_CONST_CACHE_H

#include "base/arena.h"
#include "time/sm/l1i.h"

struct const_way {
  uint64_t line; /* tag + 1; 0 = invalid */
  uint64_t used, valid_at;
  uint64_t from; /* the line of L1 that it was asked of */
};

struct const_cache {
  bool perfect;
  unsigned n_sets, n_ways, line_shift, client;
  struct const_way *way, *last; /* last: read last, NULL: none */
  bool filled; /* a line has come since the last start */
  uint64_t stamp;
  struct l1i *l1i;
  struct sm_stats *stats;
};

void const_cache_init(struct const_cache *, struct arena *, const struct params *, unsigned bytes,
                      unsigned client, struct l1i *, struct sm_stats *);
void const_cache_start(struct const_cache *);

/* Cycle from which c[bank][offset] can be read: <= now on a hit. A miss is requested. L1I_ON_ITS_WAY: L1 misses it,
 * too, and says when it comes (const_cache_arrived). */
uint64_t const_cache_look_up(struct const_cache *, unsigned bank, uint32_t offset, uint64_t now);
static inline uint64_t const_cache_read(struct const_cache *c, unsigned bank, uint32_t offset, uint64_t now)
{
  uint64_t tag = ((uint64_t)bank << 32 | offset >> c->line_shift) + 1;
  if (c->last && c->last->line == tag) return c->last->valid_at; /* it is the youngest already */
  return const_cache_look_up(c, bank, offset, now);
}

/* A line of L1 reaches this cache in cycle `at`. */
void const_cache_arrived(struct const_cache *, uint64_t line, uint64_t at);

#endif
