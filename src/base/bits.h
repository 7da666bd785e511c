/* Bit fields of words up to 128 bits, bit 0 = least significant bit of the first byte. */
#ifndef WS_BASE_BITS_H
#define WS_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

struct word128 {
  uint64_t lo, hi;
};

static inline uint64_t bits_ones(unsigned width)
{
  return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

/* Bits [pos, pos+width) of w; width 1..64, pos+width <= 128. */
static inline uint64_t bits_get(struct word128 w, unsigned pos, unsigned width)
{
  uint64_t v = pos >= 64 ? w.hi >> (pos - 64) : w.lo >> pos;
  if (pos < 64 && pos + width > 64) v |= w.hi << (64 - pos);
  return v & bits_ones(width);
}

/* ORs v into bits [pos, pos+width); v must fit, the bits must be zero before. */
static inline void bits_or(struct word128 *w, unsigned pos, unsigned width, uint64_t v)
{
  v &= bits_ones(width);
  if (pos >= 64) {
    w->hi |= v << (pos - 64);
    return;
  }
  w->lo |= v << pos;
  if (pos + width > 64) w->hi |= v >> (64 - pos);
}

/* Sign-extends the low `width` bits of v. */
static inline int64_t bits_sext(uint64_t v, unsigned width)
{
  return (int64_t)(v << (64 - width)) >> (64 - width);
}

static inline unsigned bits_count(uint64_t v)
{
#ifdef __POPCNT__
  return (unsigned)__builtin_popcountll(v);
#else /* the compiler would call a table look-up of its library */
#ifdef __x86_64__
  if (__builtin_cpu_supports("popcnt")) {
    uint64_t n;
    __asm__("popcnt %1, %0" : "=r"(n) : "r"(v) : "cc");
    return (unsigned)n;
  }
#endif
  v -= v >> 1 & 0x5555555555555555ull;
  v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
  return (unsigned)(((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56);
#endif
}

/* Index of the lowest set bit; v must not be 0. */
static inline unsigned bits_first(uint64_t v)
{
  return (unsigned)__builtin_ctzll(v);
}

#endif
