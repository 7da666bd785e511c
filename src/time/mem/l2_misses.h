/* Misses of an L2 slice: lines of which sectors are on their way, and the requests that wait for them.
 *
 *   entry     one for each line, found by its number inside the slice; a sector on its way is pending there
 *   waiters   of an entry, oldest first; each goes when all sectors that it needs have come
 *   room      for so many entries and waiters of the SMs' requests; those of the other partition have room of their own
 *             (of_peer), which always suffices: no circle of waiting
 *   caller    l2_slice.c, which asks for room before it makes an entry or has a request wait
 */
#ifndef WS_TIME_MEM_L2_MISSES_H
#define WS_TIME_MEM_L2_MISSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "time/msg.h"

#define L2_NIL UINT32_MAX

struct l2_waiter {
  struct mem_req req;
  uint32_t next;
  uint8_t need; /* sectors still missing */
  bool of_peer; /* answered over the link */
};

struct l2_miss {
  uint64_t line;
  uint32_t next;        /* hash chain or free list */
  uint32_t first, last; /* waiters, oldest first; L2_NIL: none */
  uint16_t n_waiters;
  uint8_t pending; /* sectors requested from DRAM or the other partition */
  bool of_peer;    /* entry of a request of the other partition */
};

struct l2_misses {
  struct l2_miss *miss;
  struct l2_waiter *waiter;
  uint32_t *bucket;
  uint32_t n_buckets, free_miss, free_waiter, n; /* n: entries */
  uint32_t fresh_miss, fresh_waiter;  /* from these on never used */
  uint32_t room_misses, room_waiters; /* left for requests of SMs */
};

/* Room for so many entries and waiters of the SMs, and of the other partition besides. */
struct l2_misses_room {
  uint32_t misses, waiters, peer_misses, peer_waiters;
};

void l2_misses_init(struct l2_misses *, struct arena *, struct l2_misses_room);

static inline uint32_t *l2_misses_bucket(const struct l2_misses *s, uint64_t line)
{
  return &s->bucket[(line ^ line >> 9) & (s->n_buckets - 1)];
}

/* NULL: nothing of the line is on its way. */
static inline struct l2_miss *l2_misses_find(const struct l2_misses *s, uint64_t line)
{
  for (uint32_t i = *l2_misses_bucket(s, line); i != L2_NIL; i = s->miss[i].next)
    if (s->miss[i].line == line) return &s->miss[i];
  return NULL;
}

/* An entry for a line that has none, with nothing pending; there is room. */
struct l2_miss *l2_misses_add(struct l2_misses *, uint64_t line, bool of_peer);
/* The entry goes; nobody waits there. */
void l2_misses_remove(struct l2_misses *, struct l2_miss *);

/* The request waits for these sectors, behind those that wait already; there is room. */
static inline void l2_misses_wait(struct l2_misses *s, struct l2_miss *m, const struct mem_req *r, unsigned need,
                                  bool of_peer)
{
  uint32_t i = s->free_waiter;
  if (i == L2_NIL)
    i = s->fresh_waiter++;
  else
    s->free_waiter = s->waiter[i].next;
  s->waiter[i] = (struct l2_waiter){*r, L2_NIL, (uint8_t)need, of_peer};
  if (!of_peer) s->room_waiters--;
  if (m->first == L2_NIL)
    m->first = i;
  else
    s->waiter[m->last].next = i;
  m->last = i;
  m->n_waiters++;
}

/* Waiter i goes, the one behind `before`. */
static inline void l2_misses_release(struct l2_misses *s, struct l2_miss *m, uint32_t before, uint32_t i)
{
  struct l2_waiter *x = &s->waiter[i];
  *(before == L2_NIL ? &m->first : &s->waiter[before].next) = x->next;
  if (m->last == i) m->last = before;
  m->n_waiters--;
  if (!x->of_peer) s->room_waiters++;
  x->next = s->free_waiter;
  s->free_waiter = i;
}

/* These sectors have come: the oldest of the requests behind *last that need no others, which waits no longer; NULL:
 * none is left. *last: L2_NIL at first. Good until the next request waits. */
static inline const struct l2_waiter *l2_misses_take(struct l2_misses *s, struct l2_miss *m, unsigned sectors,
                                                    uint32_t *last)
{
  for (uint32_t i = *last == L2_NIL ? m->first : s->waiter[*last].next; i != L2_NIL; i = s->waiter[i].next) {
    s->waiter[i].need &= (uint8_t)~sectors;
    if (!s->waiter[i].need) {
      l2_misses_release(s, m, *last, i);
      return &s->waiter[i];
    }
    *last = i;
  }
  return NULL;
}

#endif
