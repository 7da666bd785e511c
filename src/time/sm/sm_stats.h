/* Counters of one SM (sm_stats.def). */
#ifndef WS_TIME_SM_SM_STATS_H
#define WS_TIME_SM_SM_STATS_H

#include "isa/step.h"
#include "stats/stat.h"
#include "time/msg.h"
#include "time/sm/mem_class.h"
#include "time/sm/warp_state.h"

extern const char *const warp_state_name[WARP_STATE__N];
extern const char *const slot_name[SLOT__N];
extern const char *const pipe_name[PIPE__N];
enum { COPY_WAYS = COPY__N - 1 }; /* the first one is none */
extern const char *const copy_way_name[COPY_WAYS];
extern const char *const mem_class_name[MEM_CLASS__N];

#define STAT_NAME sm_stats
#define STAT_DEF  "time/sm/sm_stats.def"
#include "stats/stat_struct.inc"

#endif
