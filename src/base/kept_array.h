/* An array of equal parts, all zero when it is begun, of which few are touched: whoever is done with it has these
 * cleared, and the memory is there for the next one. For launches, which need much room and mostly touch little of it:
 * to map it, to touch its pages for the first time and to unmap it is most of what a short one costs the host.
 *
 * The memory belongs to the heap of the thread that began the array. An array of which too much was touched is given
 * back to the host, which then clears it for less.
 */
#ifndef WS_BASE_KEPT_ARRAY_H
#define WS_BASE_KEPT_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Zeroed: an empty one. */
struct kept_array {
  struct arena arena;      /* the bytes, nothing else */
  unsigned char *data;
  size_t bytes;            /* that it has room for */
  uint64_t *touched;       /* a bit for each part */
  size_t n_words, cap_words;
  size_t n, part;          /* parts, bytes of one */
  size_t cleared;          /* bytes, since the memory is there */
};

enum { KEPT_WORD_BITS = 64 };

/* n parts of so many bytes, aligned to 128 bytes as a whole. What was there before must have been ended. */
void *kept_begin(struct kept_array *, size_t n, size_t part);
/* The first `head` bytes of each part that was touched are cleared; behind them nothing was written. */
void kept_end(struct kept_array *, size_t head);
/* Its memory goes back to the host; then it is empty. */
void kept_free(struct kept_array *);
/* The first part from number `from` on that was touched; n: none. */
size_t kept_next(const struct kept_array *, size_t from);

/* Before a part is written. Several threads may. */
static inline void kept_touch(struct kept_array *k, size_t part)
{
  uint64_t *word = &k->touched[part / KEPT_WORD_BITS], bit = (uint64_t)1 << part % KEPT_WORD_BITS;
  if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

#endif
