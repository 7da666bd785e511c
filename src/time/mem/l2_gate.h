/* The gate of an L2 slice whose lines CPUs may have in their caches, too (l2_rights.h): a request for a line to which
 * the GPU has not the right waits aside until it has.
 *
 *   in       each request that the slice would take: l2_gate_check; grants: l2_gate_grant
 *   out      asks (l2_rights_ask); requests that may go on: `ready`, which the slice takes before others
 *   rights   loads need the right to read, stores and atomics that to write; of each half of the line of which they
 *            touch something. What was granted once is good for the requests that waited for it, also when a CPU has
 *            taken the line again meanwhile: so everybody gets on
 *   order    requests for a half of a line go on in the order in which they came; others overtake those that wait
 *   room     so many requests wait; then the slice takes no other that would have to
 *   not its  code, local memory and lines of other address spaces: no CPU has them
 */
#ifndef WS_TIME_MEM_L2_GATE_H
#define WS_TIME_MEM_L2_GATE_H

#include "base/arena.h"
#include "time/mem/l2_rights.h"
#include "time/msg.h"

enum l2_gate_says {
  L2_GATE_PASS,
  L2_GATE_WAITS, /* the request is here now */
  L2_GATE_FULL,  /* not yet */
};

struct l2_parked {
  struct mem_req req;
  uint8_t ahead; /* sectors that DRAM was asked for meanwhile */
  picos since;
  uint32_t next;
  uint8_t halves, lack; /* of its line: it touches; it has no right to, yet */
  bool write;
};

/* A line of which somebody waits for a half. */
struct l2_gate_line {
  uint64_t line, local; /* as in mem_req */
  uint32_t next;        /* hash chain or free list */
  uint32_t first, last; /* who waits, oldest first */
  uint8_t read, write;  /* halves: that were asked for, to be read; to be written */
};

struct l2_gate {
  struct l2_rights *rights; /* NULL: there is no gate */
  uint32_t slice;
  struct l2_parked *parked;
  struct l2_gate_line *line;
  uint32_t *bucket;
  uint32_t n_buckets, free_parked, free_line, n_lines, n_parked, newest;
  uint32_t deaf; /* windows since something was granted */
  struct l2_parked *ready; /* ring of n_buckets places */
  uint32_t first_ready, n_ready;
};

/* room: requests that wait, a power of two. */
void l2_gate_init(struct l2_gate *, struct arena *, struct l2_rights *, uint32_t slice, uint32_t room);

/* *lost: sectors of its line whose half is the GPU's no longer; whoever asks first for it is told so. */
enum l2_gate_says l2_gate_check(struct l2_gate *, const struct mem_req *, picos now, unsigned *lost);
/* For the request that came last, which waits: DRAM was asked for these sectors. */
void l2_gate_asked_ahead(struct l2_gate *, unsigned sectors);
/* The first request that may go on, NULL: none; when it has, pop. */
static inline struct l2_parked *l2_gate_ready(const struct l2_gate *g)
{
  return g->n_ready ? &g->ready[g->first_ready] : NULL;
}
static inline void l2_gate_pop(struct l2_gate *g)
{
  BUG_ON(!g->n_ready);
  g->first_ready = (g->first_ready + 1) & (g->n_buckets - 1);
  g->n_ready--;
}

/* A right has come. True: the slice may take the bytes of `sectors` of the line `local` as its own: a CPU's cache gave
 * them. */
bool l2_gate_grant(struct l2_gate *, const struct l2_grant *, picos now, uint64_t *local, unsigned *sectors);
/* At the end of each window in which somebody waits: if nobody hears what is asked, all go on. */
void l2_gate_end_window(struct l2_gate *, picos to);

static inline bool l2_gate_waits(const struct l2_gate *g)
{
  return g->n_parked > 0;
}

#endif
