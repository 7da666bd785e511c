/* When the paths of a warp that wait for convergence go on (func/sass/path_parts.h). Rules: "Execution of divergent
 * threads using a convergence barrier" (US patent application 2016/0019066: a barrier is clear when each of its threads
 * is blocked at it or has yielded), compiler output (CUDA 13.0); why groups have an identity:
 * docs/decisions/0004-convergence-groups.md.
 */
#include "func/sass/path_parts.h"

#include "base/bits.h"
#include "func/sass/func_launch.h"
#include "func/sass/groups.h"
#include "func/sass/spin.h"

/* YIELDs of a warp, none of which released a wait, before one of them is taken for a spin loop; PATIENCE_INSIDE: where
 * the group that holds it up is in a B register, so that the YIELD is in a region inside or in a function that does
 * without convergence of its own. PATIENCE_ROUNDS: YIELDs of each path before a loop in the region itself is taken for
 * one although its registers change: it counts what it tried, or looks at the clock. */
enum { PATIENCE = 1 << 14, PATIENCE_INSIDE = 1 << 11, PATIENCE_ROUNDS = 1 << 8 };

static uint32_t yielded_lanes(const struct func_warp *w)
{
  uint32_t lanes = 0;
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].wait == PATH_READY && ps->p[i].yielded) lanes |= (uint32_t)ps->p[i].mask;
  }
  return lanes;
}

/* Lanes that wait at a BSYNC for group `id`, each wherever it keeps its reference. */
static uint32_t bsync_lanes(const struct func_warp *w, uint32_t id)
{
  uint32_t lanes = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (path_at_bsync(w, i) && path_waits_in(w, i) == id) lanes |= (uint32_t)w->step.paths.p[i].mask;
  return lanes;
}

static uint32_t warpsync_lanes(const struct func_warp *w, uint32_t mask)
{
  uint32_t lanes = 0;
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].mask && ps->p[i].wait == PATH_WAIT_CONVERGE && w->park[i] == PARK_WARPSYNC &&
        w->park_mask[path_first_lane(w, i)] == mask) {
      lanes |= (uint32_t)ps->p[i].mask;
    }
  }
  return lanes;
}

uint32_t path_missing(const struct func_warp *w, unsigned i)
{
  if (w->park[i] < PARK_WARPSYNC) return group_lanes(w, path_waits_in(w, i)) & ~bsync_lanes(w, path_waits_in(w, i));
  uint32_t mask = w->park_mask[path_first_lane(w, i)];
  return mask & w->mactive & ~warpsync_lanes(w, mask);
}

/* Of `lanes`, those that are inside a region that was opened later than group `id`. */
static uint32_t deeper(const struct func_warp *w, uint32_t id, uint32_t lanes)
{
  uint32_t inside = 0;
  for (uint32_t b = w->bregs_set; b; b &= b - 1) {
    const uint32_t *group = w->breg[bits_first(b)];
    for (uint32_t rest = lanes & ~inside; rest;) {
      uint32_t value = group[bits_first(rest)], same = rest & w->launch->ops->equal(group, value);
      if (value > id) inside |= same & group_lanes(w, value);
      rest &= ~same;
    }
  }
  return inside;
}

/* Of the lanes `idle`, which have yielded, those that group `id` does not wait for: who spins, has it as the
 * innermost in its B registers and opened it in the same call, so that the YIELD stands in the region itself. A lane
 * that yields further inside or in a callee is waited for, wherever the callee keeps its caller's group: nvcc relies
 * on functions to return converged, also on those that spin in a part, and has YIELDs in loops that only count.
 * Unless the warp has yielded PATIENCE_INSIDE or PATIENCE times, each time with all its paths blocked or yielded, and
 * no wait has ended: then the lane is taken to spin. YIELDs are counted per warp, not per loop: a callee that yields
 * that often and would have come back counts as spinning, too, and returns without those that waited. */
static uint32_t not_awaited(const struct func_warp *w, uint32_t id, uint32_t idle)
{
  uint32_t refer = 0;
  if (!idle || w->spins >= PATIENCE) return idle;
  const struct lane_ops *ops = w->launch->ops;
  for (uint32_t b = w->bregs_set; b; b &= b - 1) refer |= ops->equal(w->breg[bits_first(b)], id);
  refer &= idle;
  if (!refer || w->spins >= PATIENCE_INSIDE) return refer;
  const struct func_group *g = group_find(w, id);
  return g ? refer & w->spinning & ops->equal(w->depth, g->depth) & ~deeper(w, id, refer) : refer;
}

