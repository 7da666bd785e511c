/* Paths of a warp (func/sass/paths.h). Rules: "Execution of divergent threads using a convergence barrier" (US patent
 * application 2016/0019066: a barrier is clear when each of its threads is blocked at it or has yielded), PTX ISA (bar,
 * bar.warp.sync), compiler output (CUDA 13.0); why groups have an identity: docs/decisions/0004-convergence-groups.md.
 */
#include "func/sass/paths.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "func/sass/func_launch.h"
#include "func/sass/groups.h"
#include "func/sass/spin.h"

/* PATIENCE: YIELDs of a warp, none of which released a wait, before one of them is taken for a spin loop;
 * PATIENCE_INSIDE: where the group that holds it up is in a B register, so that the YIELD is in a region inside or in a
 * function that does without convergence of its own. PATIENCE_ROUNDS: YIELDs of each path before a loop in the region
 * itself is taken for one although its registers change: it counts what it tried, or looks at the clock. */
enum { INST_BYTES = 16, PATIENCE = 1 << 14, PATIENCE_INSIDE = 1 << 11, PATIENCE_ROUNDS = 1 << 8 };

static struct step_path *current(struct func_warp *w)
{
  return &w->step.paths.p[w->cur];
}

static void append(struct func_warp *w, uint64_t pc, uint32_t mask, enum path_wait wait,
                   unsigned park)
{
  struct step_paths *ps = &w->step.paths;
  BUG_ON(ps->n == STEP_MAX_PATHS); /* lanes are disjoint: there cannot be more paths than lanes */
  ps->p[ps->n] = (struct step_path){.pc = pc, .mask = mask, .wait = (uint8_t)wait};
  w->park[ps->n++] = (uint8_t)park;
}

/* Removes empty entries and recounts the ready ones. */
static void compact(struct func_warp *w)
{
  struct step_paths *ps = &w->step.paths;
  unsigned n = 0, ready = 0;
  for (unsigned i = 0; i < ps->n; i++) {
    if (!ps->p[i].mask) continue;
    if (n != i) {
      ps->p[n] = ps->p[i];
      w->park[n] = w->park[i];
    }
    ready += ps->p[n].wait == PATH_READY;
    n++;
  }
  ps->n = (uint8_t)n;
  ps->n_ready = (uint8_t)ready;
}

static uint32_t yielded_lanes(const struct func_warp *w)
{
  uint32_t lanes = 0;
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].wait == PATH_READY && ps->p[i].yielded) lanes |= (uint32_t)ps->p[i].mask;
  }
  return lanes;
}

static unsigned first_lane(const struct func_warp *w, unsigned path)
{
  return bits_first(w->step.paths.p[path].mask);
}

/* Number of the group for which path i waits at a BSYNC; all its lanes wait for the same. */
static uint32_t waits_in(const struct func_warp *w, unsigned i)
{
  return w->breg[w->park[i]][first_lane(w, i)];
}

static bool at_bsync(const struct func_warp *w, unsigned i)
{
  const struct step_path *p = &w->step.paths.p[i];
  return p->mask && p->wait == PATH_WAIT_CONVERGE && w->park[i] < PARK_WARPSYNC;
}

/* Lanes that wait at a BSYNC for group `id`, each wherever it keeps its reference. */
static uint32_t bsync_lanes(const struct func_warp *w, uint32_t id)
{
  uint32_t lanes = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (at_bsync(w, i) && waits_in(w, i) == id) lanes |= (uint32_t)w->step.paths.p[i].mask;
  return lanes;
}

static uint32_t warpsync_lanes(const struct func_warp *w, uint32_t mask)
{
  uint32_t lanes = 0;
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].mask && ps->p[i].wait == PATH_WAIT_CONVERGE && w->park[i] == PARK_WARPSYNC &&
        w->park_mask[first_lane(w, i)] == mask) {
      lanes |= (uint32_t)ps->p[i].mask;
    }
  }
  return lanes;
}

