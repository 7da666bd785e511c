#include "time/mem/l2_stats.h"

#define STAT_NAME l2_stats
#define STAT_DEF  "time/mem/l2_stats.def"
#include "stats/stat_table.inc"
