/* Paths of a warp (func/paths.h). Rules: "Execution of divergent threads using a convergence
 * barrier" (US patent application 2016/0019066), PTX ISA (bar, bar.warp.sync), compiler output
 * (CUDA 13.0). Not known from any public source and chosen here: what a thread at YIELD does to a
 * BSYNC (it stops holding it up until it runs again: nvcc's spin locks put BSYNC before the
 * critical section and hang otherwise).
 */
#include "func/paths.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "func/launch.h"

enum { INST_BYTES = 16 };

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

/* Lanes that wait at BSYNC b for the same convergence as `lane`: those whose own group has it.
 * (Recursion: lanes at other depths wait on the same register with other groups.) */
static uint32_t bsync_lanes(const struct func_warp *w, unsigned b, unsigned lane)
{
  uint32_t lanes = 0;
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].mask && ps->p[i].wait == PATH_WAIT_CONVERGE && w->park[i] == b &&
        w->breg[b][first_lane(w, i)] >> lane & 1) {
      lanes |= (uint32_t)ps->p[i].mask;
    }
  }
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

/* Lanes that wait at a BSYNC for one of `lanes`. */
static uint32_t waiting_for(const struct func_warp *w, uint32_t lanes)
{
  uint32_t waiting = 0;
  const struct step_paths *ps = &w->step.paths;
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].mask && ps->p[i].wait == PATH_WAIT_CONVERGE && w->park[i] < PARK_WARPSYNC &&
        w->breg[w->park[i]][first_lane(w, i)] & lanes) {
      waiting |= (uint32_t)ps->p[i].mask;
    }
  }
  return waiting;
}

/* Lanes that path i, which waits for convergence, still misses. A WARPSYNC does not miss lanes that wait at a
 * BSYNC for those at the WARPSYNC: they cannot come. Inferred: Numba's reductions call __syncwarp() inside
 * `if (tid < 2)`, which the programming guide leaves undefined and which ends on GPUs. */
static uint32_t missing(const struct func_warp *w, unsigned i)
{
  unsigned lane = first_lane(w, i);
  if (w->park[i] == PARK_WARPSYNC) {
    uint32_t there = warpsync_lanes(w, w->park_mask[lane]);
    return w->park_mask[lane] & w->mactive & ~(there | waiting_for(w, there));
  }
  return w->breg[w->park[i]][lane] & w->mactive & ~bsync_lanes(w, w->park[i], lane);
}

/* Removes `gone` from the groups of the lanes in `from` at barrier b. */
static void leave_group(struct func_warp *w, unsigned b, uint32_t from, uint32_t gone)
{
  for (; from; from &= from - 1) w->breg[b][bits_first(from)] &= ~gone;
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
      if (w->park[i] < PARK_WARPSYNC && !(w->breg[w->park[i]][first_lane(w, j)] & p[i].mask)) {
        continue; /* another group on the same register */
      }
      if (w->park[i] == PARK_WARPSYNC && w->exclusive >> first_lane(w, i) & 1 &&
          w->park_mask[first_lane(w, i)] != w->park_mask[first_lane(w, j)]) {
        continue; /* .EXCLUSIVE, .COLLECTIVE: what follows acts on each group by itself */
      }
      p[i].mask |= p[j].mask;
      p[j].mask = 0;
    }
  }
}

/* Lanes that were not waited for (they sit at a YIELD) will converge without the released ones. */
static void drop_released(struct func_warp *w, uint32_t released)
{
  const struct step_path *p = w->step.paths.p;
  for (; released; released &= released - 1) {
    unsigned i = bits_first(released), b = w->park[i];
    if (!p[i].mask || b == PARK_WARPSYNC) continue;
    uint32_t gone = (uint32_t)p[i].mask;
    leave_group(w, b, w->breg[b][first_lane(w, i)] & ~gone, gone);
  }
}

/* Lanes parked at each BSYNC register, in whatever group. */
static void parked_lanes(const struct func_warp *w, uint32_t parked[N_BREGS])
{
  const struct step_paths *ps = &w->step.paths;
  memset(parked, 0, N_BREGS * sizeof *parked);
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].wait == PATH_WAIT_CONVERGE && w->park[i] < N_BREGS)
      parked[w->park[i]] |= (uint32_t)ps->p[i].mask;
  }
}

/* Whether path i waits for convergence no longer. Mostly a look at all parked lanes tells that it still does. */
static bool converged(const struct func_warp *w, unsigned i, const uint32_t parked[N_BREGS],
                      uint32_t idle)
{
  const unsigned b = w->park[i];
  if (b == PARK_WARPSYNC) return missing(w, i) == 0;
  if (w->breg[b][first_lane(w, i)] & w->mactive & ~(parked[b] | idle)) return false;
  return (missing(w, i) & ~idle) == 0;
}

/* Releases the paths whose convergence is complete. */
static void wake(struct func_warp *w, struct effect *e)
{
  struct step_paths *ps = &w->step.paths;
  uint32_t released = 0, idle = yielded_lanes(w), parked[N_BREGS];
  parked_lanes(w, parked);
  for (unsigned i = 0; i < ps->n; i++) {
    if (ps->p[i].wait != PATH_WAIT_CONVERGE || !ps->p[i].mask) continue;
    if (converged(w, i, parked, idle)) released |= 1u << i;
  }
  for (uint32_t r = released; r; r &= r - 1) ps->p[bits_first(r)].wait = PATH_READY;
  if (released) {
    merge_released(w, released);
    drop_released(w, released);
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

void path_bssy(struct func_warp *w, unsigned b, uint32_t m)
{
  w->launch->ops->fill(warp_breg(w, b), m, m);
  path_next(w);
}

void path_bsync(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  path_next(w);
  if ((w->breg[b][bits_first(m)] & w->mactive) == m) return; /* all of the group is here */
  uint32_t waiting = 0;
  while (m) {
    unsigned lane = bits_first(m);
    uint32_t group = w->breg[b][lane], part = m & w->launch->ops->equal(w->breg[b], group);
    m &= ~part;
    part &= group; /* a lane outside its group has left the barrier: it does not wait */
    if (part) block(w, part, PATH_WAIT_CONVERGE, b);
    waiting |= part;
  }
  wake(w, e);
  flag_blocked(w, waiting, e);
}

void path_break(struct func_warp *w, unsigned b, uint32_t m, struct effect *e)
{
  path_next(w);
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    leave_group(w, b, w->breg[b][i] & ~m, m);
    w->breg[b][i] &= ~m;
  }
  wake(w, e);
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

void path_yield(struct func_warp *w, struct effect *e)
{
  path_next(w);
  current(w)->yielded = true;
  if (w->step.paths.n > 1) wake(w, e);
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

void path_bar(struct func_warp *w, unsigned id, unsigned op, uint32_t count, unsigned red,
              uint32_t pred, uint32_t m, struct effect *e)
{
  enum { OP_ARV = 1, OP_RED = 2 };
  struct func_barrier *b = &w->cta->barrier[id];
  path_next(w);
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
  if (op != OP_ARV) bar_merge(w, block(w, m, PATH_WAIT_BAR, PARK_BAR + id));
  compact(w);
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
  bar_merge(w, block(w, m, PATH_WAIT_BAR, PARK_BAR + BAR_CLUSTER));
  compact(w);
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