/* Lanes of the warp without which path i, which is blocked, cannot go on. A CTA barrier with a count may be completed
 * by other warps. */
static uint32_t needs(const struct func_warp *w, unsigned i, uint32_t idle)
{
  if (path_at_bsync(w, i)) return path_missing(w, i) & ~not_awaited(w, path_waits_in(w, i), idle);
  if (w->step.paths.p[i].wait == PATH_WAIT_CONVERGE) return path_missing(w, i);
  const struct func_barrier *b = &w->cta->barrier[w->park[i] - PARK_BAR];
  return b->count ? 0 : w->mactive & ~b->lanes[w->warp_id];
}

/* Lanes that cannot go on before those of `from` do, these included; waits at BSYNCs of group `newest` and of newer
 * ones do not count. */
static uint32_t held_by(const struct func_warp *w, uint32_t from, uint32_t newest, uint32_t idle)
{
  const struct step_paths *ps = &w->step.paths;
  uint32_t held = from, before;
  do {
    before = held;
    for (unsigned i = 0; i < ps->n; i++) {
      if (ps->p[i].wait == PATH_READY || !(ps->p[i].mask & ~(uint64_t)held)) continue;
      if (path_at_bsync(w, i) && path_waits_in(w, i) >= newest) continue;
      if (needs(w, i, idle) & held) held |= (uint32_t)ps->p[i].mask;
    }
  } while (held != before);
  return held;
}

void paths_merge(struct func_warp *w, uint32_t released)
{
  struct step_path *p = w->step.paths.p;
  for (; released; released &= released - 1) {
    unsigned i = bits_first(released);
    for (uint32_t rest = released & (released - 1); rest; rest &= rest - 1) {
      unsigned j = bits_first(rest);
      if (!p[i].mask || !p[j].mask || p[j].pc != p[i].pc || w->park[j] != w->park[i]) continue;
      if (w->park[i] < PARK_WARPSYNC && path_waits_in(w, j) != path_waits_in(w, i)) continue;
      if (w->park[i] == PARK_WARPSYNC && w->exclusive >> path_first_lane(w, i) & 1 &&
          w->park_mask[path_first_lane(w, i)] != w->park_mask[path_first_lane(w, j)]) {
        continue; /* .EXCLUSIVE, .COLLECTIVE: what follows acts on each group by itself */
      }
      p[i].mask |= p[j].mask;
      p[j].mask = 0;
    }
  }
}

/* The lanes leave their groups. Those that were not waited for (they sit at a YIELD) converge without them. */
static void leave_released(struct func_warp *w, uint32_t released)
{
  const struct step_path *p = w->step.paths.p;
  for (; released; released &= released - 1) {
    unsigned i = bits_first(released);
    if (p[i].mask && w->park[i] < PARK_WARPSYNC) group_leave(w, path_waits_in(w, i), (uint32_t)p[i].mask);
  }
}

/* Lanes parked at a BSYNC, in whatever group. */
static uint32_t parked_lanes(const struct func_warp *w)
{
  uint32_t lanes = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (path_at_bsync(w, i)) lanes |= (uint32_t)w->step.paths.p[i].mask;
  return lanes;
}

/* Whether path i waits for convergence no longer. Mostly a look at all parked lanes tells that it still does. */
static bool converged(const struct func_warp *w, unsigned i, uint32_t parked, uint32_t idle)
{
  if (w->park[i] < PARK_WARPSYNC && group_lanes(w, path_waits_in(w, i)) & ~(parked | idle)) return false;
  return needs(w, i, idle) == 0;
}

/* Whether no path of the warp will do anything by itself: all are blocked or have yielded. */
static bool stalled(const struct func_warp *w, uint32_t idle)
{
  uint32_t blocked = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (w->step.paths.p[i].wait != PATH_READY) blocked |= (uint32_t)w->step.paths.p[i].mask;
  return blocked && !(w->mactive & ~(blocked | idle));
}

/* Lanes at BSYNC (or at WARPSYNC) that are to be released because those they miss cannot come before they go on: of
 * several BSYNCs the innermost. */
