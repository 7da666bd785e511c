/* The timed GPU: runs kernels from a step source and answers with cycles and counters. */
#ifndef WS_TIME_GPU_GPU_H
#define WS_TIME_GPU_GPU_H

#include "base/gmem.h"
#include "config/params.h"
#include "isa/step.h"
#include "isa/watch.h"
#include "stats/stat.h"
#include "time/gpu/occupancy.h"
#include "time/sm/hazard.h"

struct gpu;

enum { GPU_MAX_GROUPS = 8 };

/* threads: host threads, >= 1. The result does not depend on it. */
struct gpu *gpu_new(const struct params *, unsigned threads);
void gpu_free(struct gpu *);

/* Runs one kernel to the end, to a limit, or until the watcher stops it. Caches stay warm in L2 from
 * kernel to kernel; L1 starts empty. RUN_FAULT fills *fault, RUN_REFUSED *e. A deadlock of the guest is a
 * fault whose details go to `report` (may be NULL). After any end but RUN_DONE the counters say what was
 * done so far, and the GPU cannot run another kernel: its blocks are still full of this one. */
enum run_end gpu_run(struct gpu *, struct step_source *, struct gmem *image,
                     const struct run_watch *, struct fault *, FILE *report, struct err *e);

/* Simulated time since gpu_new, ps: the end of the last kernel. */
uint64_t gpu_now(const struct gpu *);
/* Nothing happens until `when`, ps, rounded up to an SM cycle: the next kernel starts then. In the past:
 * no effect. */
void gpu_idle_until(struct gpu *, uint64_t when);

/* Turns the hazard checker on for the kernels that follow (time/sm/hazard.h). */
void gpu_check_hazards(struct gpu *);
/* Turns hazard emulation on for the kernels that follow (time/sm/emulate.h). Once. */
void gpu_emulate_hazards(struct gpu *);
/* Findings of the last kernel, summed over SMs; NULL when not checked. */
const struct hazard *gpu_hazards(const struct gpu *);

/* Counters of the last kernel: gpu, sm (sum over SMs), noc, l2, dram. Returns how many groups. */
unsigned gpu_stats_groups(struct gpu *, struct stat_group out[GPU_MAX_GROUPS]);

const struct occupancy *gpu_occupancy(const struct gpu *);

/* How fast the last kernel's CTAs were done between its first wave and its last: the times, ps, of
 * GPU_RATE_STEPS batches of *ctas CTAs one behind the other. False: it had too few CTAs. */
enum { GPU_RATE_STEPS = 8 };
bool gpu_rate(const struct gpu *, uint64_t batch_ps[GPU_RATE_STEPS], uint64_t *ctas);

/* Per-instruction books of the last kernel, summed over SMs: by_inst[index * n_states + state]
 * warp-cycles, issued[index] warp and threads[index] thread instructions; index as in the code view.
 * Caller frees all three. */
struct gpu_inst_profile {
  uint64_t n_insts;
  unsigned n_states;
  const char *const *state_name;
  uint64_t *by_inst, *issued, *threads;
};
struct gpu_inst_profile gpu_profile(const struct gpu *);

#endif
