/* Address translation of the L1 misses of one SM: two levels of TLB, then a page walk.
 *
 *   params  tlb.*, vm.page_bits
 *   place   behind L1, which is indexed and tagged by virtual addresses
 *   levels  the first is the SM's own, fully associative, LRU; the second is shared by all SMs in
 *           silicon, here each SM sees a copy of it: what one SM brings in does not help another
 *   time    a miss delays the request that missed and those for the page behind it; hits cost nothing
 *           (part of the unloaded latencies)
 *   not modelled: limits on walks at a time, page tables in L2 and DRAM
 */
#ifndef WS_TIME_SM_TLB_H
#define WS_TIME_SM_TLB_H

#include "base/arena.h"
#include "config/params.h"
#include "time/sm/sm_stats.h"

struct tlb_level {
  uint64_t *page;  /* page number + 1; 0: free */
  uint64_t *ready; /* cycle from which the entry can be used */
  uint32_t *used;  /* LRU stamp */
  unsigned n_sets, n_ways;
};

struct tlb {
  unsigned page_shift; /* line number to page number */
  unsigned miss_cycles, walk_cycles;
  struct tlb_level level[2];
  uint32_t stamp;
  uint64_t last_page, last_ready; /* of the lookup before: most go to the same page */
};

void tlb_init(struct tlb *, struct arena *, const struct params *);

/* Cycle in which the translation of `line` (address / 128) is known, not before `now`. Counts misses. */
uint64_t tlb_translate(struct tlb *, uint64_t line, uint64_t now, struct sm_stats *);

#endif
