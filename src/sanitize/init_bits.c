#include "sanitize/init_bits.h"

#include "base/bits.h"

/* Bits of a word from `bit` on, at most n. */
static uint64_t mask_of(unsigned bit, uint64_t n)
{
  const uint64_t ones = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
  return ones << bit;
}

bool init_bits_all(const uint64_t *bits, uint64_t from, uint64_t n)
{
  while (n) {
    const unsigned bit = (unsigned)(from % 64);
    const uint64_t mask = mask_of(bit, n), part = 64 - bit;
    if ((bits[from / 64] & mask) != mask) return false;
    if (n <= part) return true;
    from += part, n -= part;
  }
  return true;
}

uint64_t init_bits_fill(uint64_t *bits, uint64_t from, uint64_t n)
{
  uint64_t fresh = 0;
  while (n) {
    const unsigned bit = (unsigned)(from % 64);
    const uint64_t part = 64 - bit, mask = mask_of(bit, n), now = bits[from / 64];
    if ((now & mask) != mask) {
      fresh += bits_count(mask & ~now);
      bits[from / 64] = now | mask;
    }
    if (n <= part) break;
    from += part, n -= part;
  }
  return fresh;
}

void init_bits_clear(uint64_t *bits, uint64_t from, uint64_t n)
{
  for (uint64_t i = from; i < from + n; i++) bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

uint64_t init_bits_count(const uint64_t *bits, uint64_t from, uint64_t n)
{
  uint64_t sum = 0;
  while (n) {
    const unsigned bit = (unsigned)(from % 64);
    const uint64_t part = 64 - bit;
    sum += bits_count(bits[from / 64] & mask_of(bit, n));
    if (n <= part) break;
    from += part, n -= part;
  }
  return sum;
}

static bool get(const uint64_t *bits, uint64_t i)
{
  return bits[i / 64] >> (i % 64) & 1;
}

static void put(uint64_t *bits, uint64_t i, bool on)
{
  const uint64_t bit = UINT64_C(1) << (i % 64);
  bits[i / 64] = on ? bits[i / 64] | bit : bits[i / 64] & ~bit;
}

void init_bits_copy(uint64_t *to_bits, uint64_t to, const uint64_t *from_bits, uint64_t from, uint64_t n)
{
  if (to_bits == from_bits && to > from) {
    while (n--) put(to_bits, to + n, get(from_bits, from + n));
    return;
  }
  for (uint64_t i = 0; i < n; i++) put(to_bits, to + i, get(from_bits, from + i));
}
