/* L0 instruction cache of one sub-core with its stream-buffer prefetcher (Huerta et al., MICRO
 * 2025).
 *
 *   params  icache.perfect, icache.kept, l0i.bytes, l0i.ways, l0i.line, l0i.stream_lines
 *   rule    a miss in L0 that also misses the head of the stream buffer restarts the buffer at the
 *           next line; a hit on the head moves that line into L0 and the buffer requests one more.
 *           Lines in the buffer enter L0 only on demand. A restart at the line the buffer would
 *           request anyway is ignored. Lines of a stream that is dropped do not hold up the miss that
 *           dropped it, unless they are on the link already.
 *   callers fetch.c asks for lines (l0i_fetch); the box has no cycle of its own
 *   Times are computed when a line is requested, or, when it has to come from L2, when it is there (l0i_arrived).
 *   Emptied when a kernel comes to an idle GPU, unless icache.kept.
 */
#ifndef WS_TIME_SM_L0I_H
#define WS_TIME_SM_L0I_H

#include "base/arena.h"
#include "time/sm/l1i.h"

enum { L0I_STREAM_MAX = 64 };

struct l0i_way {
  uint64_t line; /* tag + 1; 0 = invalid */
  uint64_t used;
  uint64_t valid_at;
};

struct l0i {
  bool perfect, kept;
  unsigned n_sets, n_ways, line_shift, client, stream_lines;
  struct l0i_way *way;
  bool filled; /* a line has come since the last start: short launches leave most SMs as they were */
  uint64_t stamp;
  struct l0i_way *last; /* way of the last fetch: straight-line code stays in it */
  struct {
    uint64_t line, valid_at;
  } stream[L0I_STREAM_MAX]; /* ring */
  unsigned stream_head, stream_n;
  bool lost_way;        /* a line on its way has lost its place, and a warp waits for it all the same */
  uint64_t stream_next; /* next line to prefetch, 0: not streaming */
  struct l1i *l1i;
  struct sm_stats *stats;
};

void l0i_init(struct l0i *, struct arena *, const struct params *, unsigned client, struct l1i *,
              struct sm_stats *);
void l0i_start(struct l0i *);

static inline uint64_t l0i_line(const struct l0i *c, uint64_t pc)
{
  return pc >> c->line_shift;
}

/* A line that was on its way from L2 can be read from cycle `at` on. */
void l0i_arrived(struct l0i *, uint64_t line, uint64_t at);

/* l0i_fetch of a line that is not the one fetched last. */
uint64_t l0i_fetch_other(struct l0i *, uint64_t line, uint64_t now);

/* Cycle from which the instruction at pc can be read: <= now on a hit. A miss is requested; L1I_ON_ITS_WAY: the
 * cycle is not known before l0i_arrived. */
static inline uint64_t l0i_fetch(struct l0i *c, uint64_t pc, uint64_t now)
{
  uint64_t line = l0i_line(c, pc);
  return c->last && c->last->line == line + 1 ? c->last->valid_at : l0i_fetch_other(c, line, now);
}

/* The instruction's line is in the cache and can be read. */
bool l0i_readable(struct l0i *, uint64_t pc, uint64_t now);

#endif
