/* Accesses of an SM that the memory side has not performed yet, by line: strong ones, and loads of memory elsewhere.
 * Weak accesses to lines of strong ones must queue behind them, and stores behind the loads, since accesses of one
 * thread, and of the threads of a CTA behind a barrier, to overlapping bytes keep their order. Lines share counts by a
 * hash: an access may queue for another line's sake.
 *
 * Pages move meanwhile. Who asks for a line of which earlier ones are on their way goes where they go, also when its
 * page is somewhere else by now: nothing overtakes there. So do those behind one whose page was not there (REQ_AGAIN),
 * which comes back when many pages have come. */
#ifndef WS_TIME_SM_STRONG_H
#define WS_TIME_SM_STRONG_H

#include "time/sm/txn.h"

enum { STRONG_COUNTS = 256 };

enum { WAY_NONE = 0, WAY_SEVERAL = UINT16_MAX }; /* else a place + 1 */

struct strong_lines {
  uint16_t count[STRONG_COUNTS]; /* lines of strong transactions, by hash */
  uint16_t loads[STRONG_COUNTS]; /* those of loads of memory elsewhere */
  uint16_t way[STRONG_COUNTS];   /* where those of both that were sent go */
  uint32_t n;                    /* all of them */
  uint16_t atomics[STRONG_COUNTS]; /* lines of atomics that are on their way, by hash */
  uint32_t atomics_sent, atomics_answered; /* such lines so far; they wrap */
};

static inline unsigned strong_hash(uint64_t line)
{
  return (unsigned)((line ^ line >> 8 ^ line >> 16) % STRONG_COUNTS);
}

/* Is an access to a line of this transaction on its way behind which it has to queue? */
static inline bool strong_pending(const struct strong_lines *s, const struct txn *t)
{
  if (!s->n) return false;
  const bool writes = mem_op_writes(t->op);
  for (unsigned i = 0; i < t->n_lines; i++) {
    const unsigned h = strong_hash(t->line[i].line);
    if (s->count[h] || (writes && s->loads[h])) return true;
  }
  return false;
}

/* A transaction of kind TXN_STRONG or TXN_ELSEWHERE issues: 1; has been performed: -1. */
static inline void strong_note(struct strong_lines *s, const struct txn *t, int delta)
{
  uint16_t *count = t->kind == TXN_ELSEWHERE ? s->loads : s->count;
  for (unsigned i = 0; i < t->n_lines; i++) {
    const unsigned h = strong_hash(t->line[i].line);
    count[h] = (uint16_t)(count[h] + delta);
    if (!s->count[h] && !s->loads[h]) s->way[h] = WAY_NONE;
  }
  s->n += (uint32_t)(delta * t->n_lines);
}

/* An atomic is sent. */
static inline void strong_atomic_sent(struct strong_lines *s, const struct txn *t)
{
  if (t->op != MEM_ATOMIC && t->op != MEM_RED) return;
  for (unsigned i = 0; i < t->n_lines; i++) s->atomics[strong_hash(t->line[i].line)]++;
  s->atomics_sent += t->n_lines;
}

static inline void strong_atomic_answered(struct strong_lines *s, const struct txn *t)
{
  if (t->op != MEM_ATOMIC && t->op != MEM_RED) return;
  for (unsigned i = 0; i < t->n_lines; i++) s->atomics[strong_hash(t->line[i].line)]--;
  s->atomics_answered += t->n_lines;
}

/* A strong load at the head of its queue: `behind` atomics had been sent when it came there. */
struct strong_wait {
  bool looked;
  uint32_t behind;
};

/* Does it ask for a line with an atomic on its way? It is sent when that is answered, or when as many are as had been
 * sent before it: others that update the line on and on, as they do who want its lock, must not hold it up for ever. */
static inline bool strong_load_waits(const struct strong_lines *s, const struct txn *t, struct strong_wait *w)
{
  if (s->atomics_sent == s->atomics_answered || t->op != MEM_LOAD) return false;
  if (!w->looked) *w = (struct strong_wait){true, s->atomics_sent};
  if ((int32_t)(s->atomics_answered - w->behind) >= 0) return false;
  for (unsigned i = 0; i < t->n_lines; i++)
    if (s->atomics[strong_hash(t->line[i].line)]) return true;
  return false;
}

/* Surely all that were sent to lines of this hash go to the same place? */
static inline bool strong_same_way(const struct strong_lines *s, uint64_t line, unsigned place)
{
  const uint16_t way = s->way[strong_hash(line)];
  return way == WAY_NONE || way == place + 1;
}

static inline void strong_sent(struct strong_lines *s, uint64_t line, unsigned place)
{
  s->way[strong_hash(line)] = strong_same_way(s, line, place) ? (uint16_t)(place + 1) : (uint16_t)WAY_SEVERAL;
}

#endif
