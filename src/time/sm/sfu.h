/* Special function unit of a sub-core: MUFU, conversions between types, POPC, FLO.
 *
 *   params  pipe.interval.sfu, sfu.latch_cycles; lat.sfu is the latency of one that need not wait
 *   rule    the unit begins an instruction every so many cycles. The next one waits in its input latch, with its
 *           operands, so that its warp goes on; the latch is free sfu.latch_cycles after the unit has begun it. 0: the
 *           next one waits for the unit at issue.
 *           Measured by two independent clock reads around three F2I, POPC or FLO on a TITAN V and a TITAN RTX
 *           (NMSU-PEARL/GPUs-ISA-Latencies): the third one issues 10 to 12 cycles after the first, not 16
 *   Times are computed at issue: nothing overtakes.
 */
#ifndef WS_TIME_SM_SFU_H
#define WS_TIME_SM_SFU_H

#include "config/params.h"

struct sfu {
  unsigned interval;  /* param */
  uint64_t begins_at; /* first cycle in which the unit can begin another instruction */
};

static inline void sfu_init(struct sfu *u, const struct params *p)
{
  *u = (struct sfu){.interval = p->pipe_interval[PIPE_SFU]};
}

/* An instruction issues at `now`; returns the cycles it waits in the latch. */
static inline uint64_t sfu_issue(struct sfu *u, uint64_t now)
{
  uint64_t begin = now > u->begins_at ? now : u->begins_at;
  u->begins_at = begin + u->interval;
  return begin - now;
}

#endif
