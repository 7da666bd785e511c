#include "time/mem/translations.h"

#include <string.h>

void translations_init(struct translations *s, struct arena *a, unsigned entries, unsigned ways)
{
  *s = (struct translations){.n_ways = entries < ways ? entries : ways};
  s->n_sets = s->n_ways ? entries / s->n_ways : 1;
  const size_t n = (size_t)s->n_sets * s->n_ways + 1; /* one is always there to be written */
  s->page = ARENA_ARRAY(a, uint64_t, n);
  s->ready = ARENA_ARRAY(a, uint64_t, n);
  s->used = ARENA_ARRAY(a, uint32_t, n);
}

static uint32_t set_of(const struct translations *s, uint64_t page)
{
  return (uint32_t)(page % s->n_sets) * s->n_ways;
}

uint32_t translations_find(struct translations *s, uint64_t page)
{
  const uint32_t set = set_of(s, page);
  for (uint32_t i = set; i < set + s->n_ways; i++) {
    if (s->page[i] != page + 1) continue;
    s->used[i] = ++s->stamp;
    return i;
  }
  return TRANSLATIONS_NONE;
}

uint32_t translations_fill(struct translations *s, uint64_t page)
{
  const uint32_t set = set_of(s, page);
  uint32_t victim = set;
  if (!s->n_ways) return 0;
  for (uint32_t i = set; i < set + s->n_ways; i++)
    if (s->used[i] < s->used[victim]) victim = i;
  s->used[victim] = ++s->stamp;
  s->page[victim] = page + 1;
  return victim;
}

void translations_clear(struct translations *s)
{
  const size_t n = (size_t)s->n_sets * s->n_ways;
  memset(s->page, 0, n * sizeof *s->page);
  memset(s->used, 0, n * sizeof *s->used);
}
