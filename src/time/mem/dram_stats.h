/* Counters of the DRAM channels (dram_stats.def). */
#ifndef WS_TIME_MEM_DRAM_STATS_H
#define WS_TIME_MEM_DRAM_STATS_H

#define STAT_NAME dram_stats
#define STAT_DEF  "time/mem/dram_stats.def"
#include "stats/stat_struct.inc"

#endif
