#include "time/mem/ecc_cache.h"

#include "time/msg.h"

void ecc_cache_init(struct ecc_cache *e, struct arena *a, const struct params *p)
{
  *e = (struct ecc_cache){0};
  if (p->dram_ecc != DRAM_ECC_INLINE) return;
  e->mask = p->dram_ecc_entries - 1;
  for (unsigned lines = p->dram_ecc_span / LINE_BYTES; lines > 1; lines /= 2) e->lines_log2++;
  e->held = ARENA_ARRAY(a, uint64_t, p->dram_ecc_entries);
}
