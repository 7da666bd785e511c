/* Counters of each SM, each L2 slice and each DRAM channel alone, of one run: for those who ask how evenly the work was
 * spread. Their sums are what gpu_stats_groups has, but for what is counted beside them (commit.h's part of l2). */
#ifndef WS_TIME_GPU_INSTANCES_H
#define WS_TIME_GPU_INSTANCES_H

#include "time/mem/dram_stats.h"
#include "time/mem/l2_stats.h"
#include "time/sm/sm_stats.h"

struct netlist;

struct gpu_instances {
  unsigned n_sms, n_slices, n_channels;
  struct sm_stats *sm;
  struct l2_stats *l2;
  struct dram_stats *dram;
};

/* Counters since the netlist was built; for instances_free. */
struct gpu_instances instances_now(const struct netlist *);
/* after -= before: of the time in between. Both are of one netlist. */
void instances_since(struct gpu_instances *after, const struct gpu_instances *before);
void instances_free(struct gpu_instances *);

#endif
