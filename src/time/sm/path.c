#include "time/sm/path.h"

#include "isa/path_order.h"

bool path_pick(struct warp_slot *w, const struct effect *e, uint64_t next_pc)
{
  const struct step_paths *p = &w->step->paths;
  if (p->n_ready == 0) return true;
  w->path = (uint8_t)path_after(p, w->path, e);
  return p->p[w->path].pc != next_pc;
}

enum warp_state path_hold(const struct warp_slot *w)
{
  const struct step_paths *p = &w->step->paths;
  for (unsigned i = 0; i < p->n; i++)
    if (p->p[i].wait == PATH_WAIT_BAR) return WS_BARRIER;
  return WS_CONVERGE;
}
