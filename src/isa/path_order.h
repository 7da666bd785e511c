/* Which path of a diverged warp runs next: the order of the timing model, which runs without time and traces
 * follow, too. */
#ifndef WS_ISA_PATH_ORDER_H
#define WS_ISA_PATH_ORDER_H

#include "isa/step.h"

static inline bool path_is_ready(const struct step_paths *p, unsigned i)
{
  return i < p->n && p->p[i].wait == PATH_READY;
}

/* Next ready path in turn after `from`; paths that yielded only when no other is ready. `from` when none is. */
static inline unsigned path_in_turn(const struct step_paths *p, unsigned from)
{
  unsigned second = from;
  for (unsigned k = 1; k <= p->n; k++) {
    unsigned i = (from + k) % p->n;
    if (!path_is_ready(p, i)) continue;
    if (!p->p[i].yielded) return i;
    if (second == from) second = i;
  }
  return second;
}

/* The path to run after path `now` did `e`. A path runs until it waits, branches backwards, yields or sleeps: others of
 * the warp may wait for it, or it for them. At least one path is ready. */
static inline unsigned path_after(const struct step_paths *p, unsigned now, const struct effect *e)
{
  bool turn = (e->flags & (EFF_BLOCKED | EFF_BACKWARD)) ||
              (e->inst->flags & (INST_YIELD | INST_SLEEP)) || !path_is_ready(p, now);
  if (p->n > 1 && turn) return path_in_turn(p, now);
  return path_is_ready(p, now) ? now : path_in_turn(p, 0);
}

#endif
