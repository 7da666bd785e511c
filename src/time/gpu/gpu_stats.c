#include "time/gpu/gpu_stats.h"

#define STAT_NAME gpu_stats
#define STAT_DEF  "time/gpu/gpu_stats.def"
#include "stats/stat_table.inc"
