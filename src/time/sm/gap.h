/* When a result can be read: rules that the hazard checker and hazard emulation share. */
#ifndef WS_TIME_SM_GAP_H
#define WS_TIME_SM_GAP_H

#include <stdbool.h>

#include "config/params.h"
#include "isa/hazard_role.h"
#include "isa/inst.h"

/* Cycles from the issue of a fixed-latency producer of this class to the first issue of a consumer in
 * this role that reads the result (gap.* in the preset). 0: the class has no fixed latency. */
static inline uint32_t gap_cycles(const struct params *p, unsigned lat, enum hazard_role role)
{
  switch (role) {
  case ROLE_SAME: return p->gap_same[lat];
  case ROLE_CROSS: return p->gap_cross[lat];
  case ROLE_QUEUED: return p->gap_queued[lat];
  case ROLE_ADDR: return p->gap_addr[lat];
  case ROLE_GUARD: return p->gap_guard[lat];
  default: return p->gap_pred[lat];
  }
}

/* The roles a register's consumers can have. */
static inline enum hazard_role gap_first_role(bool predicate)
{
  return predicate ? ROLE_GUARD : ROLE_SAME;
}

static inline enum hazard_role gap_last_role(bool predicate)
{
  return predicate ? ROLE_PRED : ROLE_ADDR;
}

/* Cycles after which a fixed-latency result is written: its earliest consumer sees it. What others need
 * more is their own way to it. */
static inline uint32_t gap_least(const struct params *p, unsigned lat, bool predicate)
{
  uint32_t least = UINT32_MAX;
  for (unsigned r = gap_first_role(predicate); r <= gap_last_role(predicate); r++) {
    uint32_t gap = gap_cycles(p, lat, (enum hazard_role)r);
    if (gap < least) least = gap;
  }
  return least;
}

/* Cycles after which a consumer in any role sees it. */
static inline uint32_t gap_most(const struct params *p, unsigned lat, bool predicate)
{
  uint32_t most = 0;
  for (unsigned r = gap_first_role(predicate); r <= gap_last_role(predicate); r++) {
    uint32_t gap = gap_cycles(p, lat, (enum hazard_role)r);
    if (gap > most) most = gap;
  }
  return most;
}

/* Its results come at a time the compiler does not know: it must protect them with a counter. A
 * counter that is missing does not change what the instruction is, hence the class decides, too. */
static inline bool variable_latency(const struct params *p, const struct inst *in)
{
  return in->pipe == PIPE_MEM || in->pipe == PIPE_SFU || (in->pipe == PIPE_FP64 && p->fp64_shared) ||
         in->ctrl.write_sb != SB_NONE || p->gap_same[in->lat] == 0;
}

#endif
