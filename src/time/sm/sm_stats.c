#include "time/sm/sm_stats.h"

const char *const warp_state_name[WARP_STATE__N] = {
#define X(id, name) name,
    WARP_STATE_LIST(X)
#undef X
};

const char *const slot_name[SLOT__N] = {
#define X(id, name) name,
    WARP_STATE_LIST(X)
#undef X
        "no_warp",
};

const char *const pipe_name[PIPE__N] = {
#define X(id, name, text) name,
    PIPE_LIST(X)
#undef X
};

const char *const mem_class_name[MEM_CLASS__N] = {
#define X(id, name) name,
    MEM_CLASS_LIST(X)
#undef X
};

const char *const copy_way_name[COPY_WAYS] = {"load", "store", "reduce", "shared", "prefetch"};

#define STAT_NAME sm_stats
#define STAT_DEF  "time/sm/sm_stats.def"
#include "stats/stat_table.inc"
