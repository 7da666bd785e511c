/* L1 instruction and constant cache of one SM, behind an arbiter that serves the L0 caches of the
 * four sub-cores (Huerta et al., MICRO 2025).
 *
 *   params  l1i.bytes, l1i.ways, l1i.latency and l1i.miss_latency (request to line in L0 when L1
 *           hits, and when L2 does), l1i.line_interval, l1i.miss_line_interval (between lines
 *           streamed to one L0)
 *   rule    one request per cycle
 *   Times are computed when the request is made. Emptied when a kernel starts.
 *   not modelled: misses always hit L2 and take no bandwidth from it
 */
#ifndef WS_TIME_SM_L1I_H
#define WS_TIME_SM_L1I_H

#include <stdint.h>

#include "base/arena.h"
#include "config/params.h"
#include "time/sm/sm_stats.h"

enum { L1I_LINE = 128, L1I_CLIENTS = 8 };

struct l1i_way {
  uint64_t line; /* tag + 1; 0 = invalid */
  uint64_t used;
  uint64_t valid_at;
};

struct l1i {
  unsigned latency, miss_latency, line_interval, miss_line_interval; /* params */
  unsigned n_sets, n_ways;
  struct l1i_way *way;
  uint64_t stamp;
  uint64_t free_at;                /* arbiter */
  uint64_t stream_at[L1I_CLIENTS]; /* last arrival at each L0 */
  struct sm_stats *stats;
};

void l1i_init(struct l1i *, struct arena *, const struct params *, struct sm_stats *);
void l1i_start(struct l1i *);

/* Requests a line (address / 128, a space of their own for constants: l1i_const_line) for sub-core
 * `client`; returns the cycle from which L0 has it. */
uint64_t l1i_request(struct l1i *, uint64_t line, unsigned client, uint64_t now);

/* Nobody wants the lines any more that would have arrived at the L0 of `client` in cycle `arrive` and later. */
void l1i_forget(struct l1i *, unsigned client, uint64_t arrive);

static inline uint64_t l1i_const_line(unsigned bank, uint32_t offset)
{
  return (uint64_t)1 << 60 | (uint64_t)bank << 40 | offset / L1I_LINE;
}

#endif
