/* Where issue slots and warps of timed launches went, as the summary of `warpstep run` has it: by launch
 * in the JSON, by kernel in the table. */
#ifndef WS_CUDA_STALLS_H
#define WS_CUDA_STALLS_H

#include <stdint.h>
#include <stdio.h>

#include "host/limiter.h"
#include "host/simulate.h"
#include "time/sm/sm_stats.h"

struct json_t;
struct record;

/* Of one launch; every slot and every resident warp-cycle is charged once (sm_stats.def). */
struct stalls {
  uint64_t slot[SLOT__N], state[WARP_STATE__N];
  uint64_t links;         /* of the states: long_scoreboard, of answers over links */
  struct limiter limiter; /* only when `bound` */
  bool bound;             /* the launch ran to its end, all of it timed */
};

/* NULL: not timed, or launches that ran together, which are not told apart. The caller frees it. */
struct stalls *stalls_of(const struct params *, const struct sim_result *, const struct launch *);

/* Adds "slot", "warp_state" and "limiter" to the object of a launch; stalls may be NULL. */
void stalls_put_json(struct json_t *launch, const struct stalls *);

/* One block for each of the kernels that took most cycles. Nothing when no launch has any. */
void stalls_write_table(FILE *, const struct record *);

#endif
