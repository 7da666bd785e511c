/* Check bits of a channel whose memory holds them among the data (inline ECC): which of them lie in the controller.
 *
 *   in       accesses of data, in the order in which the channel takes them
 *   out      how many 32-byte bursts of check bits go over the bus with each
 *   rule     the check bits of dram.ecc_span bytes of a channel's data are one burst. A read whose check bits are not
 *            here fetches them; a write does, too, as it changes a part of them, and they are written back when others
 *            take their place
 *   params   dram.ecc (inline), dram.ecc_span, dram.ecc_entries
 *
 * Why: boards with GDDR memory have no devices for check bits, so these take a sixteenth of the memory, and of its rate
 * at least (NVIDIA's white paper on the V100 says 6.25 % of a K40); HBM has bits of its own.
 *   not modelled: the place of check bits (they count as in the row of their data), corrections
 */
#ifndef WS_TIME_MEM_ECC_CACHE_H
#define WS_TIME_MEM_ECC_CACHE_H

#include "base/arena.h"
#include "config/params.h"

struct ecc_cache {
  uint64_t *held; /* entry: 2 * (number of the span + 1), lowest bit: changed; 0: empty */
  unsigned mask, lines_log2; /* entries - 1; lines of a span */
};

/* Without inline ECC every access answers 0. */
void ecc_cache_init(struct ecc_cache *, struct arena *, const struct params *);

/* Bursts of check bits that an access of this line of the channel moves: 0 to 2. */
static inline unsigned ecc_cache_access(struct ecc_cache *e, uint64_t local, bool write)
{
  if (!e->held) return 0;
  uint64_t span = local >> e->lines_log2, is = (span + 1) << 1;
  uint64_t *entry = &e->held[span & e->mask];
  if ((*entry & ~1ull) == is) {
    *entry |= write;
    return 0;
  }
  unsigned bursts = 1 + (unsigned)(*entry & 1);
  *entry = is | write;
  return bursts;
}

#endif
