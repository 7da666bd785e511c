/* From a timed launch to a profiled one (ncu/ncu_action.h): values of all rows of ncu_metric.def, and its
 * instructions. */
#ifndef WS_NCU_COLLECT_H
#define WS_NCU_COLLECT_H

#include "host/simulate.h"
#include "load/line_table.h"
#include "ncu/ncu_action.h"

struct scheduler_tally;

struct ncu_launch {
  const struct params *params;
  const struct sim_result *result; /* a timed run alone on the GPU */
  const struct launch *launch;
  const struct module *module;
  const struct module_kernel *kernel;
  const uint32_t *grid, *block;
  uint32_t cluster[3], shared_dynamic;
  const struct scheduler_tally *tally; /* observed the run; NULL: nothing is known of schedulers alone */
  const struct line_table *lines; /* of the module; NULL: instructions are not collected */
};

/* Fills all but pid, context, stream and the names of process and GPU. The action owns nothing of the launch. The
 * caller frees it. */
void ncu_collect(struct ncu_action *, const struct ncu_launch *);

#endif
