/* Fetch and decode of one sub-core: fills the instruction buffers (Huerta et al., MICRO 2025).
 *
 *   params  fetch.ibuffer_entries (3), fetch.stages (2: fetch, decode; then the entry can issue)
 *   cycle   one instruction per cycle, for the warp that issued last, unless its buffer (in-flight
 *           requests included) is full; then for the youngest warp with a free entry
 *   sizes   an instruction per cycle, whatever its size; one that lies in two lines (struct code_view) takes two
 *   order   before issue: an entry freed in a cycle is fetched for in the next, so that with two
 *           entries a lone warp issues two instructions in three cycles (section 5.2)
 *   ports   the L0 instruction cache says from which cycle a line can be read; the warp waits for
 *           it, or, while the line is on its way from L2, until fetch_arrived
 */
#ifndef WS_TIME_SM_FETCH_H
#define WS_TIME_SM_FETCH_H

#include "config/params.h"
#include "time/sm/l0i.h"
#include "time/sm/warp.h"

struct fetch {
  unsigned depth, latency;
  uint16_t room; /* bit per warp slot: its buffer has a free entry */
  struct l0i *l0i;
};

void fetch_init(struct fetch *, const struct params *, struct l0i *);

/* True when an instruction was fetched; else *next is the first cycle in which one could be
 * (CYCLE_NEVER: not before a buffer drains). */
bool fetch_one(struct fetch *, struct warp_table *, unsigned last_issued, uint64_t now, uint64_t *next);
static inline bool fetch_cycle(struct fetch *f, struct warp_table *t, unsigned last_issued, uint64_t now,
                               uint64_t *next)
{
  *next = CYCLE_NEVER;
  return f->room && fetch_one(f, t, last_issued, now, next);
}

/* Drops the warp's buffer and restarts at pc, not before cycle `at`. */
void fetch_restart(struct fetch *, struct warp_table *, unsigned warp, uint64_t pc, uint64_t at);

/* A line of code (l0i_line) that was on its way from L2 can be read from cycle `at` on. True: warps waited for it. */
bool fetch_arrived(struct fetch *, struct warp_table *, uint64_t line, uint64_t at);

/* The issue stage took the head entry. */
static inline void fetch_pop(struct fetch *f, struct warp_table *t, unsigned warp)
{
  struct ibuffer *ib = &t->slot[warp].ib;
  ib->head = (uint8_t)((ib->head + 1) % IBUFFER_MAX);
  ib->n--;
  f->room |= (uint16_t)(1u << warp);
}

/* The warp is gone. */
void fetch_stop(struct fetch *, unsigned warp);

#endif
