/* Counters of the L2 slices (l2_stats.def). */
#ifndef WS_TIME_MEM_L2_STATS_H
#define WS_TIME_MEM_L2_STATS_H

#include "time/msg.h"

#define STAT_NAME l2_stats
#define STAT_DEF  "time/mem/l2_stats.def"
#include "stats/stat_struct.inc"

#endif
