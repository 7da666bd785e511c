/* The commonest shape of a warp's memory access, recognised once instead of lane by lane. */
#ifndef WS_TIME_SM_ACCESS_H
#define WS_TIME_SM_ACCESS_H

#include "isa/step.h"

enum { ACCESS_LANES = 32 };

/* Do all 32 lanes take part, each with the bytes behind those of the lane before? */
static inline bool access_dense(const struct mem_effect *m, lane_mask lanes)
{
  if (lanes != UINT32_MAX) return false;
  uint64_t at = m->addr[0], bytes = m->bytes, odd = 0;
  for (unsigned i = 0; i < ACCESS_LANES; i += 4, at += 4 * bytes)
    odd |= (m->addr[i] ^ at) | (m->addr[i + 1] ^ (at + bytes)) |
           (m->addr[i + 2] ^ (at + 2 * bytes)) | (m->addr[i + 3] ^ (at + 3 * bytes));
  return odd == 0;
}

#endif
