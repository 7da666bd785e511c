/* Strong accesses of an SM that the memory side has not performed yet, by line: weak accesses to these lines must queue
 * behind them, since one thread's accesses to overlapping bytes keep program order. Lines share counts by a hash: an
 * access may queue for another line's sake.
 *
 * Those whose page is not there (REQ_AGAIN) come back when many pages have come: who asks for such a line in the
 * meantime goes the same way, also when its page is there already. */
#ifndef WS_TIME_SM_STRONG_H
#define WS_TIME_SM_STRONG_H

#include "time/sm/txn.h"

enum { STRONG_COUNTS = 256 };

struct strong_lines {
  uint16_t count[STRONG_COUNTS]; /* lines of transactions, by hash */
  uint16_t away[STRONG_COUNTS];  /* of those, the ones that wait for their page */
  uint32_t n;                    /* all of them */
};

static inline unsigned strong_hash(uint64_t line)
{
  return (unsigned)((line ^ line >> 8 ^ line >> 16) % STRONG_COUNTS);
}

/* Is a strong access to a line of this transaction still on its way? */
static inline bool strong_pending(const struct strong_lines *s, const struct txn *t)
{
  if (!s->n) return false;
  for (unsigned i = 0; i < t->n_lines; i++)
    if (s->count[strong_hash(t->line[i].line)]) return true;
  return false;
}

/* A transaction of kind TXN_STRONG issues: 1; has been performed: -1. */
static inline void strong_note(struct strong_lines *s, const struct txn *t, int delta)
{
  for (unsigned i = 0; i < t->n_lines; i++) {
    uint16_t *n = &s->count[strong_hash(t->line[i].line)];
    *n = (uint16_t)(*n + delta);
  }
  s->n += (uint32_t)(delta * t->n_lines);
}

#endif
