/* Counters of the whole GPU (gpu_stats.def). */
#ifndef WS_TIME_GPU_GPU_STATS_H
#define WS_TIME_GPU_GPU_STATS_H

#define STAT_NAME gpu_stats
#define STAT_DEF  "time/gpu/gpu_stats.def"
#include "stats/stat_struct.inc"

#endif
