/* What bounds a timed run, from its counters: one name and the evidence.
 *
 * A unit that works for 70 % of the time or more bounds the kernel, and else what its warps wait for most (issue slots
 * charged to a state); for memory, a unit that works for half of the time, as their peaks are never reached. Where a
 * third or more of a unit's load, or of what the warps wait for, comes from a cost that the source can avoid (bank
 * conflicts, uncoalesced or local accesses, divergence, contention of atomics), that cost is named. SMs without work
 * count first when they are a fifth of the time and more than any such cost, or when there are fewer CTAs than SMs. All
 * shares are of cycles with a CTA on the SM, but those of launch and tail, which are of the kernel. Rules and
 * thresholds: docs/limiter.md.
 */
#ifndef WS_HOST_LIMITER_H
#define WS_HOST_LIMITER_H

#include "host/simulate.h"

enum limiter_id {
#define LIMITER(id, key, name, costs) LIMITER_##id,
#include "host/limiter.def"
#undef LIMITER
  LIMITER__N
};

struct limiter {
  enum limiter_id id;
  double share;       /* of the time, 0 to 1: how much speaks for it */
  char evidence[200]; /* one line: "94 % of passes are conflicts, …" */
};

/* "bank_conflicts": does not change; name: "bank conflicts", for people. */
const char *limiter_key(enum limiter_id);
const char *limiter_name(enum limiter_id);
/* Costs for `run --what-if` that tell what it takes: "bank_conflicts"; "": a launch alone has no such cost. */
const char *limiter_costs(enum limiter_id);

/* Of a timed run alone on the GPU: how much of the time that memory took to answer is of answers over links, 0 to 1. */
double limiter_links(const struct params *, const struct sim_result *);

/* Of a timed run alone on the GPU; `launch` as in speed_of. */
struct limiter limiter_of(const struct params *, const struct sim_result *, const struct launch *);

#endif
