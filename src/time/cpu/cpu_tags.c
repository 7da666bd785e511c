#include "time/cpu/cpu_tags.h"

#include <string.h>

void cpu_tags_init(struct cpu_tags *t, uint32_t sets, uint32_t ways, struct arena *a)
{
  *t = (struct cpu_tags){.sets = sets, .ways = ways, .tag = ARENA_ARRAY(a, uint64_t, (size_t)sets * ways + 1)};
}

static uint64_t *set_of(const struct cpu_tags *t, uint64_t number)
{
  return &t->tag[number % t->sets * t->ways];
}

bool cpu_tags_find(struct cpu_tags *t, uint64_t number)
{
  uint64_t *tag = set_of(t, number);
  for (uint32_t w = 0; w < t->ways; w++) {
    if (tag[w] != number + 1) continue;
    for (; w; w--) tag[w] = tag[w - 1];
    tag[0] = number + 1;
    return true;
  }
  return false;
}

void cpu_tags_fill(struct cpu_tags *t, uint64_t number)
{
  uint64_t *tag = set_of(t, number);
  if (!t->ways) return;
  memmove(tag + 1, tag, (t->ways - 1) * sizeof *tag);
  tag[0] = number + 1;
}

void cpu_tags_clear(struct cpu_tags *t)
{
  memset(t->tag, 0, (size_t)t->sets * t->ways * sizeof *t->tag);
}
