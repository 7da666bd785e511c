#include "time/mem/l2.h"

#include "base/bits.h"
#include "time/msg.h"

void l2_init(struct l2 *c, struct arena *a, const struct params *p)
{
  c->n_ways = p->l2_ways;
  c->n_sets = p->l2_bytes / ((uint64_t)LINE_BYTES * c->n_ways);
  c->perfect = p->l2_perfect;
  c->way = ARENA_ARRAY(a, struct l2_way, c->n_sets * c->n_ways);
}

/* Neighbouring lines and power-of-two strides spread over the sets. */
static uint64_t set_of(const struct l2 *c, uint64_t line)
{
  return (line ^ line >> 13 ^ line >> 26) % c->n_sets;
}

static struct l2_way *lookup(struct l2 *c, uint64_t line, struct l2_access *r)
{
  struct l2_way *set = &c->way[set_of(c, line) * c->n_ways], *victim = set;
  for (unsigned i = 0; i < c->n_ways; i++) {
    if (set[i].sectors && set[i].line == line) {
      set[i].used = ++c->stamp;
      return &set[i];
    }
    if (set[i].used < victim->used) victim = &set[i];
  }
  r->written_back = (uint8_t)bits_count(victim->dirty);
  *victim = (struct l2_way){.line = line, .used = ++c->stamp};
  return victim;
}

static struct l2_access touch(struct l2 *c, uint64_t line, unsigned sectors, unsigned dirty)
{
  struct l2_access r = {0};
  if (c->perfect) {
    r.hit = (uint8_t)sectors;
    return r;
  }
  struct l2_way *w = lookup(c, line, &r);
  r.hit = (uint8_t)(w->sectors & sectors);
  w->sectors |= (uint8_t)sectors;
  w->dirty |= (uint8_t)dirty;
  return r;
}

struct l2_access l2_read(struct l2 *c, uint64_t line, unsigned sectors)
{
  return touch(c, line, sectors, 0);
}

struct l2_access l2_write(struct l2 *c, uint64_t line, unsigned sectors)
{
  return touch(c, line, sectors, sectors);
}
