/* How busy the units of a GPU are over the time of a launch: a series of points, each with all that happened since
 * the launch began, from which any stretch is the difference of two. Counters are looked at behind windows of the
 * model, not within them: without a series a run does one test per window, with one it adds up a few counters.
 *
 *   bounded   at most USAGE_POINTS points. When they are full every second one goes and the distance doubles, so that
 *             a launch of any length is looked at some hundred times for each doubling of its time
 *   exact     the last point is the end of the run: amounts up to there are the counters of the launch
 *   when      a unit's work is counted when the model knows of it, which may be up to a window ahead of its time
 *
 *   struct usage *u = usage_new();
 *   options.usage = u;
 *   simulate(…);                       a run forgets the one before
 *   usage_points(u, &n);
 *   usage_free(u);
 */
#ifndef WS_HOST_USAGE_H
#define WS_HOST_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct gpu;
struct usage;

enum { USAGE_POINTS = 512 };

#define USAGE_LIST(X)                                                                              \
  X(INSTS, "warp_insts")                                                                           \
  X(L1_BUSY, "l1_busy_cycles")   /* of the memory units of all SMs: L1 and shared memory */        \
  X(L2_BYTES, "l2_bytes")        /* of requests of SMs */                                          \
  X(DRAM_BYTES, "dram_bytes")    /* read and written */                                            \
  X(WARP_CYCLES, "warp_cycles")  /* resident warps, summed over cycles: as the dispatcher sees their CTAs */

enum usage_amount {
#define X(id, key) USAGE_##id,
  USAGE_LIST(X)
#undef X
  USAGE__N
};

extern const char *const usage_key[USAGE__N];

struct usage_point {
  uint64_t at;               /* ps since the launch began */
  uint64_t amount[USAGE__N]; /* since then */
};

struct usage *usage_new(void);
void usage_free(struct usage *);

/* For the runner. A run begins at `now`, ps of the GPU's clock, whose cycles and windows take so many ps. */
void usage_begin(struct usage *, const struct gpu *, uint64_t now, uint64_t cycle, uint64_t window);
/* Behind each window; nothing before the run begins. */
void usage_window(struct usage *, const struct gpu *, uint64_t now);
/* It has ended, `time` ps after it began. */
void usage_end(struct usage *, const struct gpu *, uint64_t time);

/* Without a GPU. Points are `distance` ps apart, to begin with, and at least 1. */
void usage_start(struct usage *, uint64_t distance);
/* A point `at` ps after the beginning, behind all others: nothing when it is not due, unless it is the last one, which
 * takes the place of others of its time. */
void usage_add(struct usage *, uint64_t at, const uint64_t amount[USAGE__N], bool last);

/* In the order of time; the first is at 0. None: nothing has run. */
const struct usage_point *usage_points(const struct usage *, unsigned *n);

#endif
