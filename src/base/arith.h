/* Small arithmetic that many blocks need, each once. Nothing here looks for overflow: who rounds numbers of guests
 * up checks them first (docs/guest-numbers.md). */
#ifndef WS_BASE_ARITH_H
#define WS_BASE_ARITH_H

#include <stdint.h>

/* Of two times, cycles or amounts. */
static inline uint64_t earlier(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* Parts of `unit`, not 0, that n has, the last one perhaps in part. */
static inline uint64_t div_up(uint64_t n, uint64_t unit)
{
  return (n + unit - 1) / unit;
}

/* The smallest multiple of `unit`, not 0, that is at least n. */
static inline uint64_t round_up(uint64_t n, uint64_t unit)
{
  return div_up(n, unit) * unit;
}

/* As round_up, without a division, for a power of two. */
static inline uint64_t align_up(uint64_t n, uint64_t power)
{
  return (n + power - 1) & ~(power - 1);
}

#endif
