#include "time/mem/dram_stats.h"

#define STAT_NAME dram_stats
#define STAT_DEF  "time/mem/dram_stats.def"
#include "stats/stat_table.inc"
