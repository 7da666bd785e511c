/* Unloaded latencies of memory instructions (Table 2 of Huerta et al., MICRO 2025), from the
 * preset's mlat.* rows. */
#ifndef WS_TIME_SM_MEM_LATENCY_H
#define WS_TIME_SM_MEM_LATENCY_H

#include "config/params.h"
#include "isa/inst.h"

/* Issue to the earliest dependent issue, cycles: raw for users of the result (0: no result), war
 * for overwriters of a source. `space`: where the access went (generic accesses are resolved). */
struct mem_latency {
  uint16_t raw, war;
};
struct mem_latency mem_latency(const struct params *, const struct inst *, unsigned space);

#endif
