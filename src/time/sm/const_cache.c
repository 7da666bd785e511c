#include "time/sm/const_cache.h"

#include <string.h>

#include "base/bug.h"

void const_cache_init(struct const_cache *c, struct arena *a, const struct params *p,
                      unsigned bytes, unsigned client, struct l1i *l1i, struct sm_stats *stats)
{
  *c = (struct const_cache){.perfect = p->const_perfect,
                            .n_ways = p->const_ways,
                            .line_shift = (unsigned)__builtin_ctz(p->const_line),
                            .n_sets = bytes / (p->const_line * p->const_ways),
                            .client = client,
                            .l1i = l1i,
                            .stats = stats};
  BUG_ON(c->n_sets == 0);
  c->way = ARENA_ARRAY(a, struct const_way, (size_t)c->n_sets * c->n_ways);
}

void const_cache_start(struct const_cache *c)
{
  if (c->filled) memset(c->way, 0, sizeof *c->way * c->n_sets * c->n_ways);
  c->filled = false;
  c->last = NULL;
}

/* Neither lines a kilobyte apart nor the first lines of two banks share a set: launch geometry, parameters
 * and literals (c[0], c[2] to c[4]) of small kernels fit together. With plain indices a CTA of
 * RRZE-HPC/gpu-benches gpu-stream "scale" would miss three times, 237 cycles; it takes at most 30 more than "read". */
static size_t set_of(const struct const_cache *c, unsigned bank, uint32_t line)
{
  return (line ^ line >> 2 ^ bank) % c->n_sets;
}

uint64_t const_cache_look_up(struct const_cache *c, unsigned bank, uint32_t offset, uint64_t now)
{
  if (c->perfect) return now;
  uint64_t line = (uint64_t)bank << 32 | offset >> c->line_shift;
  struct const_way *set = &c->way[set_of(c, bank, offset >> c->line_shift) * c->n_ways], *victim = set;
  for (unsigned i = 0; i < c->n_ways; i++) {
    if (set[i].line == line + 1) {
      set[i].used = ++c->stamp;
      c->last = &set[i];
      return set[i].valid_at;
    }
    if (set[i].used < victim->used) victim = &set[i];
  }
  c->stats->const_misses++;
  uint64_t from = l1i_const_line(bank, offset), at = l1i_request(c->l1i, from, c->client, now);
  c->last = victim;
  c->filled = true;
  *victim = (struct const_way){.line = line + 1, .used = ++c->stamp, .valid_at = at, .from = from};
  return at;
}

void const_cache_arrived(struct const_cache *c, uint64_t line, uint64_t at)
{
  for (size_t i = 0; i < (size_t)c->n_sets * c->n_ways; i++)
    if (c->way[i].line && c->way[i].valid_at == L1I_ON_ITS_WAY && c->way[i].from == line) c->way[i].valid_at = at;
}
