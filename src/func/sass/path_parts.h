/* What the parts of a warp's paths share: private to paths.c (the table and its operations), convergence.c (when those
 * that wait for each other go on) and cta_barrier.c (barriers of CTA and cluster).
 *
 * w->park[i] says where path i waits: a number below PARK_WARPSYNC is the B register of its BSYNC.
 */
#ifndef WS_FUNC_SASS_PATH_PARTS_H
#define WS_FUNC_SASS_PATH_PARTS_H

#include "base/bits.h"
#include "func/sass/paths.h"

enum { INST_BYTES = 16 };

static inline struct step_path *path_current(struct func_warp *w)
{
  return &w->step.paths.p[w->cur];
}

static inline unsigned path_first_lane(const struct func_warp *w, unsigned path)
{
  return bits_first(w->step.paths.p[path].mask);
}

static inline bool path_at_bsync(const struct func_warp *w, unsigned i)
{
  const struct step_path *p = &w->step.paths.p[i];
  return p->mask && p->wait == PATH_WAIT_CONVERGE && w->park[i] < PARK_WARPSYNC;
}

/* Number of the group for which path i waits at a BSYNC; all its lanes wait for the same. */
static inline uint32_t path_waits_in(const struct func_warp *w, unsigned i)
{
  return w->breg[w->park[i]][path_first_lane(w, i)];
}

/* ---- paths.c: the table ---- */

/* Removes empty entries and recounts the ready ones. */
void paths_compact(struct func_warp *w);
/* Blocks lanes `part` of the current path, whose pc has been advanced already. The path keeps its entry for the lanes
 * that are left; when none are, the first blocked part takes it. Returns the entry of the blocked ones. */
unsigned path_block(struct func_warp *w, uint32_t part, enum path_wait wait, unsigned park);
/* EFF_BLOCKED, if any of lanes m waits. */
void path_flag_blocked(const struct func_warp *w, uint32_t m, struct effect *e);

/* ---- convergence.c ---- */

/* Releases the paths that need not wait any longer. */
void paths_wake(struct func_warp *w, struct effect *e);
/* Moves the lanes of the paths of a set with the same pc and reason into the first of them. */
void paths_merge(struct func_warp *w, uint32_t set);
/* Lanes that path i, which waits for convergence, still misses. */
uint32_t path_missing(const struct func_warp *w, unsigned i);

/* ---- cta_barrier.c ---- */

/* Threads of the warp have exited and are not expected any more: barriers may be complete now. */
void barriers_recheck(struct func_warp *w, struct effect *e);

#endif
