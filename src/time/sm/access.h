/* The commonest shape of a warp's memory access, recognised once instead of lane by lane. */
#ifndef WS_TIME_SM_ACCESS_H
#define WS_TIME_SM_ACCESS_H

#include "base/bits.h"
#include "isa/step.h"

/* Lanes that are compared at once: a number the compiler knows. Other warp sizes go lane by lane. */
enum { ACCESS_LANES = 32 };

static inline bool access_is_whole(lane_mask mask, unsigned lanes)
{
  return mask == bits_ones(lanes) && lanes % ACCESS_LANES == 0;
}

/* Do all of the warp's lanes take part, each with the bytes behind those of the lane before? */
static inline bool access_dense(const struct mem_effect *m, lane_mask mask, unsigned lanes)
{
  if (!access_is_whole(mask, lanes)) return false;
  uint64_t at = m->addr[0], bytes = m->bytes, odd = 0;
  for (const uint64_t *addr = m->addr; addr < m->addr + lanes; addr += ACCESS_LANES)
    for (unsigned i = 0; i < ACCESS_LANES; i += 4, at += 4 * bytes)
      odd |= (addr[i] ^ at) | (addr[i + 1] ^ (at + bytes)) | (addr[i + 2] ^ (at + 2 * bytes)) |
             (addr[i + 3] ^ (at + 3 * bytes));
  return odd == 0;
}

#endif
