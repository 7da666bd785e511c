#include "base/place.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { LEAVES = 1 << (PLACE_ADDRESS_BITS - PLACE_LEAF_BITS), LEAF_PAGES = 1 << (PLACE_LEAF_BITS - PLACE_PAGE_BITS) };

struct places *places_new(void)
{
  return mem_zeroed(1, sizeof(struct places));
}

void places_free(struct places *p)
{
  if (!p) return;
  for (unsigned i = 0; i < LEAVES; i++) mem_free(p->leaf[i]);
  mem_free(p);
}

void places_set(struct places *p, uint64_t addr, uint64_t bytes, int node)
{
  uint64_t page = addr >> PLACE_PAGE_BITS, end = (addr + bytes) >> PLACE_PAGE_BITS;
  BUG_ON((addr | bytes) & ((1u << PLACE_PAGE_BITS) - 1) || end > (uint64_t)LEAVES * LEAF_PAGES || node >= UINT8_MAX);
  while (page < end) {
    uint8_t **leaf = &p->leaf[page / LEAF_PAGES];
    uint64_t at = page % LEAF_PAGES, n = end - page < LEAF_PAGES - at ? end - page : LEAF_PAGES - at;
    if (!*leaf && node >= 0) *leaf = mem_zeroed(LEAF_PAGES, 1);
    if (*leaf) memset(*leaf + at, node + 1, n);
    page += n;
  }
}
