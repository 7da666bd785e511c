/* Requests of an SM that wait for the translation of their page, where the GPU walks a CPU's page tables
 * (time/mem/mmu.h).
 *
 *   params  tlb.l1_entries: the SM's own TLB, fully associative
 *   ports   pages asked for, answers
 *   order   requests of a page leave in the order in which they came; those of different pages overtake each other
 *   time    a page that the TLB knows costs nothing (part of the unloaded latencies)
 *   not modelled: limits on pages asked for at a time, but for the room of the SM's requests
 */
#ifndef WS_TIME_SM_PAGE_WAIT_H
#define WS_TIME_SM_PAGE_WAIT_H

#include "time/mem/translations.h"
#include "time/mem/page_tables.h"
#include "time/msg.h"
#include "time/sm/sm_stats.h"

struct page_wait {
  const struct page_tables *tables; /* NULL: nothing waits */
  struct translations *tlb;
  struct mem_req *held; /* in the order in which they came */
  uint32_t n, cap;
  uint64_t last;        /* page + 1 that was known last; 0: none */
  uint32_t generation;
  picos way;            /* to the memory side, ps */
  struct page_queue asks, answers;
};

/* From now on: with this TLB, room for `cap` requests (a power of two). */
void page_wait_open(struct page_wait *, struct arena *, const struct page_tables *, struct translations *tlb,
                    uint32_t cap, picos way);
/* Whether a line's page is known. */
bool page_wait_known(struct page_wait *, uint64_t line);
/* It is not: the request waits, and its page is asked for at `at`, ps. */
void page_wait_hold(struct page_wait *, const struct mem_req *, picos at, struct sm_stats *);
/* The first answer, if it has come by `now`: its requests leave, in `out`. False: none. */
bool page_wait_answer(struct page_wait *, picos now, struct req_queue *out, struct sm_stats *);

#endif
