/* What each scheduler (sub-core) of a GPU did in a launch, counted apart; and how long warps waited in cycles in which
 * their scheduler issued nothing (Nsight Compute's "not issued" samples). The SM's own counters (time/sm/sm_stats.def)
 * are of its sub-cores together. An observer: nothing is counted for a simulator that does not have it.
 *
 *   struct scheduler_tally *t = scheduler_tally_new(&params);
 *   options.observers = scheduler_tally_observers(t);    of every run of the simulator
 *   simulate(…);                                          a run forgets the one before
 *   scheduler_tally_of(t, sm, sub_core)->insts
 *   scheduler_tally_free(t);                              behind the simulator
 *
 * Cycles in which a scheduler issued are kept as bits, from the oldest cycle that a resident warp has still to be
 * charged for: as many as its longest wait has cycles.
 */
#ifndef WS_HOST_SCHEDULER_TALLY_H
#define WS_HOST_SCHEDULER_TALLY_H

#include <stdint.h>

#include "config/params.h"
#include "isa/inst.h"
#include "time/sm/warp_state.h"

struct scheduler_tally;
struct sim_observers;

struct scheduler_counts {
  uint64_t warps;                      /* that arrived */
  uint64_t insts, threads;             /* issued; lanes whose guard was true, as observers know them */
  uint64_t pipe[PIPE__N];              /* of insts */
  uint64_t state[WARP_STATE__N];       /* warp-cycles, as sm_stats.warp_state */
  uint64_t not_issued[WARP_STATE__N];  /* of these, in cycles in which the scheduler issued nothing */
};

struct scheduler_tally *scheduler_tally_new(const struct params *);
void scheduler_tally_free(struct scheduler_tally *);
const struct sim_observers *scheduler_tally_observers(const struct scheduler_tally *);
const struct scheduler_counts *scheduler_tally_of(const struct scheduler_tally *, unsigned sm, unsigned sub_core);

#endif
