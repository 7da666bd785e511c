/* Paths of a warp (func/sass/paths.h): how they split, jump, block and end, and the groups that their lanes name. */
#include "func/sass/path_parts.h"

#include <stdio.h>

#include "base/bits.h"
#include "base/bug.h"
#include "func/sass/func_launch.h"
#include "func/sass/groups.h"

static void append(struct func_warp *w, uint64_t pc, uint32_t mask, enum path_wait wait, unsigned park)
{
  struct step_paths *ps = &w->step.paths;
  BUG_ON(ps->n == STEP_MAX_PATHS); /* lanes are disjoint: there cannot be more paths than lanes */
  ps->p[ps->n] = (struct step_path){.pc = pc, .mask = mask, .wait = (uint8_t)wait};
  w->park[ps->n++] = (uint8_t)park;
}

void paths_compact(struct func_warp *w)
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

unsigned path_block(struct func_warp *w, uint32_t part, enum path_wait wait, unsigned park)
{
  struct step_path *p = path_current(w);
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

void path_flag_blocked(const struct func_warp *w, uint32_t m, struct effect *e)
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
  path_current(w)->pc += INST_BYTES;
}

void path_jump(struct func_warp *w, uint32_t m, uint64_t target, struct effect *e)
{
  struct step_path *p = path_current(w);
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
  uint64_t pc = path_current(w)->pc;
  while (m) {
    uint64_t to = target[bits_first(m)];
    uint32_t same = 0;
    for (uint32_t r = m; r; r &= r - 1) {
      unsigned i = bits_first(r);
      if (target[i] == to) same |= 1u << i;
    }
    m &= ~same;
    bool whole = path_current(w)->mask == same;
    path_current(w)->pc = pc; /* every group leaves from the instruction itself */
    path_jump(w, same, to, e);
    if (to == pc + INST_BYTES && m) {
      /* These lanes fall through; give them their own entry so that the others can still jump. */
      path_current(w)->mask &= ~(uint64_t)same;
      append(w, to, same, PATH_READY, 0);
      w->step.paths.n_ready++;
      e->flags |= EFF_DIVERGED;
    }
    if (whole) return;
  }
}

void path_exit(struct func_warp *w, uint32_t m, struct effect *e)
{
  struct step_path *p = path_current(w);
  p->mask &= ~(uint64_t)m;
  p->pc += INST_BYTES;
  w->mactive &= ~m;
  e->flags |= EFF_EXITED;
  paths_wake(w, e);
  if (!w->mactive) {
    e->flags |= EFF_WARP_DONE;
    if (--w->cta->step.warps_left == 0) e->flags |= EFF_CTA_DONE;
  }
  barriers_recheck(w, e);
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
  if (left) paths_wake(w, e);
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
    path_block(w, part, PATH_WAIT_CONVERGE, b);
    waiting |= part;
  }
  paths_wake(w, e);
  path_flag_blocked(w, waiting, e);
}

void path_break(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  path_next(w);
  for (uint32_t part; m; m &= ~part) {
    part = same_group(w, b, m);
    group_leave(w, w->breg[b][bits_first(m)], part);
  }
  paths_wake(w, e);
}

void path_drop(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  bool left = forget(w, b, m);
  w->launch->ops->fill(warp_breg(w, b), GROUP_NONE, m);
  path_next(w);
  if (left) paths_wake(w, e);
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
  if (left) paths_wake(w, e);
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
    path_block(w, part, PATH_WAIT_CONVERGE, PARK_WARPSYNC);
  }
  paths_wake(w, e);
  path_flag_blocked(w, lanes, e);
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
  path_current(w)->mask = own | quads;
  path_current(w)->helpers = quads & ~own;
  path_next(w);
}

void path_own(struct func_warp *w)
{
  path_current(w)->mask = path_lanes(w);
  path_current(w)->helpers = 0;
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
                    w->park[i] == PARK_WARPSYNC ? "WARPSYNC" : "BSYNC", (unsigned)path_missing(w, i));
  }
  return snprintf(buf, size, "warp %u lanes %08x pc 0x%llx: ready", (unsigned)w->warp_id, mask,
                  (unsigned long long)p->pc);
}
