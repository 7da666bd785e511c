/* The page tables of a CPU, as a GPU on its memory walks them (time/mem/mmu.h), and what its operating system answers.
 *
 *   pages     below `end` those of the CPU's programs, of 4 KiB; above it those of the GPU's driver, of 2^driver_bits
 *   levels    three, of 512 entries each: a walk reads the entry of each that the walk cache does not know
 *   present   the operating system says whether a page is there; one that is touched first by the GPU is brought by it,
 *             one at a time, in fault_ps
 *   turns     the operating system and the GPU run one after the other: what either changes here the other sees whole
 */
#ifndef WS_TIME_MEM_PAGE_TABLES_H
#define WS_TIME_MEM_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "time/part.h"

enum { PAGE_TABLE_BITS = 9, PAGE_TABLE_LEVELS = 3, TABLE_PAGE_BITS = 12 };

#define PAGE_TABLES_STAT_LIST(X)                                                                   \
  X(asks, "pages that SMs asked for, each by itself")                                              \
  X(shared_hits, "of these, known to the TLB that they share")                                     \
  X(walks, "of these, walked for")                                                                 \
  X(reads, "entries of page tables that walks read")                                               \
  X(faults, "of walks, those that found no page: the operating system brought it")                 \
  X(queued_ps, "ps that walks waited for a walker, all together")                                  \
  X(flushes, "times that all translations of the GPU were dropped, since pages had changed")

struct page_tables_stats {
#define X(id, what) uint64_t id;
  PAGE_TABLES_STAT_LIST(X)
#undef X
};

struct page_tables {
  uint32_t entries, walk_entries, walkers; /* of the shared TLB, of the walk cache; walks at a time */
  picos shared_ps, read_ps, fault_ps; /* a look into the shared TLB; an entry read by a walk; a page brought */
  uint64_t end;
  unsigned driver_bits;
  /* Whether the page of an address was there; it is now. NULL: all are there. */
  bool (*touch)(void *ctx, uint64_t addr);
  void *ctx;
  uint32_t generation; /* another one: translations known so far are old */
  struct page_tables_stats stats;
};

/* The name of a page among those of both sizes. */
static inline uint64_t page_tables_page(const struct page_tables *t, uint64_t addr)
{
  return addr < t->end ? addr >> TABLE_PAGE_BITS << 1 : addr >> t->driver_bits << 1 | 1;
}

/* An address in it. */
static inline uint64_t page_tables_addr(const struct page_tables *t, uint64_t page)
{
  return page >> 1 << (page & 1 ? t->driver_bits : TABLE_PAGE_BITS);
}

#endif