/* Lanes that path i, which waits for convergence, still misses. */
static uint32_t missing(const struct func_warp *w, unsigned i)
{
  if (w->park[i] < PARK_WARPSYNC) return group_lanes(w, waits_in(w, i)) & ~bsync_lanes(w, waits_in(w, i));
  uint32_t mask = w->park_mask[first_lane(w, i)];
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
  if (at_bsync(w, i)) return missing(w, i) & ~not_awaited(w, waits_in(w, i), idle);
  if (w->step.paths.p[i].wait == PATH_WAIT_CONVERGE) return missing(w, i);
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
      if (at_bsync(w, i) && waits_in(w, i) >= newest) continue;
      if (needs(w, i, idle) & held) held |= (uint32_t)ps->p[i].mask;
    }
  } while (held != before);
  return held;
}

/* Moves the lanes of released paths with the same pc and reason into the first of them. */
static void merge_released(struct func_warp *w, uint32_t released)
{
  struct step_path *p = w->step.paths.p;
  for (; released; released &= released - 1) {
    unsigned i = bits_first(released);
    for (uint32_t rest = released & (released - 1); rest; rest &= rest - 1) {
      unsigned j = bits_first(rest);
      if (!p[i].mask || !p[j].mask || p[j].pc != p[i].pc || w->park[j] != w->park[i]) continue;
      if (w->park[i] < PARK_WARPSYNC && waits_in(w, j) != waits_in(w, i)) continue;
      if (w->park[i] == PARK_WARPSYNC && w->exclusive >> first_lane(w, i) & 1 &&
          w->park_mask[first_lane(w, i)] != w->park_mask[first_lane(w, j)]) {
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
    if (p[i].mask && w->park[i] < PARK_WARPSYNC) group_leave(w, waits_in(w, i), (uint32_t)p[i].mask);
  }
}

/* Lanes parked at a BSYNC, in whatever group. */
static uint32_t parked_lanes(const struct func_warp *w)
{
  uint32_t lanes = 0;
  for (unsigned i = 0; i < w->step.paths.n; i++)
    if (at_bsync(w, i)) lanes |= (uint32_t)w->step.paths.p[i].mask;
  return lanes;
}

/* Whether path i waits for convergence no longer. Mostly a look at all parked lanes tells that it still does. */
static bool converged(const struct func_warp *w, unsigned i, uint32_t parked, uint32_t idle)
{
  if (w->park[i] < PARK_WARPSYNC && group_lanes(w, waits_in(w, i)) & ~(parked | idle)) return false;
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
    if (!p->mask || p->wait != PATH_WAIT_CONVERGE || at_bsync(w, i) != bsync) continue;
    uint32_t id = bsync ? waits_in(w, i) : GROUP_MAX_ID;
    uint32_t there = bsync ? bsync_lanes(w, id) : warpsync_lanes(w, w->park_mask[first_lane(w, i)]);
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

/* Releases the paths that need not wait any longer. */
static void wake(struct func_warp *w, struct effect *e)
{
  struct step_paths *ps = &w->step.paths;
  uint32_t idle = yielded_lanes(w), released = complete(w, idle);
  if (!released) released = untangle(w, idle);
  for (uint32_t r = released; r; r &= r - 1) ps->p[bits_first(r)].wait = PATH_READY;
  if (released) {
    w->spins = 0;
    merge_released(w, released);
    leave_released(w, released);
    e->flags |= EFF_MERGED;
  }
  compact(w);
}

/* Blocks lanes `part` of the current path, whose pc has been advanced already. The path keeps
 * its entry for the lanes that are left; when none are, the first blocked part takes it. */
static unsigned block(struct func_warp *w, uint32_t part, enum path_wait wait, unsigned park)
{
  struct step_path *p = current(w);
  uint64_t left = p->mask & ~(uint64_t)part;
  if (left) {
    p->mask = left;
    append(w, p->pc, part, wait, park);
    return w->step.paths.n - 1u;
  }
  p->wait = (uint8_t)wait;
  w->park[w->cur] = (uint8_t)park;
  return w->cur;
}

static void flag_blocked(const struct func_warp *w, uint32_t m, struct effect *e)
{
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if ((ps->p[i].mask & m) && ps->p[i].wait != PATH_READY) e->flags |= EFF_BLOCKED;
  }
}

void paths_init(struct func_warp *w, uint64_t pc)
{
  groups_begin(w);
  append(w, pc, w->mactive, PATH_READY, 0);
  w->step.paths.n_ready = 1;
}

void path_next(struct func_warp *w)
{
  current(w)->pc += INST_BYTES;
}

void path_jump(struct func_warp *w, uint32_t m, uint64_t target, struct effect *e)
{
  struct step_path *p = current(w);
  uint64_t next = p->pc + INST_BYTES;
  if (target == next) {
    p->pc = next;
    return;
  }
  if (target <= p->pc) e->flags |= EFF_BACKWARD;
  if (p->mask == m) {
    p->pc = target;
    e->flags |= EFF_JUMP;
    return;
  }
  p->pc = next;
  p->mask &= ~(uint64_t)m;
  append(w, target, m, PATH_READY, 0);
  w->step.paths.n_ready++;
  e->flags |= EFF_DIVERGED;
}

void path_jump_lanes(struct func_warp *w, uint32_t m, const uint64_t target[LANES],
                     struct effect *e)
{
  uint64_t pc = current(w)->pc;
  while (m) {
    uint64_t to = target[bits_first(m)];
    uint32_t same = 0;
    for (uint32_t r = m; r; r &= r - 1) {
      unsigned i = bits_first(r);
      if (target[i] == to) same |= 1u << i;
    }
    m &= ~same;
    bool whole = current(w)->mask == same;
    current(w)->pc = pc; /* every group leaves from the instruction itself */
    path_jump(w, same, to, e);
    if (to == pc + INST_BYTES && m) {
      /* These lanes fall through; give them their own entry so that the others can still jump. */
      current(w)->mask &= ~(uint64_t)same;
      append(w, to, same, PATH_READY, 0);
      w->step.paths.n_ready++;
      e->flags |= EFF_DIVERGED;
    }
    if (whole) return;
  }
}

static void bar_recheck(struct func_warp *w, struct effect *e);

void path_exit(struct func_warp *w, uint32_t m, struct effect *e)
{
  struct step_path *p = current(w);
  p->mask &= ~(uint64_t)m;
  p->pc += INST_BYTES;
  w->mactive &= ~m;
  e->flags |= EFF_EXITED;
  wake(w, e);
  if (!w->mactive) {
    e->flags |= EFF_WARP_DONE;
    if (--w->cta->step.warps_left == 0) e->flags |= EFF_CTA_DONE;
  }
  bar_recheck(w, e);
}

/* Lanes of m with the same group in barrier b as the first of m. */
static uint32_t same_group(const struct func_warp *w, unsigned b, uint32_t m)
{
  return m & w->launch->ops->equal(w->breg[b], w->breg[b][bits_first(m)]);
}

/* Lanes m lose what barrier b refers to: where no other reference to the group is left, they can never come to its
 * BSYNC and hold it up no longer. Returns whether there are such. */
static bool forget(struct func_warp *w, unsigned b, uint32_t m)
{
  bool left = false;
  for (uint32_t part; m; m &= ~part) {
    struct func_group *g = group_find(w, w->breg[b][bits_first(m)]);
    part = same_group(w, b, m);
    uint32_t gone = g ? g->members & part & ~g->kept : 0;
    if (!gone) continue;
    g->members &= ~gone;
    left = true;
  }
  return left;
}

static void add_depth(struct func_warp *w, uint32_t m, uint32_t by)
{
  for (unsigned i = 0; i < LANES; i++) w->depth[i] += by & -(m >> i & 1);
}

void path_call(struct func_warp *w, uint32_t m)
{
  w->called = true;
  add_depth(w, m, 1);
}

void path_return(struct func_warp *w, uint32_t m)
{
  w->called = true;
  add_depth(w, m, UINT32_MAX);
}

bool path_bssy(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  bool left = forget(w, b, m);
  uint32_t id = group_open(w, m);
  if (!id) return false;
  w->launch->ops->fill(warp_breg(w, b), id, m);
  path_next(w);
  if (left) wake(w, e);
  return true;
}

void path_bsync(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  path_next(w);
  uint32_t id = w->breg[b][bits_first(m)];
  if (group_lanes(w, id) == m && same_group(w, b, m) == m) { /* all of the group is here */
    group_leave(w, id, m);
    return;
  }
  uint32_t waiting = 0;
  while (m) {
    uint32_t part = same_group(w, b, m), group = w->breg[b][bits_first(m)], members = group_lanes(w, group);
    m &= ~part;
    part &= members; /* who has left the group does not wait, */
    if (part == members) {
      group_leave(w, group, part); /* and a group that is all here stays with those that it came with */
      continue;
    }
    block(w, part, PATH_WAIT_CONVERGE, b);
    waiting |= part;
  }
  wake(w, e);
  flag_blocked(w, waiting, e);
}

void path_break(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  path_next(w);
  for (uint32_t part; m; m &= ~part) {
    part = same_group(w, b, m);
    group_leave(w, w->breg[b][bits_first(m)], part);
  }
  wake(w, e);
}

void path_drop(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  bool left = forget(w, b, m);
  w->launch->ops->fill(warp_breg(w, b), GROUP_NONE, m);
  path_next(w);
  if (left) wake(w, e);
}

void path_keep(struct func_warp *w, unsigned b, uint32_t m, bool clear, uint32_t word[LANES])
{
  for (; m; m &= m - 1) {
    unsigned i = bits_first(m);
    uint32_t id = w->breg[b][i];
    struct func_group *g = group_find(w, id);
    bool member = g && g->members >> i & 1;
    word[i] = member ? group_word(id, i) : 0;
    if (member) g->kept |= 1u << i;
    if (clear) w->breg[b][i] = GROUP_NONE;
  }
}

bool path_bring(struct func_warp *w, unsigned b, uint32_t m, const uint32_t word[LANES], struct effect *e)
{
  bool left = forget(w, b, m);
  uint32_t *row = warp_breg(w, b);
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    row[i] = word[i] >> i & 1 ? group_of_mask(w, word[i], i) : group_of_word(word[i], i);
    if (word[i] && !row[i]) return false;
  }
  path_next(w);
  if (left) wake(w, e);
  return true;
}

uint32_t path_group(const struct func_warp *w, unsigned b, unsigned lane)
{
  return group_lanes(w, w->breg[b][lane]);
}

void path_warpsync(struct func_warp *w, uint32_t m, const uint32_t mask[LANES], struct effect *e)
{
  path_next(w);
  const struct lane_ops *ops = w->launch->ops;
  uint32_t first = mask[bits_first(m)], lanes = m;
  ops->blend(w->park_mask, mask, m);
  if (!(m & ~ops->equal(mask, first)) && !(first & w->mactive & ~m)) return; /* converged already */
  while (m) {
    uint32_t value = mask[bits_first(m)], part = m & ops->equal(mask, value);
    m &= ~part;
    block(w, part, PATH_WAIT_CONVERGE, PARK_WARPSYNC);
  }
  wake(w, e);
  flag_blocked(w, lanes, e);
}

/* The newest group of which lanes wait at a BSYNC for lanes m; GROUP_NONE: nobody does. */
static uint32_t awaited_in(const struct func_warp *w, uint32_t m)
{
  uint32_t newest = GROUP_NONE;
  for (unsigned i = 0; i < w->step.paths.n; i++) {
    if (!at_bsync(w, i) || waits_in(w, i) <= newest) continue;
    if (group_lanes(w, waits_in(w, i)) & m) newest = waits_in(w, i);
  }
  return newest;
}

/* The current path is at a YIELD: do its lanes spin? What they change is looked at only where others wait for them,
 * since that takes longer. */
static void watch(struct func_warp *w)
{
  const struct step_path *p = current(w);
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
  current(w)->yielded = true;
  if (w->step.paths.n == 1) return;
  watch(w);
  if (stalled(w, yielded_lanes(w))) w->spins++;
  wake(w, e);
}

/* Counts the dead lanes of a warp with its last live ones. */
static void bar_top_up(struct func_barrier *b, const struct func_warp *w)
{
  uint32_t here = b->lanes[w->warp_id];
  if (!here || (w->mactive & ~here) || b->topped >> w->warp_id & 1) return;
  b->topped |= 1u << w->warp_id;
  b->arrived += LANES - bits_count(here);
}

static bool bar_complete(const struct func_cta *cta, const struct func_barrier *b)
{
  if (b->count) return b->arrived >= b->count;
  for (unsigned i = 0; i < cta->step.n_warps; i++) {
    if (cta->warps[i].mactive & ~b->lanes[i]) return false;
  }
  return true;
}

/* Ends the phase: every path waiting at barrier `id` becomes ready. Returns flags, as warp w sees it. */
static uint32_t bar_release(struct func_cta *cta, const struct func_warp *w, unsigned id)
{
  uint32_t flags = 0;
  struct func_barrier *b = &cta->barrier[id];
  uint32_t pred = b->red_op == 1 ? b->red_and : b->red_or;
  for (unsigned i = 0; i < cta->step.n_warps; i++) {
    struct func_warp *o = &cta->warps[i];
    struct step_paths *ps = &o->step.paths;
    bool any = false;
    for (unsigned k = 0; k < ps->n; k++) {
      if (ps->p[k].wait != PATH_WAIT_BAR || o->park[k] != PARK_BAR + id) continue;
      ps->p[k].wait = PATH_READY;
      ps->n_ready++;
      any = true;
    }
    if (!any) continue;
    o->stride = 0;
    o->red_pop = b->red_pop;
    o->red_pred = pred;
    flags |= o == w ? EFF_MERGED : EFF_BAR_RELEASED;
  }
  memset(b, 0, sizeof *b);
  return flags;
}

/* All that barrier `id` waits for in the CTA have arrived. */
static void bar_end(struct func_warp *w, unsigned id, struct effect *e)
{
  struct func_barrier *b = &w->cta->barrier[id];
  if (id < BAR_CLUSTER || !w->cta->cluster) {
    e->flags |= bar_release(w->cta, w, id);
  } else if (!b->told) {
    b->told = true;
    e->flags |= EFF_CLUSTER_ARRIVED;
  }
}

/* Exited threads are not expected any more: barriers may be complete now. */
static void bar_recheck(struct func_warp *w, struct effect *e)
{
  for (unsigned id = 0; id <= BAR_CLUSTER; id++) {
    struct func_barrier *b = &w->cta->barrier[id];
    if (!b->busy) continue;
    bar_top_up(b, w);
    if (bar_complete(w->cta, b)) bar_end(w, id, e);
  }
}

/* Lanes that meet at the same barrier instruction continue together. */
static void bar_merge(struct func_warp *w, unsigned path)
{
  struct step_paths *ps = &w->step.paths;
  uint32_t same = 0;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].wait == PATH_WAIT_BAR && w->park[i] == w->park[path] &&
        ps->p[i].pc == ps->p[path].pc) {
      same |= 1u << i;
    }
  }
  merge_released(w, same);
}

