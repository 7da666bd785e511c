/* Barriers of a CTA and of a cluster: which lanes have arrived, and who goes on (func/sass/paths.h). Rules: PTX ISA,
 * bar and barrier.cluster.
 */
#include "func/sass/path_parts.h"

#include <string.h>

#include "base/bits.h"
#include "func/sass/func_launch.h"

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

void barriers_recheck(struct func_warp *w, struct effect *e)
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
  paths_merge(w, same);
}

static void bar_block(struct func_warp *w, uint32_t m, unsigned park, struct effect *e)
{
  bar_merge(w, path_block(w, m, PATH_WAIT_BAR, park));
  paths_compact(w);
  if (w->step.paths.n > 1) paths_wake(w, e); /* others may wait for these at a BSYNC */
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
  path_flag_blocked(w, m, e);
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
  path_flag_blocked(w, m, e);
}

void path_cluster_release(struct func_cta *cta)
{
  bar_release(cta, NULL, BAR_CLUSTER);
}
