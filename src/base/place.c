#include "base/place.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { LEAVES = 1 << (PLACE_ADDRESS_BITS - PLACE_LEAF_BITS), LEAF_PAGES = 1 << (PLACE_LEAF_BITS - PLACE_PAGE_BITS) };

struct places *places_new(void)
{
  struct places *p = mem_zeroed(1, sizeof *p);
  p->first = p;
  return p;
}

struct places *places_new_beside(struct places *first)
{
  struct places *p = places_new();
  p->first = first->first;
  return p;
}

static bool is_shared(const struct places *p, const uint8_t *leaf)
{
  return leaf && *leaf != PLACE_OWN && leaf == p->first->whole[*leaf - 1];
}

static void drop(const struct places *p, uint8_t *leaf)
{
  if (!is_shared(p, leaf)) mem_free(leaf);
}

void places_free(struct places *p)
{
  if (!p) return;
  for (unsigned i = 0; i < LEAVES; i++) drop(p, p->leaf[i]);
  for (unsigned i = 0; i < UINT8_MAX; i++) mem_free(p->whole[i]);
  mem_free(p);
}

static uint8_t *whole_leaf(struct places *p, int node)
{
  if (node < 0) return NULL;
  uint8_t **leaf = &p->first->whole[node];
  if (!*leaf) *leaf = memset(mem_alloc(LEAF_PAGES), node + 1, LEAF_PAGES);
  return *leaf;
}

/* Pages of one leaf, not all. */
static void set_some(struct places *p, uint8_t **leaf, uint64_t first, uint64_t n, int node)
{
  if (!*leaf && node < 0) return;
  if (!*leaf) *leaf = mem_zeroed(LEAF_PAGES, 1);
  if (is_shared(p, *leaf)) *leaf = memcpy(mem_alloc(LEAF_PAGES), *leaf, LEAF_PAGES);
  memset(*leaf + first, node + 1, n);
}

void places_set(struct places *p, uint64_t addr, uint64_t bytes, int node)
{
  uint64_t page = addr >> PLACE_PAGE_BITS, end = (addr + bytes) >> PLACE_PAGE_BITS;
  BUG_ON((addr | bytes) & ((1u << PLACE_PAGE_BITS) - 1) || end > (uint64_t)LEAVES * LEAF_PAGES || node >= UINT8_MAX);
  while (page < end) {
    uint8_t **leaf = &p->leaf[page / LEAF_PAGES];
    uint64_t at = page % LEAF_PAGES, n = end - page < LEAF_PAGES - at ? end - page : LEAF_PAGES - at;
    if (n < LEAF_PAGES) {
      set_some(p, leaf, at, n, node);
    } else {
      drop(p, *leaf);
      *leaf = whole_leaf(p, node);
    }
    page += n;
  }
}
