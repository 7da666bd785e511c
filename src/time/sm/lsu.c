#include "time/sm/lsu.h"

#include "base/bug.h"

void lsu_init(struct lsu *l, const struct params *p)
{
  l->entries = p->mem_queue_entries;
  l->front_cycles = p->mem_grant_latency - 1;
  l->addr_interval = p->mem_addr_interval;
  l->head = l->n = 0;
  l->next_grant = 0;
  BUG_ON(l->entries > LSU_MAX_ENTRIES);
}
