#include "time/mem/dirty_lines.h"

#include "base/arith.h"

static uint32_t limit(uint32_t places, unsigned permille)
{
  return permille ? (uint32_t)div_up((uint64_t)places * permille, 1000) : UINT32_MAX;
}

void dirty_lines_init(struct dirty_lines *d, struct arena *a, uint32_t places, unsigned permille)
{
  *d = (struct dirty_lines){
      .line = ARENA_ARRAY(a, struct dirty_line, places),
      .oldest = DIRTY_NONE,
      .youngest = DIRTY_NONE,
      .limit = limit(places, permille),
  };
}

void dirty_lines_add(struct dirty_lines *d, uint32_t place)
{
  d->line[place] = (struct dirty_line){.older = d->youngest, .younger = DIRTY_NONE};
  *(d->youngest == DIRTY_NONE ? &d->oldest : &d->line[d->youngest].younger) = place;
  d->youngest = place;
  d->n++;
}

void dirty_lines_remove(struct dirty_lines *d, uint32_t place)
{
  const struct dirty_line l = d->line[place];
  *(l.older == DIRTY_NONE ? &d->oldest : &d->line[l.older].younger) = l.younger;
  *(l.younger == DIRTY_NONE ? &d->youngest : &d->line[l.younger].older) = l.older;
  d->n--;
}
