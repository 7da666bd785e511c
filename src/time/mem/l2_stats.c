#include "time/mem/l2_stats.h"

const char *const l2_op_name[L2_OP__N] = {
#define X(id, name) name,
    L2_OP_LIST(X)
#undef X
};

#define STAT_NAME l2_stats
#define STAT_DEF  "time/mem/l2_stats.def"
#include "stats/stat_table.inc"
