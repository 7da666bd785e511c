/* Reservations of the ports of one register-file bank for the next 64 cycles. Cycles beyond them are
 * free. Every call names a cycle not before the last one advanced to. */
#ifndef WS_TIME_SM_PORTS_H
#define WS_TIME_SM_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

enum { PORTS_WINDOW = 64, PORTS_MAX = 8 };

struct ports {
  uint64_t base;             /* cycle of bit 0 */
  uint64_t taken[PORTS_MAX]; /* per port, bit c: in use in cycle base + c */
};

/* Forgets the cycles before `now`. */
static inline void ports_advance(struct ports *r, unsigned n_ports, uint64_t now)
{
  if (now <= r->base) return;
  uint64_t steps = now - r->base;
  unsigned p = 0;
  r->base = now;
  do r->taken[p] = steps < PORTS_WINDOW ? r->taken[p] >> steps : 0;
  while (++p < n_ports);
}

/* Free cycles of port p in [at, at + window), bit 0 = cycle `at`; window <= 63. */
static inline uint64_t ports_open(const struct ports *r, unsigned p, uint64_t at, unsigned window)
{
  uint64_t shift = at - r->base, all = ((uint64_t)1 << window) - 1;
  return shift < PORTS_WINDOW ? ~(r->taken[p] >> shift) & all : all;
}

/* The lowest bits of `open`, as many as *need says, which counts down. */
static inline uint64_t ports_lowest(uint64_t open, unsigned *need)
{
  uint64_t got = 0;
  for (; *need && open; --*need) {
    got |= open & -open;
    open &= open - 1;
  }
  return got;
}

static inline void ports_take(struct ports *r, unsigned p, uint64_t cycle)
{
  if (cycle - r->base < PORTS_WINDOW) r->taken[p] |= (uint64_t)1 << (cycle - r->base);
}

/* The same of the n cycles from `first` on. */
static inline void ports_take_run(struct ports *r, unsigned p, uint64_t first, unsigned n)
{
  if (first - r->base < PORTS_WINDOW) r->taken[p] |= bits_ones(n) << (first - r->base);
}

/* Takes the first free port cycle from `at` on and returns it. */
static inline uint64_t ports_take_first(struct ports *r, unsigned n_ports, uint64_t at)
{
  uint64_t best = r->base + PORTS_WINDOW;
  unsigned port = 0;
  if (at >= best) return at;
  for (unsigned p = 0; p < n_ports; p++) {
    uint64_t open = ~r->taken[p] >> (at - r->base);
    uint64_t c = open ? at + (unsigned)__builtin_ctzll(open) : r->base + PORTS_WINDOW;
    if (c >= best) continue;
    best = c;
    port = p;
    if (best == at) break;
  }
  ports_take(r, port, best);
  return best;
}

#endif
