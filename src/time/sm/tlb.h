/* Address translation of the L1 misses of one SM: two levels of TLB, then a page walk.
 *
 *   params  tlb.*, vm.page_bits
 *   place   behind L1, which is indexed and tagged by virtual addresses
 *   levels  the first is the SM's own, fully associative, LRU; the second is shared by all SMs in
 *           silicon, here each SM sees a copy of it: what one SM brings in does not help another.
 *           Where the GPU walks a CPU's page tables it is one for all (time/mem/mmu.h), and only the
 *           first level here is used (page_wait.h)
 *   time    a miss delays the request that missed and those for the page behind it; hits cost nothing
 *           (part of the unloaded latencies)
 *   not modelled: limits on walks at a time, page tables in L2 and DRAM
 */
#ifndef WS_TIME_SM_TLB_H
#define WS_TIME_SM_TLB_H

#include "config/params.h"
#include "time/mem/translations.h"
#include "time/sm/sm_stats.h"

struct tlb {
  unsigned page_shift; /* line number to page number */
  unsigned miss_cycles, walk_cycles;
  struct translations level[2];
  uint64_t last_page, last_ready; /* of the lookup before: most go to the same page */
};

void tlb_init(struct tlb *, struct arena *, const struct params *);

/* Cycle in which the translation of `line` (address / 128) is known, not before `now`. Counts misses. */
uint64_t tlb_translate(struct tlb *, uint64_t line, uint64_t now, struct sm_stats *);

#endif
