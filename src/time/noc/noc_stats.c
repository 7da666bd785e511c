#include "time/noc/noc_stats.h"

#define STAT_NAME noc_stats
#define STAT_DEF  "time/noc/noc_stats.def"
#include "stats/stat_table.inc"
