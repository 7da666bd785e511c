/* Paths of a warp: divergence with convergence barriers (Volta and later).
 *
 * A path is a set of lanes with one pc. Paths split at divergent branches and merge only where
 * the program asks for convergence: at BSYNC, at WARPSYNC, and where lanes meet at the same CTA
 * barrier instruction. Two ready paths that happen to have the same pc stay apart.
 *
 * Order of the array: a split leaves the lanes that continue (fall through) in their entry and
 * appends the others at the end; a merge moves all lanes into the lowest of the entries; removed
 * entries close up, the rest keep their order. Only steps of the warp itself change the order; a
 * release by another warp's barrier only changes `wait`.
 *
 * A waiting path already has the pc at which it will continue.
 *
 * All functions work on the path being stepped, w->cur, and on its lanes m (never 0); the path's
 * other lanes go on at the next instruction. They set the flags of e.
 */
#ifndef WS_FUNC_SASS_PATHS_H
#define WS_FUNC_SASS_PATHS_H

#include "func/sass/func_warp.h"

enum { PARK_WARPSYNC = 16, PARK_BAR = 32 /* + barrier number */ };

/* All lanes of w->mactive at pc. */
void paths_init(struct func_warp *w, uint64_t pc);

/* The path's lanes go on at the next instruction. */
void path_next(struct func_warp *w);
/* Lanes m jump; other lanes of the path fall through. */
void path_jump(struct func_warp *w, uint32_t m, uint64_t target, struct effect *e);
/* Lanes m jump, each to its own target. */
void path_jump_lanes(struct func_warp *w, uint32_t m, const uint64_t target[LANES],
                     struct effect *e);
/* Lanes m are about to jump into a function, or out of one: whether a YIELD stands in the function that opened a group
 * depends on it. */
void path_call(struct func_warp *w, uint32_t m);
void path_return(struct func_warp *w, uint32_t m);
/* Lanes m exit. */
void path_exit(struct func_warp *w, uint32_t m, struct effect *e);

/* Convergence barrier b: lanes m open a group, wait for all of theirs, leave it without waiting (groups.h). A lane that
 * leaves a group leaves it for all its members, wherever they keep their reference to it, and no BSYNC waits for it any
 * more. path_bssy: false when too many groups are open. */
bool path_bssy(struct func_warp *w, unsigned b, uint32_t m, struct effect *e);
void path_bsync(struct func_warp *w, unsigned b, uint32_t m, struct effect *e);
void path_break(struct func_warp *w, unsigned b, uint32_t m, struct effect *e);

/* BMOV of lanes m between barrier b and registers: word[lane] stands for the lane's group; a word in which the lane's
 * own bit is set is a lane set of the program's making. path_drop: to RZ. path_keep does not move the path on.
 * path_bring: false when too many groups are open. */
void path_keep(struct func_warp *w, unsigned b, uint32_t m, bool clear, uint32_t word[LANES]);
bool path_bring(struct func_warp *w, unsigned b, uint32_t m, const uint32_t word[LANES], struct effect *e);
void path_drop(struct func_warp *w, unsigned b, uint32_t m, struct effect *e);
/* Lanes of the group that barrier b of a lane refers to. */
uint32_t path_group(const struct func_warp *w, unsigned b, unsigned lane);

/* Lanes m wait for the lanes of their mask[]. */
void path_warpsync(struct func_warp *w, uint32_t m, const uint32_t mask[LANES], struct effect *e);

/* The path lets others run. If it spins (spin.h), then until it is stepped again no BSYNC waits for it whose group is
 * the innermost that its lanes have in a B register and opened in the same call (US 2016/0019066, yielded threads:
 * nvcc's spin locks put BSYNC ahead of the critical section), and after many YIELDs no BSYNC at all; who is released
 * meanwhile leaves the group, the path's lanes stay. */
void path_yield(struct func_warp *w, struct effect *e);

/* CTA barrier. op: BAR_OP code 0 SYNC, 1 ARV, 2 RED, 4 SYNCALL; count in threads, 0 = whole CTA;
 * red: BAR_RED code; pred: predicate per lane (RED). Blocks lanes m unless op is ARV. */
void path_bar(struct func_warp *w, unsigned id, unsigned op, uint32_t count, unsigned red,
              uint32_t pred, uint32_t m, struct effect *e);

/* Barrier of the cluster: lanes m arrive; lanes m wait for the end of the phase in which they
 * arrived (PTX ISA, barrier.cluster). With the last of a CTA that has others in its cluster: EFF_CLUSTER_ARRIVED. */
void path_cluster_arrive(struct func_warp *w, uint32_t m, struct effect *e);
void path_cluster_wait(struct func_warp *w, uint32_t m, struct effect *e);
/* The phase has ended: the CTA's waiting paths become ready. */
void path_cluster_release(struct func_cta *);

/* Whole quads of lanes m take part from now on, until path_own: a gradient needs the coordinates of all four. */
void path_quads(struct func_warp *w, uint32_t m);
void path_own(struct func_warp *w);
/* The path's own lanes. */
uint32_t path_lanes(const struct func_warp *w);

/* One line on what path i waits for: for deadlock reports. Returns as snprintf. */
int path_describe(const struct func_warp *w, unsigned i, char *buf, size_t size);

#endif
