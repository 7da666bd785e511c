/* Which L2 slice holds a line, and its line number there: one function, which the crossbar uses.
 *
 *   linear    line mod slices: strides that share a factor with the number of slices fall on few
 *             of them
 *   permuted  as linear, then rotated by a hash of the line number inside the slice: each aligned
 *             run of as many lines as there are slices still covers every slice once, and strides
 * spread Any number of slices will do, and (slice, local) is as good as the line. The silicon's
 * hash is not published; what is known is that strides do not camp on a slice.
 */
#ifndef WS_TIME_MEM_L2_MAP_H
#define WS_TIME_MEM_L2_MAP_H

#include "config/params.h"

struct l2_place {
  uint32_t slice;
  uint64_t local; /* line number inside the slice, dense */
};

static inline struct l2_place l2_place(const struct params *p, uint64_t line)
{
  uint32_t n = p->l2_slices;
  uint64_t local = line / n;
  uint32_t slice = (uint32_t)(line - local * n);
  if (p->l2_slice_hash == L2_SLICE_HASH_PERMUTED) {
    uint32_t x = (uint32_t)(local ^ local >> 32) * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    slice = (slice + (x >> 8)) % n;
  }
  return (struct l2_place){slice, local};
}

#endif
