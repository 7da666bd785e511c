/* Tags of a set-associative cache: the line in each way, its valid and dirty sectors, and the order of use.
 * Data are not held.
 *
 *   look-up   a byte per way, a hash of its line: most ways need no other look
 *   victim    the way used longest ago; ways never used come first, in order of their number
 *   host      what look-up and replacement touch of a set but for one tag lies side by side (a host cache line
 *             for 16 ways): the tags of all caches of a GPU do not fit the caches of the host
 */
#ifndef WS_TIME_MEM_TAGS_H
#define WS_TIME_MEM_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bits.h"

enum { TAGS_NONE = UINT16_MAX };

struct tag_state {
  uint8_t sectors : 4, dirty : 4; /* masks: valid; to be written back */
};

struct tags {
  uint64_t *tag;      /* [set][way]: line + 1, when the way's signature is not 0: free */
  unsigned char *set; /* blocks of `stride` bytes: signatures, order of use, youngest first, states */
  unsigned n_sets, n_ways, max_ways;
  unsigned stride, order_at, state_at;
  bool clean; /* nothing was put in since it was emptied */
};

/* A place. */
struct tag_at {
  uint32_t set;
  uint16_t way; /* TAGS_NONE: the line is in no way of the set */
};

void tags_init(struct tags *, struct arena *, unsigned sets, unsigned ways);
/* Empties the cache; the first `ways` ways of each set are in use from now on. */
void tags_clear(struct tags *, unsigned ways);

/* Empties the ways whose line has none of these bits; they are the first to be used again. */
void tags_drop(struct tags *, uint64_t kept_bits);

static inline size_t tags_index(const struct tags *t, struct tag_at a)
{
  return (size_t)a.set * t->max_ways + a.way;
}

static inline struct tag_state *tags_state(const struct tags *t, struct tag_at a)
{
  return (struct tag_state *)(t->set + (size_t)a.set * t->stride + t->state_at) + a.way;
}

/* These sectors are valid, too. */
static inline void tags_fill(const struct tags *t, struct tag_at a, unsigned sectors)
{
  struct tag_state *w = tags_state(t, a);
  w->sectors = (w->sectors | sectors) & 0xf;
}

/* The line in a way that is used, … */
static inline uint64_t tags_line(const struct tags *t, struct tag_at a)
{
  return t->tag[tags_index(t, a)] - 1;
}

/* … as its signature says. */
static inline bool tags_used(const struct tags *t, struct tag_at a)
{
  return t->set[(size_t)a.set * t->stride + a.way] != 0;
}

/* Ways of a set, the one used last first. */
static inline uint16_t *tags_order(const struct tags *t, unsigned set)
{
  return (uint16_t *)(t->set + (size_t)set * t->stride + t->order_at);
}

static inline struct tag_at tags_oldest(const struct tags *t, unsigned set)
{
  return (struct tag_at){set, tags_order(t, set)[t->n_ways - 1]};
}

/* Never 0, which free ways have. */
static inline uint8_t tags_signature(uint64_t line)
{
  uint8_t s = (uint8_t)(line * 0x9e3779b97f4a7c15ull >> 56);
  return s ? s : 1;
}

static inline struct tag_at tags_find(const struct tags *t, unsigned set, uint64_t line)
{
  const uint64_t each_byte = 0x0101010101010101ull;
  const unsigned char *signature = t->set + (size_t)set * t->stride;
  const uint64_t *tag = t->tag + (size_t)set * t->max_ways, *word = (const uint64_t *)signature;
  uint8_t hash = tags_signature(line);
  uint64_t want = hash * each_byte;
  for (unsigned i = 0; 8 * i < t->n_ways; i++) {
    uint64_t x = word[i] ^ want; /* the high bit of each byte that is zero, and of some that are not */
    for (uint64_t m = (x - each_byte) & ~x & 0x80 * each_byte; m; m &= m - 1) {
      unsigned way = 8 * i + bits_first(m) / 8;
      if (signature[way] == hash && tag[way] == line + 1) return (struct tag_at){set, (uint16_t)way};
    }
  }
  return (struct tag_at){set, TAGS_NONE};
}

/* The way is used: it is the youngest now. */
void tags_use(struct tags *, struct tag_at);

/* The way holds this line from now on, no sector of it yet. */
void tags_replace(struct tags *, struct tag_at, uint64_t line);

#endif
