#include "view/counters.h"

#include <string.h>

#include "base/bug.h"
#include "time/gpu/gpu_stats.h"
#include "time/mem/dram_stats.h"
#include "time/mem/l2_stats.h"
#include "time/sm/sm_stats.h"

/* The groups, by the names that the expressions of counters.def use. */
struct counted {
  const struct gpu_stats *gpu;
  const struct sm_stats *sm;
  const struct l2_stats *l2;
  const struct dram_stats *dram;
};

static const void *group_called(const char *prefix, const struct stat_group *group, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (strcmp(group[i].prefix, prefix) == 0) return group[i].data;
  BUG("no statistics called %s", prefix);
}

const struct counter_desc counter_descs[] = {
#define SUM(name, unit, value, text) {name, unit, text, false},
#define RATIO(name, unit, factor, num, den, text) {name, unit, text, true},
#include "view/counters.def"
#undef SUM
#undef RATIO
};
const unsigned counter_n_descs = sizeof counter_descs / sizeof counter_descs[0];

/* Numerator and denominator; a sum has the denominator 1. */
static void fractions(struct counted c, double (*out)[2])
{
  unsigned i = 0;
#define SUM(name, unit, value, text) out[i][0] = (double)(value), out[i][1] = 1, i++;
#define RATIO(name, unit, factor, num, den, text)                                                  \
  out[i][0] = (factor) * (double)(num), out[i][1] = (double)(den), i++;
#include "view/counters.def"
#undef SUM
#undef RATIO
}

bool counter_value(unsigned i, const struct stat_group *group, unsigned n_groups, double *value)
{
  double all[sizeof counter_descs / sizeof counter_descs[0]][2];
  struct counted c = {
      .gpu = group_called("gpu", group, n_groups),
      .sm = group_called("sm", group, n_groups),
      .l2 = group_called("l2", group, n_groups),
      .dram = group_called("dram", group, n_groups),
  };
  BUG_ON(i >= counter_n_descs);
  fractions(c, all);
  if (all[i][1] == 0) return false;
  *value = all[i][0] / all[i][1];
  return true;
}