static void bar_block(struct func_warp *w, uint32_t m, unsigned park, struct effect *e)
{
  bar_merge(w, block(w, m, PATH_WAIT_BAR, park));
  compact(w);
  if (w->step.paths.n > 1) wake(w, e); /* others may wait for these at a BSYNC */
}

void path_bar(struct func_warp *w, unsigned id, unsigned op, uint32_t count, unsigned red,
              uint32_t pred, uint32_t m, struct effect *e)
{
  enum { OP_ARV = 1, OP_RED = 2 };
  struct func_barrier *b = &w->cta->barrier[id];
  path_next(w);
  if (w->cta->step.source->free_barriers && id < BAR_CLUSTER && op != OP_RED) return;
  if (!b->busy) *b = (struct func_barrier){.busy = true, .count = count, .red_and = FULL_MASK};
  b->arrived += bits_count(m);
  b->lanes[w->warp_id] |= m;
  bar_top_up(b, w);
  if (op == OP_RED) {
    b->red_op = red;
    b->red_pop += bits_count(pred & m);
    if (m & ~pred) b->red_and = 0;
    if (m & pred) b->red_or = FULL_MASK;
  }
  if (op != OP_ARV) bar_block(w, m, PARK_BAR + id, e);
  if (bar_complete(w->cta, b)) bar_end(w, id, e);
  flag_blocked(w, m, e);
}

