/* The timed GPU: runs kernels from a step source and answers with cycles and counters. It is a domain; a machine
 * (time/machine/machine.h) lets its time pass:
 *
 *   gpu_start(gpu, launches, …);  machine_run(machine, TIME_NEVER);  end = gpu_finish(gpu, …);
 */
#ifndef WS_TIME_GPU_GPU_H
#define WS_TIME_GPU_GPU_H

#include "base/gmem.h"
#include "config/params.h"
#include "isa/step.h"
#include "isa/watch.h"
#include "stats/stat.h"
#include "time/domain.h"
#include "time/gpu/occupancy.h"
#include "time/sm/hazard.h"

struct gpu;

enum { GPU_MAX_GROUPS = 8 };

struct gpu *gpu_new(const struct params *);
void gpu_free(struct gpu *);
struct domain *gpu_domain(struct gpu *);

/* A launch: its CTAs, and when it reaches the GPU, ps; in the past: at once. */
struct gpu_launch {
  struct step_source *source;
  uint64_t start;
};

/* Starts launches, in this order (time/gpu/dispatcher.h). None waits for another. Caches stay warm in L2 from run to
 * run; L1 starts empty. The watch, which must live until gpu_finish, ends the machine's run with a notice. False with
 * *e filled: one does not fit this GPU. */
bool gpu_start(struct gpu *, const struct gpu_launch *, unsigned n, struct gmem *image, const struct run_watch *,
               struct err *e);

/* The machine has stopped: idle, stuck or with a notice. How the launches ended: all of them, at a limit, or because
 * the watcher stopped them. RUN_FAULT fills *fault; a deadlock of the guest is a fault whose details go to `report`
 * (may be NULL). After any end but RUN_DONE the counters say what was done so far, and the GPU cannot run another
 * kernel: its blocks are still full of these. */
enum run_end gpu_finish(struct gpu *, struct fault *, FILE *report);

/* When launch number i of the last run reached the GPU, and when it ended: its last CTA, its last store in L2.
 * False: it did not end. */
bool gpu_launch_times(const struct gpu *, unsigned i, uint64_t *start, uint64_t *end);

/* Simulated time since gpu_new, ps: the end of the last run. */
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

/* Counters of the last run, all launches together: gpu (resident CTAs: of the first), sm (sum over SMs), noc, l2, dram. Returns how many groups. */
unsigned gpu_stats_groups(struct gpu *, struct stat_group out[GPU_MAX_GROUPS]);

/* Of the last run's launch number i. */
const struct occupancy *gpu_occupancy(const struct gpu *, unsigned i);

/* How fast the CTAs of the last run's first launch were done between its first wave and its last: the times, ps, of
 * GPU_RATE_STEPS batches of *ctas CTAs one behind the other. False: it had too few CTAs. */
enum { GPU_RATE_STEPS = 8 };
bool gpu_rate(const struct gpu *, uint64_t batch_ps[GPU_RATE_STEPS], uint64_t *ctas);

/* Per-instruction books of the last run's launch number i, summed over SMs; index as in the code view. */
struct gpu_inst_profile {
  uint64_t n_insts;
  unsigned n_states;
  const char *const *state_name;
  uint64_t *by_inst; /* [index * n_states + state], warp-cycles */
  uint64_t *issued, *threads;   /* [index], warp and thread instructions */
  uint64_t *sectors;            /* [index], 32-byte sectors of global, local and texture accesses */
  uint64_t *passes, *conflicts; /* [index], passes through the banks of shared memory; of those, above the least */
};
struct gpu_inst_profile gpu_profile(const struct gpu *, unsigned i);
void gpu_profile_free(struct gpu_inst_profile *);

#endif
