/* Counters of the memory side (mem_stats.def). */
#ifndef WS_TIME_MEM_MEM_STATS_H
#define WS_TIME_MEM_MEM_STATS_H

#define STAT_NAME mem_stats
#define STAT_DEF  "time/mem/mem_stats.def"
#include "stats/stat_struct.inc"

#endif
