/* The sequences, once for the host (C) and for kernels (CUDA C++). Sources: Philox4x32-10: Salmon et al., Parallel
 * Random Numbers: As Easy as 1, 2, 3 (SC 2011). XORWOW: Marsaglia, Xorshift RNGs (2003). MRG32k3a: L'Ecuyer, Good
 * Parameters and Implementations for Combined Multiple Recursive Random Number Generators (1999). MT19937:
 * Matsumoto, Nishimura (1998).
 */
#ifndef WS_RAND_SEQUENCES_H
#define WS_RAND_SEQUENCES_H

#include "libs/kernels/rand_args.h"

#ifdef __CUDACC__
#define RAND_FN static inline __host__ __device__
#else
#define RAND_FN static inline
#endif

struct philox_block {
  uint32_t word[4];
};

RAND_FN struct philox_block philox(struct philox_block c, uint32_t k0, uint32_t k1)
{
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53u * c.word[0], b = (uint64_t)0xCD9E8D57u * c.word[2];
    const struct philox_block next = {{(uint32_t)(b >> 32) ^ c.word[1] ^ k0, (uint32_t)b,
                                       (uint32_t)(a >> 32) ^ c.word[3] ^ k1, (uint32_t)a}};
    c = next;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/* Word `position` of the sequence of a seed: the key is the seed, the counter position / 4. */
RAND_FN uint32_t philox_word(uint64_t seed, uint64_t position)
{
  const struct philox_block c = {{(uint32_t)(position >> 2), (uint32_t)(position >> 34), 0, 0}};
  return philox(c, (uint32_t)seed, (uint32_t)(seed >> 32)).word[position & 3];
}

/* s: x, y, z, w, v, d */
RAND_FN uint32_t xorwow_next(uint32_t *s)
{
  const uint32_t t = s[0] ^ (s[0] >> 2);
  for (int i = 0; i < 4; i++) s[i] = s[i + 1];
  s[4] = (s[4] ^ (s[4] << 4)) ^ (t ^ (t << 1));
  s[5] += 362437;
  return s[5] + s[4];
}

enum { MRG_A12 = 1403580, MRG_A13 = 810728, MRG_A21 = 527612, MRG_A23 = 1370589 };
#define MRG_M1 UINT64_C(4294967087)
#define MRG_M2 UINT64_C(4294944443)

/* s: three of the first component, three of the second, the oldest first. 1 .. MRG_M1. */
RAND_FN uint32_t mrg32k3a_next(uint32_t *s)
{
  const uint64_t p = (MRG_A12 * (uint64_t)s[1] + MRG_A13 * (MRG_M1 - s[0])) % MRG_M1;
  const uint64_t q = (MRG_A21 * (uint64_t)s[5] + MRG_A23 * (MRG_M2 - s[3])) % MRG_M2;
  s[0] = s[1], s[1] = s[2], s[2] = (uint32_t)p;
  s[3] = s[4], s[4] = s[5], s[5] = (uint32_t)q;
  return (uint32_t)(p > q ? p - q : p + MRG_M1 - q);
}

RAND_FN uint32_t lane_next(uint32_t kind, uint32_t *s)
{
  return kind == WS_XORWOW ? xorwow_next(s) : mrg32k3a_next(s);
}

/* Word i of the next 624, of words i, i + 1 and i + 397 around the circle. */
RAND_FN uint32_t mt_twist(uint32_t at, uint32_t next, uint32_t far)
{
  const uint32_t y = (at & 0x80000000u) | (next & 0x7fffffffu);
  return far ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
}
RAND_FN uint32_t mt_temper(uint32_t y)
{
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

/* Point `i` of a dimension, in the order of the Gray code. */
RAND_FN uint64_t sobol_point(const uint64_t *directions, uint64_t i)
{
  uint64_t x = directions[WS_SOBOL_BITS], gray = i ^ (i >> 1);
  for (int bit = 0; gray; bit++, gray >>= 1)
    if (gray & 1) x ^= directions[bit];
  return x;
}

#endif
