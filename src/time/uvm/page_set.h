/* A set of the pages of a block of managed memory (uvm.h): 512 of 4 KiB are 2 MiB. */
#ifndef WS_TIME_UVM_PAGE_SET_H
#define WS_TIME_UVM_PAGE_SET_H

#include <stdbool.h>
#include <stdint.h>

enum {
  UVM_PAGE_BITS = 12,
  UVM_BLOCK_BITS = 21,
  UVM_BLOCK_PAGES = 1 << (UVM_BLOCK_BITS - UVM_PAGE_BITS),
  UVM_LEAF_PAGES = 16, /* a big page of the GPU, 64 KiB: the leaves of the density tree */
  PAGE_SET_WORDS = UVM_BLOCK_PAGES / 64,
};

struct page_set {
  uint64_t word[PAGE_SET_WORDS];
};

static inline bool page_set_has(const struct page_set *s, unsigned page)
{
  return s->word[page / 64] >> page % 64 & 1;
}

static inline void page_set_add(struct page_set *s, unsigned page)
{
  s->word[page / 64] |= UINT64_C(1) << page % 64;
}

static inline void page_set_add_range(struct page_set *s, unsigned first, unsigned n)
{
  for (unsigned i = first; i < first + n; i++) page_set_add(s, i);
}

static inline void page_set_join(struct page_set *s, const struct page_set *more)
{
  for (unsigned i = 0; i < PAGE_SET_WORDS; i++) s->word[i] |= more->word[i];
}

static inline void page_set_remove(struct page_set *s, const struct page_set *gone)
{
  for (unsigned i = 0; i < PAGE_SET_WORDS; i++) s->word[i] &= ~gone->word[i];
}

/* Of s, what is in `other`, too. */
static inline struct page_set page_set_both(const struct page_set *s, const struct page_set *other)
{
  struct page_set both;
  for (unsigned i = 0; i < PAGE_SET_WORDS; i++) both.word[i] = s->word[i] & other->word[i];
  return both;
}

static inline unsigned page_set_count(const struct page_set *s)
{
  unsigned n = 0;
  for (unsigned i = 0; i < PAGE_SET_WORDS; i++) n += (unsigned)__builtin_popcountll(s->word[i]);
  return n;
}

static inline bool page_set_empty(const struct page_set *s)
{
  uint64_t any = 0;
  for (unsigned i = 0; i < PAGE_SET_WORDS; i++) any |= s->word[i];
  return !any;
}

/* The next run of pages in it from *first on: its length, *first becomes its first page. 0: there is none. */
static inline unsigned page_set_run(const struct page_set *s, unsigned *first)
{
  unsigned n = 0;
  while (*first < UVM_BLOCK_PAGES && !page_set_has(s, *first)) ++*first;
  while (*first + n < UVM_BLOCK_PAGES && page_set_has(s, *first + n)) n++;
  return n;
}

#endif
