/* L1 instruction and constant cache of one SM, behind an arbiter that serves the L0 caches of the
 * four sub-cores (Huerta et al., MICRO 2025).
 *
 *   params  l1i.bytes, l1i.ways, l1i.stream_lines, l1i.const_fetch_bytes, l1i.latency and l1i.miss_latency (request to
 *           line in L0 when L1 hits, and when L2 does), l1i.mshr_entries, l1i.line_interval, l1i.miss_line_interval
 *           (between lines streamed to one L0)
 *   rule    one request per cycle; a constant that misses brings its neighbours, l1i.const_fetch_bytes in all; with a
 *           line of code L1 has those behind it, l1i.stream_lines of them, on their way
 *   in      requests of the L0 caches; answers of L2 (l1i_fill)
 *   out     misses, through the SM's port, l1i.mshr_entries at once, the others in order behind them; lines for the
 *           L0 caches
 *   Times of hits are computed when the request is made, those of lines on their way from L2 when they come: a line
 *   reaches L0 what l1i.miss_latency has beyond the way to L2 and back (a load's, less an L1 hit) behind its answer.
 *   Emptied when a kernel comes to an idle GPU; icache.kept: only of constants.
 *   not modelled: TLB of code and constants
 */
#ifndef WS_TIME_SM_L1I_H
#define WS_TIME_SM_L1I_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "config/params.h"
#include "time/sm/sm_stats.h"

enum { L1I_LINE = 128, L1I_CLIENTS = 8 };
#define L1I_ON_ITS_WAY UINT64_MAX /* a time: not known before L2 has answered */

struct l1i_way {
  uint64_t line; /* tag + 1; 0 = invalid */
  uint64_t used;
  uint64_t valid_at;
};

/* A line that L1 does not have. */
struct l1i_miss {
  uint64_t line, name; /* here and in messages */
  bool sent;
  uint8_t clients;             /* bit i: client i waits for it … */
  uint64_t asked[L1I_CLIENTS]; /* … and has asked in this cycle */
};

struct l1i_ports {
  uint64_t (*name)(void *ctx, uint64_t line);             /* by which L2 knows a line of constants */
  void (*request)(void *ctx, uint64_t name, uint64_t at); /* ask L2 in cycle `at` */
  /* The line reaches the L0 of this client in cycle `at`, which is a later one. */
  void (*arrived)(void *ctx, unsigned client, uint64_t line, uint64_t at);
  void *ctx;
};

struct l1i {
  unsigned latency, miss_latency, line_interval, miss_line_interval, mshr_entries; /* params */
  bool kept;             /* code stays for the next kernel; constants do not */
  unsigned const_lines;  /* that a miss of a constant brings */
  unsigned stream_lines; /* param */
  unsigned fill_latency; /* L2's answer to line in L0 */
  unsigned n_sets, n_ways;
  struct l1i_way *way;
  bool filled; /* a line has come since the last start */
  uint64_t stamp;
  uint64_t free_at;                /* arbiter */
  uint64_t stream_at[L1I_CLIENTS]; /* last arrival at each L0 */
  struct l1i_miss *miss;           /* oldest first */
  unsigned n_misses, misses_cap, n_sent;
  struct l1i_ports ports;
  struct sm_stats *stats;
};

void l1i_init(struct l1i *, struct arena *, const struct params *, struct l1i_ports, struct sm_stats *);
void l1i_free(struct l1i *);
void l1i_start(struct l1i *);

/* Requests a line (address / 128, a space of their own for constants: l1i_const_line) for sub-core
 * `client`, or the SM's L0 VL behind these; returns the cycle from which L0 has it, or L1I_ON_ITS_WAY: the client is
 * told. */
uint64_t l1i_request(struct l1i *, uint64_t line, unsigned client, uint64_t now);

/* L2 has answered. */
void l1i_fill(struct l1i *, uint64_t name, uint64_t now);

/* Nobody wants the lines any more that would have arrived at the L0 of `client` in cycle `arrive` and later. */
void l1i_forget(struct l1i *, unsigned client, uint64_t arrive);
/* Nobody wants this line, which is on its way, any more there. */
void l1i_forget_line(struct l1i *, unsigned client, uint64_t line);

#define L1I_CONST_LINE ((uint64_t)1 << 63)
enum { L1I_BANK_SHIFT = 40 };
static inline uint64_t l1i_const_line(unsigned bank, uint32_t offset)
{
  return L1I_CONST_LINE | (uint64_t)bank << L1I_BANK_SHIFT | offset / L1I_LINE;
}
static inline unsigned l1i_line_bank(uint64_t line)
{
  return (unsigned)((line & ~L1I_CONST_LINE) >> L1I_BANK_SHIFT);
}
static inline uint32_t l1i_line_offset(uint64_t line)
{
  return (uint32_t)line * L1I_LINE;
}

#endif
