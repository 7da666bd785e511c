/* `warpstep run --what-if`: the launch again without each cost asked for. */
#ifndef WS_CLI_RUN_WHAT_IF_H
#define WS_CLI_RUN_WHAT_IF_H

#include "cli/run_options.h"
#include "config/presets.h"
#include "host/what_if.h"

struct run_what_if {
  const struct run_options *opt;
  const struct launch_case *lc;
  const struct params *params;
  const struct sim_options *sim;     /* of the run with all costs */
  const struct sim_result *base;     /* … and what it said */
  struct what_if_result
      row[WHAT_IF_N]; /* filled: the largest gain first, then what is not known, then what was not seen */
  unsigned n;
};

/* False: e says why. An interrupted run leaves its row and those behind it unknown. */
bool run_what_if(struct run_what_if *, struct err *e);

#endif
