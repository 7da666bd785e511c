/* Private to sanitize/: a bit for each byte of a piece of memory, set when somebody has written it. */
#ifndef WS_SANITIZE_INIT_BITS_H
#define WS_SANITIZE_INIT_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Words of 64 bits for so many bytes of memory. */
static inline uint64_t init_words(uint64_t bytes)
{
  return (bytes + 63) / 64;
}

/* Whether all of [from, from + n) is written; n > 0. */
bool init_bits_all(const uint64_t *bits, uint64_t from, uint64_t n);
/* How many of them were not yet. */
uint64_t init_bits_fill(uint64_t *bits, uint64_t from, uint64_t n);
/* How many of [from, from + n) are written. */
uint64_t init_bits_count(const uint64_t *bits, uint64_t from, uint64_t n);
/* As if nobody had written them. */
void init_bits_clear(uint64_t *bits, uint64_t from, uint64_t n);
/* The bits of n bytes from one place to another; they may overlap. */
void init_bits_copy(uint64_t *to_bits, uint64_t to, const uint64_t *from_bits, uint64_t from, uint64_t n);

#endif
