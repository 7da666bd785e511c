/* A counter per warp of a sub-core, by its place in the warp table. What was counted lately lies in bytes
 * side by side: to count for many warps costs what it costs to count for one. */
#ifndef WS_TIME_SM_TALLY_H
#define WS_TIME_SM_TALLY_H

#include <stdint.h>
#include <string.h>

enum { TALLY_WARPS = 16, TALLY_WORDS = TALLY_WARPS / 8, TALLY_BYTE = 255 };

struct tally {
  unsigned added; /* no byte is greater */
  uint64_t bytes[TALLY_WORDS];
  uint64_t rest[TALLY_WARPS];
};

/* Bit i of eight bits as byte i, 0 or 1. */
static inline uint64_t tally_spread(uint32_t bits)
{
  uint64_t one_each = bits * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
  return (one_each + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

static inline uint64_t tally_byte(const struct tally *t, unsigned place)
{
  return t->bytes[place / 8] >> place % 8 * 8 & TALLY_BYTE;
}

/* Makes the bytes 0. */
static inline void tally_spill(struct tally *t)
{
  for (unsigned i = 0; i < TALLY_WARPS; i++) t->rest[i] += tally_byte(t, i);
  memset(t->bytes, 0, sizeof t->bytes);
  t->added = 0;
}

/* Counts `times` for each of `places`, a bit per place. */
static inline void tally_add(struct tally *t, uint32_t places, uint64_t times)
{
  if (t->added + times > TALLY_BYTE) {
    tally_spill(t);
    if (times > TALLY_BYTE) {
      for (unsigned i = 0; i < TALLY_WARPS; i++) t->rest[i] += (places >> i & 1) * times;
      return;
    }
  }
  t->added += (unsigned)times;
  for (unsigned k = 0; k < TALLY_WORDS; k++) t->bytes[k] += tally_spread(places >> 8 * k & 0xff) * times;
}

/* Returns the counter of a place, which becomes 0. */
static inline uint64_t tally_take(struct tally *t, unsigned place)
{
  uint64_t count = t->rest[place] + tally_byte(t, place);
  t->rest[place] = 0;
  t->bytes[place / 8] &= ~((uint64_t)TALLY_BYTE << place % 8 * 8);
  return count;
}

/* A warp comes into `place`, those from there on move down. */
static inline void tally_insert(struct tally *t, unsigned place)
{
  tally_spill(t);
  memmove(&t->rest[place + 1], &t->rest[place], (TALLY_WARPS - 1 - place) * sizeof t->rest[0]);
  t->rest[place] = 0;
}

/* The warp in `place` goes, those behind it move up. */
static inline void tally_remove(struct tally *t, unsigned place)
{
  tally_spill(t);
  memmove(&t->rest[place], &t->rest[place + 1], (TALLY_WARPS - 1 - place) * sizeof t->rest[0]);
  t->rest[TALLY_WARPS - 1] = 0;
}

#endif
