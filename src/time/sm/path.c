#include "time/sm/path.h"

static const struct step_path *path_at(const struct step_paths *p, unsigned i)
{
  return i < p->n && p->p[i].wait == PATH_READY ? &p->p[i] : NULL;
}

/* Next ready path in turn after `from`; paths that yielded only when no other is ready. */
static unsigned next_ready(const struct step_paths *p, unsigned from)
{
  unsigned second = from;
  for (unsigned k = 1; k <= p->n; k++) {
    unsigned i = (from + k) % p->n;
    if (!path_at(p, i)) continue;
    if (!p->p[i].yielded) return i;
    if (second == from) second = i;
  }
  return second;
}

bool path_pick(struct warp_slot *w, const struct effect *e, unsigned inst_bytes)
{
  const struct step_paths *p = &w->step->paths;
  if (p->n_ready == 0) return true;
  bool turn = (e->flags & (EFF_BLOCKED | EFF_BACKWARD)) ||
              (e->inst->flags & (INST_YIELD | INST_SLEEP)) || !path_at(p, w->path);
  if (p->n > 1 && turn)
    w->path = (uint8_t)next_ready(p, w->path);
  else if (!path_at(p, w->path))
    w->path = (uint8_t)next_ready(p, 0);
  return p->p[w->path].pc != e->pc + inst_bytes;
}

enum warp_state path_hold(const struct warp_slot *w)
{
  const struct step_paths *p = &w->step->paths;
  for (unsigned i = 0; i < p->n; i++)
    if (p->p[i].wait == PATH_WAIT_BAR) return WS_BARRIER;
  return WS_CONVERGE;
}
