#include "time/mem/l2_misses.h"

void l2_misses_init(struct l2_misses *s, struct arena *a, struct l2_misses_room room)
{
  const uint32_t n = room.misses + room.peer_misses;
  *s = (struct l2_misses){.n_buckets = 1, .free_miss = L2_NIL, .free_waiter = L2_NIL,
                          .room_misses = room.misses, .room_waiters = room.waiters};
  s->miss = ARENA_ARRAY(a, struct l2_miss, n);
  s->waiter = ARENA_ARRAY(a, struct l2_waiter, room.waiters + room.peer_waiters);
  while (s->n_buckets < 2 * n) s->n_buckets *= 2;
  s->bucket = ARENA_ARRAY(a, uint32_t, s->n_buckets);
  for (uint32_t i = 0; i < s->n_buckets; i++) s->bucket[i] = L2_NIL;
}

struct l2_miss *l2_misses_add(struct l2_misses *s, uint64_t line, bool of_peer)
{
  uint32_t i = s->free_miss, *b = l2_misses_bucket(s, line);
  if (i == L2_NIL)
    i = s->fresh_miss++;
  else
    s->free_miss = s->miss[i].next;
  struct l2_miss *m = &s->miss[i];
  s->n++;
  *m = (struct l2_miss){.line = line, .next = *b, .first = L2_NIL, .last = L2_NIL, .of_peer = of_peer};
  if (!of_peer) s->room_misses--;
  *b = i;
  return m;
}

void l2_misses_remove(struct l2_misses *s, struct l2_miss *m)
{
  uint32_t i = (uint32_t)(m - s->miss), *link = l2_misses_bucket(s, m->line);
  while (*link != i) link = &s->miss[*link].next;
  *link = m->next;
  m->next = s->free_miss;
  s->free_miss = i;
  s->n--;
  if (!m->of_peer) s->room_misses++;
}
