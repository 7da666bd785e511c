#include "time/sm/l1i.h"

#include <string.h>

#include "base/bug.h"

void l1i_init(struct l1i *c, struct arena *a, const struct params *p, struct sm_stats *stats)
{
  *c = (struct l1i){.latency = p->l1i_latency,
                    .miss_latency = p->l1i_miss_latency,
                    .line_interval = p->l1i_line_interval,
                    .miss_line_interval = p->l1i_miss_line_interval,
                    .n_ways = p->l1i_ways,
                    .n_sets = p->l1i_bytes / (L1I_LINE * p->l1i_ways),
                    .stats = stats};
  BUG_ON(c->n_sets == 0 || p->sm_sub_cores > L1I_CLIENTS);
  c->way = ARENA_ARRAY(a, struct l1i_way, (size_t)c->n_sets * c->n_ways);
}

void l1i_start(struct l1i *c)
{
  memset(c->way, 0, sizeof *c->way * c->n_sets * c->n_ways);
}

static struct l1i_way *lookup(struct l1i *c, uint64_t line, bool *hit)
{
  struct l1i_way *set = &c->way[line % c->n_sets * c->n_ways], *victim = set;
  for (unsigned i = 0; i < c->n_ways; i++) {
    if (set[i].line == line + 1) {
      *hit = true;
      return &set[i];
    }
    if (set[i].used < victim->used) victim = &set[i];
  }
  *hit = false;
  return victim;
}

uint64_t l1i_request(struct l1i *c, uint64_t line, unsigned client, uint64_t now)
{
  bool hit;
  uint64_t at = now > c->free_at ? now : c->free_at;
  c->free_at = at + 1;
  c->stats->l1i_requests++;
  struct l1i_way *w = lookup(c, line, &hit);
  if (!hit) {
    c->stats->l1i_misses++;
    *w = (struct l1i_way){.line = line + 1, .valid_at = at + c->miss_latency - c->latency};
  }
  w->used = ++c->stamp;
  uint64_t arrive = (w->valid_at > at ? w->valid_at : at) + c->latency;
  /* The link to one L0 streams a line per interval. */
  uint64_t spaced = c->stream_at[client] + (hit ? c->line_interval : c->miss_line_interval);
  if (arrive < spaced) arrive = spaced;
  c->stream_at[client] = arrive;
  return arrive;
}

void l1i_forget(struct l1i *c, unsigned client, uint64_t arrive)
{
  uint64_t free_at = arrive - c->line_interval;
  if (free_at < c->stream_at[client]) c->stream_at[client] = free_at;
}
