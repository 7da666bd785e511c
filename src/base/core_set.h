/* A set of cores of a GPU, by number: those that a launch may run on. */
#ifndef WS_BASE_CORE_SET_H
#define WS_BASE_CORE_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { CORE_SET_MAX = 1024, CORE_SET_WORDS = CORE_SET_MAX / 64 };

struct core_set {
  uint64_t word[CORE_SET_WORDS];
};

static inline bool core_set_has(const struct core_set *s, unsigned core)
{
  return s->word[core / 64] >> core % 64 & 1;
}

static inline void core_set_add(struct core_set *s, unsigned core)
{
  s->word[core / 64] |= UINT64_C(1) << core % 64;
}

static inline unsigned core_set_count(const struct core_set *s)
{
  unsigned n = 0;
  for (unsigned i = 0; i < CORE_SET_WORDS; i++) n += (unsigned)__builtin_popcountll(s->word[i]);
  return n;
}

/* The core that is number i of them, from 0, in turn. The set is not empty. */
static inline unsigned core_set_at(const struct core_set *s, unsigned i)
{
  unsigned left = i % core_set_count(s), core = 0;
  for (;; core++)
    if (core_set_has(s, core) && left-- == 0) return core;
}

#endif
