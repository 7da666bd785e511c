/* Counters of the interconnect (noc_stats.def). */
#ifndef WS_TIME_NOC_NOC_STATS_H
#define WS_TIME_NOC_NOC_STATS_H

#define STAT_NAME noc_stats
#define STAT_DEF  "time/noc/noc_stats.def"
#include "stats/stat_struct.inc"

#endif
