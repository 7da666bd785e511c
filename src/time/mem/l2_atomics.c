#include "time/mem/l2_atomics.h"

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"

enum { FIRST_CAP = 16 }; /* a power of two, as cap always is */

void l2_atomics_init(struct l2_atomics *u, const struct params *p)
{
  const picos cycle = params_l2_clock_ps(p);
  *u = (struct l2_atomics){.cycle = cycle,
                           .interval = p->l2_atomic_interval * cycle,
                           .float_interval = p->l2_atomic_float_interval * cycle,
                           .sector = p->l2_atomic_sector_cycles * cycle,
                           .wide = p->l2_atomic_wide_cycles * cycle,
                           .latency = p->l2_atomic_cycles * cycle,
                           .ideal = p->ideal_atomics};
}

void l2_atomics_free(struct l2_atomics *u)
{
  mem_free(u->ring);
}

/* How long a request holds the unit. */
static picos time_held(const struct l2_atomics *u, const struct mem_req *r)
{
  if (u->ideal) return 0;
  const unsigned sectors = count_sectors(r->sectors);
  const picos array = sectors * u->sector + (sectors > 1 ? u->cycle : 0);
  const picos chain = r->repeats * (r->floats ? u->float_interval : u->interval);
  return later(later(array, r->wide * u->wide), chain);
}

static void grow(struct l2_atomics *u)
{
  uint32_t cap = u->cap ? 2 * u->cap : FIRST_CAP;
  struct l2_atomic *ring = mem_alloc(cap * sizeof *ring);
  for (uint32_t i = 0; i < u->n; i++) ring[i] = u->ring[(u->head + i) & (u->cap - 1)];
  mem_free(u->ring);
  u->ring = ring;
  u->cap = cap;
  u->head = 0;
}

picos l2_atomics_take(struct l2_atomics *u, const struct mem_req *r, picos now)
{
  const picos start = later(now, u->free_at);
  u->free_at = start + time_held(u, r);
  if (u->n == u->cap) grow(u);
  u->ring[(u->head + u->n++) & (u->cap - 1)] = (struct l2_atomic){start + u->latency, *r};
  return start - now;
}

struct mem_req l2_atomics_pop(struct l2_atomics *u)
{
  BUG_ON(!u->n);
  const struct mem_req r = u->ring[u->head].req;
  u->head = (u->head + 1) & (u->cap - 1);
  u->n--;
  return r;
}
