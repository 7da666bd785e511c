/* Translation of a GPU whose SMs share the page tables of a CPU: the second TLB, a page-walk cache, walkers.
 *
 *   params  struct page_tables, of the machine's group `cpu` (gpu_tlb_*, gpu_walk*)
 *   ports   from each core the pages that its own TLB does not know, to it their answers
 *   order   a serial part; asks by time, then by core
 *   time    a look into the shared TLB; behind a miss a walker, if one is free, reads one entry after the other; a page
 *           that is not there is brought by the operating system, one at a time, and its entry read again. Who asks for
 *           a page that is being walked for gets it when that walk has ended
 *   not modelled: entries of page tables as lines in L2 and DRAM, rights of pages, code and constants
 */
#ifndef WS_TIME_MEM_MMU_H
#define WS_TIME_MEM_MMU_H

#include "time/mem/translations.h"
#include "time/mem/page_tables.h"
#include "time/msg.h"

struct mmu_port {
  struct page_queue *asks, *answers; /* NULL: the core translates by itself */
};

struct mmu {
  struct page_tables *tables;
  picos back; /* to a core, ps */
  struct translations tlb, walks;
  picos *walker;        /* [tables->walkers]: busy until then */
  picos system_until;   /* the operating system is busy until then */
  uint32_t generation;
  struct mmu_port *port; /* [n_cores] */
  unsigned n_cores;
};

/* `back`: what an answer takes to a core, a window of the GPU at least. The caller connects ports. */
void mmu_init(struct mmu *, struct arena *, struct page_tables *, unsigned n_cores, picos back);

extern const struct part_ops mmu_ops;

#endif