static uint32_t hopeless(const struct func_warp *w, bool bsync, uint32_t idle)
{
  uint32_t lanes = 0, newest = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++) {
    const struct step_path *p = &w->step.paths.p[i];
    if (!p->mask || p->wait != PATH_WAIT_CONVERGE || path_at_bsync(w, i) != bsync) continue;
    uint32_t id = bsync ? path_waits_in(w, i) : GROUP_MAX_ID;
    uint32_t there = bsync ? bsync_lanes(w, id) : warpsync_lanes(w, w->park_mask[path_first_lane(w, i)]);
    if (id <= newest || needs(w, i, idle) & ~held_by(w, there, id, idle)) continue;
    lanes = there;
    newest = id;
  }
  return lanes;
}

/* What a stalled warp does, where lanes wait for each other in a circle. Lanes that have yielded may still break it,
 * unless they spin: nvcc begins functions with YIELD, and libraries of -G code have them. A WARPSYNC or a barrier must
 * have every lane it names, so the BSYNC gives way: nvcc jumps out of a region to a WARPSYNC or BAR without BREAK. Of
 * BSYNCs it is the innermost. Only then a WARPSYNC: Numba's reductions call __syncwarp() inside `if (tid < 2)` before a
 * CTA barrier, which the programming guide leaves undefined and which ends on GPUs. */
static uint32_t untangle(const struct func_warp *w, uint32_t idle)
{
  if (!stalled(w, idle) || (idle && w->spins < PATIENCE)) return 0;
  uint32_t paths = 0, lanes = hopeless(w, true, idle);
  if (!lanes) lanes = hopeless(w, false, idle);
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (w->step.paths.p[i].mask & lanes) paths |= 1u << i;
  return paths;
}

/* Paths whose convergence is complete. */
static uint32_t complete(const struct func_warp *w, uint32_t idle)
{
  uint32_t paths = 0, parked = parked_lanes(w);
  for (unsigned i = 0; i < w->step.paths.n; i++) {
    if (w->step.paths.p[i].wait != PATH_WAIT_CONVERGE || !w->step.paths.p[i].mask) continue;
    if (converged(w, i, parked, idle)) paths |= 1u << i;
  }
  return paths;
}

void paths_wake(struct func_warp *w, struct effect *e)
{
  struct step_paths *ps = &w->step.paths;
  uint32_t idle = yielded_lanes(w), released = complete(w, idle);
  if (!released) released = untangle(w, idle);
  for (uint32_t r = released; r; r &= r - 1) ps->p[bits_first(r)].wait = PATH_READY;
  if (released) {
    w->spins = 0;
    paths_merge(w, released);
    leave_released(w, released);
    e->flags |= EFF_MERGED;
  }
  paths_compact(w);
}

/* The newest group of which lanes wait at a BSYNC for lanes m; GROUP_NONE: nobody does. */
static uint32_t awaited_in(const struct func_warp *w, uint32_t m)
{
  uint32_t newest = GROUP_NONE;
  for (unsigned i = 0; i < w->step.paths.n; i++) {
    if (!path_at_bsync(w, i) || path_waits_in(w, i) <= newest) continue;
    if (group_lanes(w, path_waits_in(w, i)) & m) newest = path_waits_in(w, i);
  }
  return newest;
}

/* The current path is at a YIELD: do its lanes spin? What they change is looked at only where others wait for them,
 * since that takes longer. */
static void watch(struct func_warp *w)
{
  const struct step_path *p = path_current(w);
  const bool known = spin_is_known(w, p->pc);
  const uint32_t m = (uint32_t)p->mask, id = known ? GROUP_NONE : awaited_in(w, m);
  struct func_group *g = group_find(w, id);
  w->spinning = known ? w->spinning | m : w->spinning & ~m;
  if (!id || !g) return;
  spin_watch(w, m, id, p->pc, ++g->rounds >= PATIENCE_ROUNDS * (uint32_t)w->step.paths.n_ready);
}

void path_yield(struct func_warp *w, struct effect *e)
{
  path_next(w);
  path_current(w)->yielded = true;
  if (w->step.paths.n == 1) return;
  watch(w);
  if (stalled(w, yielded_lanes(w))) w->spins++;
  paths_wake(w, e);
}
