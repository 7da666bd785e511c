#include "time/sm/tlb.h"

#include "time/msg.h"

enum { L2_WAYS = 16 };

static void level_init(struct tlb_level *l, struct arena *a, unsigned entries, unsigned ways)
{
  l->n_ways = entries < ways ? entries : ways;
  l->n_sets = entries / l->n_ways;
  size_t n = (size_t)l->n_sets * l->n_ways;
  l->page = ARENA_ARRAY(a, uint64_t, n);
  l->ready = ARENA_ARRAY(a, uint64_t, n);
  l->used = ARENA_ARRAY(a, uint32_t, n);
}

void tlb_init(struct tlb *t, struct arena *a, const struct params *p)
{
  unsigned line_bits = 0;
  while (1u << line_bits < LINE_BYTES) line_bits++;
  *t = (struct tlb){.page_shift = p->vm_page_bits > line_bits ? p->vm_page_bits - line_bits : 0,
                    .miss_cycles = p->tlb_l1_miss_cycles,
                    .walk_cycles = p->tlb_walk_cycles,
                    .last_page = UINT64_MAX};
  level_init(&t->level[0], a, p->tlb_l1_entries, p->tlb_l1_entries);
  level_init(&t->level[1], a, p->tlb_l2_entries, L2_WAYS);
}

/* The entry of a page, or the one to replace (hit = false). */
static size_t look_up(struct tlb *t, struct tlb_level *l, uint64_t page, bool *hit)
{
  size_t set = page % l->n_sets * l->n_ways, victim = set;
  *hit = true;
  for (size_t i = set; i < set + l->n_ways; i++) {
    if (l->page[i] == page + 1) {
      l->used[i] = ++t->stamp;
      return i;
    }
    if (l->used[i] < l->used[victim]) victim = i;
  }
  *hit = false;
  l->used[victim] = ++t->stamp;
  l->page[victim] = page + 1;
  return victim;
}

uint64_t tlb_translate(struct tlb *t, uint64_t line, uint64_t now, struct sm_stats *s)
{
  uint64_t page = line >> t->page_shift;
  if (page != t->last_page) {
    bool first, second;
    size_t i = look_up(t, &t->level[0], page, &first);
    if (!first) {
      size_t k = look_up(t, &t->level[1], page, &second);
      s->tlb_misses++;
      s->tlb_walks += !second;
      if (!second) t->level[1].ready[k] = now + t->walk_cycles;
      uint64_t known = t->level[1].ready[k] > now ? t->level[1].ready[k] : now;
      t->level[0].ready[i] = known + t->miss_cycles;
    }
    t->last_page = page;
    t->last_ready = t->level[0].ready[i];
  }
  return t->last_ready > now ? t->last_ready : now;
}
