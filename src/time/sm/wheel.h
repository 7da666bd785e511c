/* Timing wheel: dependence-counter decrements due at a known cycle. One further ahead than the
 * wheel goes round takes several turns: wheel_take hands it out early, and it is added again. */
#ifndef WS_TIME_SM_WHEEL_H
#define WS_TIME_SM_WHEEL_H

#include <stdint.h>
#include <string.h>

#include "base/bug.h"

enum { WHEEL_SPAN = 1024, WHEEL_POOL = 1024, WHEEL_NIL = 0xffff };

struct wheel_event {
  uint16_t next;
  uint8_t warp; /* slot in the warp table */
  uint8_t sb;   /* dependence counter */
  uint64_t at;  /* cycle it is due */
};

struct wheel {
  uint16_t bucket[WHEEL_SPAN];        /* first event of the cycle, WHEEL_NIL = none */
  uint64_t occupied[WHEEL_SPAN / 64]; /* bit per bucket */
  struct wheel_event pool[WHEEL_POOL];
  uint16_t free;
  uint16_t n;
};

static inline void wheel_init(struct wheel *w)
{
  memset(w->bucket, 0xff, sizeof w->bucket);
  memset(w->occupied, 0, sizeof w->occupied);
  for (unsigned i = 0; i < WHEEL_POOL; i++)
    w->pool[i].next = (uint16_t)(i + 1 < WHEEL_POOL ? i + 1 : WHEEL_NIL);
  w->free = 0;
  w->n = 0;
}

/* `at` must lie after now. */
static inline void wheel_add(struct wheel *w, uint64_t now, uint64_t at, unsigned warp, unsigned sb)
{
  BUG_ON(at <= now || w->free == WHEEL_NIL);
  uint64_t turn = at - now < WHEEL_SPAN ? at : now + WHEEL_SPAN - 1;
  uint16_t i = w->free, b = (uint16_t)(turn % WHEEL_SPAN);
  w->free = w->pool[i].next;
  w->pool[i] = (struct wheel_event){w->bucket[b], (uint8_t)warp, (uint8_t)sb, at};
  w->bucket[b] = i;
  w->occupied[b / 64] |= (uint64_t)1 << (b % 64);
  w->n++;
}

/* Takes all events of cycle `now`: returns the first, follow .next; give back with wheel_release.
 * Those whose .at is later must be added again. */
static inline uint16_t wheel_take(struct wheel *w, uint64_t now)
{
  uint16_t b = (uint16_t)(now % WHEEL_SPAN), first = w->bucket[b];
  if (first == WHEEL_NIL) return first;
  w->bucket[b] = WHEEL_NIL;
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