void path_cluster_arrive(struct func_warp *w, uint32_t m, struct effect *e)
{
  enum { OP_ARV = 1 };
  path_bar(w, BAR_CLUSTER, OP_ARV, 0, 0, 0, m, e);
}

void path_cluster_wait(struct func_warp *w, uint32_t m, struct effect *e)
{
  path_next(w);
  m &= w->cta->barrier[BAR_CLUSTER].lanes[w->warp_id]; /* the end of a phase clears them */
  if (!m) return;
  bar_block(w, m, PARK_BAR + BAR_CLUSTER, e);
  flag_blocked(w, m, e);
}

void path_cluster_release(struct func_cta *cta)
{
  bar_release(cta, NULL, BAR_CLUSTER);
}

uint32_t path_lanes(const struct func_warp *w)
{
  const struct step_path *p = &w->step.paths.p[w->cur];
  return (uint32_t)(p->mask & ~p->helpers);
}

void path_quads(struct func_warp *w, uint32_t m)
{
  const uint32_t firsts = 0x11111111;
  uint32_t quads = (((m | m >> 1 | m >> 2 | m >> 3) & firsts)) * 0xf, own = path_lanes(w);
  current(w)->mask = own | quads;
  current(w)->helpers = quads & ~own;
  path_next(w);
}

