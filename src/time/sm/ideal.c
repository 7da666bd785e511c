#include "time/sm/ideal.h"

#include "base/bits.h"

struct ideal *ideal_new(struct arena *a, const struct params *p)
{
  bool wide = p->ideal_issue || p->ideal_divergence || p->ideal_local;
  if (!wide && !p->ideal_barriers) return NULL;
  struct ideal *i = ARENA_ARRAY(a, struct ideal, 1);
  i->issue = p->ideal_issue;
  i->divergence = p->ideal_divergence;
  i->local = p->ideal_local;
  i->barriers = p->ideal_barriers;
  i->wide = wide;
  i->effect.mem = &i->mem;
  return i;
}

/* Lanes of the path that runs, and of all paths. */
static void lanes_of(const struct warp_slot *w, unsigned *here, unsigned *all)
{
  const struct step_paths *paths = &w->step->paths;
  lane_mask live = 0;
  for (unsigned i = 0; i < paths->n; i++) live |= paths->p[i].mask;
  *here = bits_count(paths->p[w->path].mask);
  *all = bits_count(live);
}

static bool is_arithmetic(const struct inst *in)
{
  enum { PIPES = 1 << PIPE_ALU | 1 << PIPE_FMA | 1 << PIPE_HALF | 1 << PIPE_FP64 | 1 << PIPE_SFU };
  return (PIPES >> in->pipe & 1) && !(in->flags & ~(unsigned)INST_HALF_RATE_PORT);
}

static bool shares_time(const struct ideal *i, const struct warp_slot *w, const struct inst *in)
{
  return i->divergence && w->step->paths.n > 1 && is_arithmetic(in);
}

bool ideal_is_free(const struct ideal *i, const struct warp_slot *w, unsigned warp, const struct inst *in)
{
  if (i->local && in->mem.space == MEM_LOCAL) return true;
  if (!shares_time(i, w, in)) return false;
  unsigned here, all;
  lanes_of(w, &here, &all);
  return i->lanes[warp] + here < all;
}

bool ideal_take(struct ideal *i, const struct warp_slot *w, unsigned warp, const struct inst *in)
{
  bool free = ideal_is_free(i, w, warp, in);
  if (!shares_time(i, w, in)) return free;
  unsigned here, all;
  lanes_of(w, &here, &all);
  i->lanes[warp] = (uint8_t)(i->lanes[warp] + here - (free ? 0 : all));
  return free;
}
