#include "time/mem/mem_stats.h"

#define STAT_NAME mem_stats
#define STAT_DEF  "time/mem/mem_stats.def"
#include "stats/stat_table.inc"