void path_own(struct func_warp *w)
{
  current(w)->mask = path_lanes(w);
  current(w)->helpers = 0;
  path_next(w);
}

int path_describe(const struct func_warp *w, unsigned i, char *buf, size_t size)
{
  const struct step_path *p = &w->step.paths.p[i];
  unsigned long long pc = p->pc - INST_BYTES;
  unsigned mask = (unsigned)p->mask;
  if (p->wait == PATH_WAIT_BAR) {
    unsigned id = w->park[i] - PARK_BAR;
    const struct func_barrier *b = &w->cta->barrier[id];
    char want[24] = "all";
    if (b->count) snprintf(want, sizeof want, "%u", (unsigned)b->count);
    if (id == BAR_CLUSTER && b->told)
      return snprintf(buf, size, "warp %u lanes %08x pc 0x%llx: barrier of the cluster, its other CTAs",
                      (unsigned)w->warp_id, mask, pc);
    return snprintf(buf, size, "warp %u lanes %08x pc 0x%llx: BAR %u, %u of %s threads arrived",
                    (unsigned)w->warp_id, mask, pc, id, (unsigned)b->arrived, want);
  }
  if (p->wait == PATH_WAIT_CONVERGE) {
    return snprintf(buf, size, "warp %u lanes %08x pc 0x%llx: %s misses lanes %08x",
                    (unsigned)w->warp_id, mask, pc,
                    w->park[i] == PARK_WARPSYNC ? "WARPSYNC" : "BSYNC", (unsigned)missing(w, i));
  }
  return snprintf(buf, size, "warp %u lanes %08x pc 0x%llx: ready", (unsigned)w->warp_id, mask,
                  (unsigned long long)p->pc);
}
