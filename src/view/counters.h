/* Counters of a timed run under the names that Nsight Compute uses (counters.def, docs/counters.md). */
#ifndef WS_VIEW_COUNTERS_H
#define WS_VIEW_COUNTERS_H

#include <stdbool.h>

#include "stats/stat.h"

struct counter_desc {
  const char *name, *unit, *text;
  bool ratio; /* a quotient; else a sum */
};

extern const struct counter_desc counter_descs[];
extern const unsigned counter_n_descs;

/* Value of counter i from the groups of a timed run (gpu_stats_groups). False: it has none, because a
 * quotient has nothing to divide by. */
bool counter_value(unsigned i, const struct stat_group *group, unsigned n_groups, double *value);

#endif
