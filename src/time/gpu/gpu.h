/* The timed GPU: runs kernels from a step source and answers with cycles and counters. */
#ifndef WS_TIME_GPU_GPU_H
#define WS_TIME_GPU_GPU_H

#include "base/gmem.h"
#include "config/params.h"
#include "isa/step.h"
#include "stats/stat.h"
#include "time/gpu/occupancy.h"
#include "time/sm/hazard.h"

struct gpu;

/* Optional progress report, called by the main thread between windows. */
struct gpu_progress {
  void (*fn)(void *ctx, uint64_t cycles, uint64_t ctas_done, uint64_t ctas_total, uint64_t insts);
  void *ctx;
  uint64_t interval_insts; /* warp instructions between two calls */
};

enum gpu_end {
  GPU_DONE,
  GPU_FAULT,   /* guest fault, see *fault */
  GPU_REFUSED, /* the kernel does not fit this GPU, see *e */
};

enum { GPU_MAX_GROUPS = 8 };

/* threads: host threads, >= 1. The result does not depend on it. */
struct gpu *gpu_new(const struct params *, unsigned threads);
void gpu_free(struct gpu *);

/* Runs one kernel to the end. caches stay warm in L2 from kernel to kernel; L1 starts empty. A
 * deadlock of the guest is a fault whose details go to `report` (may be NULL). */
enum gpu_end gpu_run(struct gpu *, struct step_source *, struct gmem *image,
                     const struct gpu_progress *, struct fault *, FILE *report, struct err *e);

/* Turns the hazard checker on for the kernels that follow (time/sm/hazard.h). */
void gpu_check_hazards(struct gpu *);
/* Findings of the last kernel, summed over SMs; NULL when not checked. */
const struct hazard *gpu_hazards(const struct gpu *);

/* Counters of the last kernel: gpu, sm (sum over SMs), noc, l2, dram. Returns how many groups. */
unsigned gpu_stats_groups(struct gpu *, struct stat_group out[GPU_MAX_GROUPS]);

const struct occupancy *gpu_occupancy(const struct gpu *);

/* Per-instruction books of the last kernel, summed over SMs: by_inst[index * n_states + state]
 * warp-cycles and issued[index] instructions; index as in the code view. Caller frees both. */
struct gpu_inst_profile {
  uint64_t n_insts;
  unsigned n_states;
  const char *const *state_name;
  uint64_t *by_inst, *issued;
};
struct gpu_inst_profile gpu_profile(const struct gpu *);

#endif
