#include "time/sm/lsu.h"

#include "base/bug.h"

void lsu_init(struct lsu *l, const struct params *p)
{
  *l = (struct lsu){.entries = p->mem_queue_entries, .front_cycles = p->mem_front_cycles};
  BUG_ON(l->entries > LSU_MAX_ENTRIES);
}

uint64_t lsu_head_enter_at(const struct lsu *l, const struct txn_pool *pool)
{
  const struct txn *t = &pool->t[lsu_head(l)];
  const struct mem_stages *s = &t->stages;
  uint64_t at = t->issued + l->front_cycles;
  if (at < l->stage_free_at) at = l->stage_free_at;
  unsigned before_data = s->sources + s->gap;
  if (s->data && at + before_data < l->data_free_at) at = l->data_free_at - before_data;
  return at;
}

uint64_t lsu_enter(struct lsu *l, const struct txn_pool *pool, uint64_t now)
{
  const struct mem_stages *s = &pool->t[lsu_head(l)].stages;
  l->entered = true;
  l->ready_at = now + s->address;
  l->stage_free_at = now + s->sources;
  if (s->data) l->data_free_at = now + s->sources + s->gap + s->data;
  return now + mem_stages_war(s);
}
