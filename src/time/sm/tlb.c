#include "time/sm/tlb.h"

#include "time/msg.h"

enum { L2_WAYS = 16 };

void tlb_init(struct tlb *t, struct arena *a, const struct params *p)
{
  unsigned line_bits = 0;
  while (1u << line_bits < LINE_BYTES) line_bits++;
  *t = (struct tlb){.page_shift = p->vm_page_bits > line_bits ? p->vm_page_bits - line_bits : 0,
                    .miss_cycles = p->tlb_l1_miss_cycles,
                    .walk_cycles = p->tlb_walk_cycles,
                    .last_page = UINT64_MAX};
  translations_init(&t->level[0], a, p->tlb_l1_entries, p->tlb_l1_entries);
  translations_init(&t->level[1], a, p->tlb_l2_entries, L2_WAYS);
}

/* The entry of a page, or the one that it replaces (hit = false). */
static uint32_t look_up(struct translations *l, uint64_t page, bool *hit)
{
  const uint32_t i = translations_find(l, page);
  *hit = i != TRANSLATIONS_NONE;
  return *hit ? i : translations_fill(l, page);
}

uint64_t tlb_translate(struct tlb *t, uint64_t line, uint64_t now, struct sm_stats *s)
{
  uint64_t page = line >> t->page_shift;
  if (page != t->last_page) {
    bool first, second;
    const uint32_t i = look_up(&t->level[0], page, &first);
    if (!first) {
      const uint32_t k = look_up(&t->level[1], page, &second);
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
