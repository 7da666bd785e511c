#include "time/coh/coh_asker.h"

#include "base/host_memory.h"

static void grant(struct coh_asker *a, const struct coh_msg *m, picos now)
{
  a->granted = mem_more(a->granted, a->n_granted, &a->room_granted, sizeof *a->granted);
  a->granted[a->n_granted++] = (struct coh_granted){
    m->id, {.at = now, .line = m->line, .write = m->kind == COH_STORE, .of_cache = (m->flags & COH_OF_CACHE) != 0}};
  a->under_way--;
}

/* A store of no bytes: the GPU's own are in memory when it has the right. */
static bool make(struct coh_asker *a, struct coh_cache *c, picos now)
{
  const struct l2_ask *k = &a->ask[a->next];
  const struct coh_msg op = {.line = k->line, .type = k->write ? COH_STORE : COH_LOAD, .id = k->slice,
                             .requestor = COH_NO_NODE};
  if (!coh_cache_offer(c, &op, now)) return false;
  a->under_way++;
  if (++a->next == a->n_asks) a->next = a->n_asks = 0;
  return true;
}

static picos cycle(void *self, struct coh_cache *c, struct coh_queue *replies, picos now, picos until, bool *did)
{
  struct coh_asker *a = self;
  const struct coh_msg *m = coh_queue_front(replies, now);
  (void)until;
  if (m) {
    grant(a, m, now);
    coh_queue_pop(replies);
    *did = true;
  }
  if (a->next == a->n_asks) return TIME_NEVER;
  if (a->ask[a->next].at > now) return a->ask[a->next].at;
  *did |= make(a, c, now);
  return TIME_NEVER;
}

static bool busy(const void *self)
{
  const struct coh_asker *a = self;
  return a->under_way || a->next < a->n_asks;
}

struct coh_agent coh_asker_agent(struct coh_asker *a)
{
  return (struct coh_agent){cycle, busy, a};
}

void coh_asker_free(struct coh_asker *a)
{
  mem_free(a->ask);
  mem_free(a->granted);
}

void coh_asker_push(struct coh_asker *a, const struct l2_ask *k)
{
  a->ask = mem_more(a->ask, a->n_asks, &a->room_asks, sizeof *a->ask);
  a->ask[a->n_asks++] = *k;
}

void coh_asker_tell(struct coh_asker *a, struct l2_rights *r)
{
  for (uint32_t i = 0; i < a->n_granted; i++)
    if (a->granted[i].slice < r->n_slices) l2_rights_grant(r, a->granted[i].slice, &a->granted[i].grant);
  a->n_granted = 0;
}

enum l2_right coh_asker_right(const struct coh_cache *c, uint64_t line)
{
  switch (coh_cache_state(c, line)) {
  case COH_ST_M:
  case COH_ST_E: return L2_RIGHT_WRITE;
  case COH_ST_S:
  case COH_ST_O:
  case COH_ST_SM:
  case COH_ST_OM: return L2_RIGHT_READ;
  default: return L2_RIGHT_NONE;
  }
}
