/* Timing wheel: events due at a known cycle, in the order they were added. One further ahead than the
 * wheel goes round takes several turns: wheel_take hands it out early, and it is added again. */
#ifndef WS_TIME_SM_WHEEL_H
#define WS_TIME_SM_WHEEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bug.h"

enum { WHEEL_SPAN = 1024, WHEEL_POOL = 1024, WHEEL_NIL = 0xffff };

/* `id` and the bytes below belong to the wheel's owner. */
struct wheel_event {
  uint16_t next;
  uint16_t id;
  uint8_t sb;   /* dependence counter to drop */
  uint8_t bank; /* register-file bank to write */
  uint8_t left; /* registers still to write, 0: none */
  uint8_t step; /* cycles between two of them */
  uint64_t at;  /* cycle it is due */
};

struct wheel {
  uint64_t occupied[WHEEL_SPAN / 64]; /* bit per bucket */
  struct wheel_bucket {
    uint16_t first, last; /* events of the cycle, when occupied */
  } bucket[WHEEL_SPAN];
  struct wheel_event pool[WHEEL_POOL];
  uint16_t free;
  uint16_t fresh; /* from this one on never used */
  uint16_t n;
};

static inline void wheel_init(struct wheel *w)
{
  memset(w->occupied, 0, sizeof w->occupied);
  w->free = WHEEL_NIL;
  w->fresh = 0;
  w->n = 0;
}

/* Adds an event behind those of the same cycle. e.at must lie after now. */
static inline void wheel_add(struct wheel *w, uint64_t now, struct wheel_event e)
{
  BUG_ON(e.at <= now || w->n == WHEEL_POOL);
  uint64_t turn = e.at - now < WHEEL_SPAN ? e.at : now + WHEEL_SPAN - 1;
  uint16_t i = w->free, b = (uint16_t)(turn % WHEEL_SPAN);
  if (i != WHEEL_NIL)
    w->free = w->pool[i].next;
  else
    i = w->fresh++;
  w->pool[i] = e;
  w->pool[i].next = WHEEL_NIL;
  struct wheel_bucket *k = &w->bucket[b];
  if (!(w->occupied[b / 64] >> b % 64 & 1))
    k->first = i;
  else
    w->pool[k->last].next = i;
  k->last = i;
  w->occupied[b / 64] |= (uint64_t)1 << (b % 64);
  w->n++;
}

/* Are there events of cycle `now`? */
static inline bool wheel_due(const struct wheel *w, uint64_t now)
{
  return w->occupied[now % WHEEL_SPAN / 64] >> now % 64 & 1; /* 16 such words, 1024 buckets */
}

/* Takes all events of cycle `now`: returns the first, follow .next; give back with wheel_release.
 * Those whose .at is later must be added again. */
static inline uint16_t wheel_take(struct wheel *w, uint64_t now)
{
  uint16_t b = (uint16_t)(now % WHEEL_SPAN);
  if (!wheel_due(w, now)) return WHEEL_NIL;
  uint16_t first = w->bucket[b].first;
  w->occupied[b / 64] &= ~((uint64_t)1 << (b % 64));
  return first;
}

static inline void wheel_release(struct wheel *w, uint16_t i)
{
  w->pool[i].next = w->free;
  w->free = i;
  w->n--;
}

/* First cycle after `now` with an event, UINT64_MAX if none. */
static inline uint64_t wheel_next(const struct wheel *w, uint64_t now)
{
  if (w->n == 0) return UINT64_MAX;
  unsigned start = (unsigned)((now + 1) % WHEEL_SPAN);
  for (unsigned k = 0; k <= WHEEL_SPAN / 64; k++) {
    unsigned word = (start / 64 + k) % (WHEEL_SPAN / 64);
    uint64_t bits = w->occupied[word];
    if (k == 0) bits &= ~(uint64_t)0 << (start % 64);
    if (bits) {
      unsigned b = word * 64 + (unsigned)__builtin_ctzll(bits);
      return now + 1 + (b + WHEEL_SPAN - start) % WHEEL_SPAN;
    }
  }
  return UINT64_MAX;
}

#endif
