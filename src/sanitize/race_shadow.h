/* Private to sanitize/: who accessed memory last, in words or, where narrower accesses happen, in bytes.
 *
 * Global memory is followed in pages of 4 KiB that come into being when they are touched; shared memory as one table
 * of its CTA. Reads of two warps are kept of each cell: a write that nothing orders behind either is a race, and one
 * more reader would only find the same race again.
 */
#ifndef WS_SANITIZE_RACE_SHADOW_H
#define WS_SANITIZE_RACE_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

/* What `where` holds besides the number of the instruction. */
enum {
  RACE_INST_BITS = 22,
  RACE_LANE_AT = 22,           /* 5 bits */
  RACE_SILENT = 1 << 27,       /* a write of what was there already */
  RACE_STRONG = 1 << 28,       /* atomic or strong */
  RACE_ATOMIC = 1 << 29,
  RACE_OWN_CTA = 1 << 30,      /* strong in its CTA only */
};
#define RACE_COPY (UINT32_C(1) << 31) /* an asynchronous copy wrote it; its clock is the number of its group */

struct race_entry {
  uint32_t warp;  /* 1 + number in the grid; 0: none */
  uint32_t clock; /* of the warp when it accessed */
  uint32_t where;
};

/* What is kept of each cell, one layer each: the last write, and reads since. */
enum { RACE_WRITE, RACE_READ, RACE_LAYERS = RACE_READ + 2 };

enum { RACE_PAGE_BITS = 12, RACE_PAGE = 1 << RACE_PAGE_BITS, RACE_NEAR = 1 << 10 };

/* Cells of a piece of memory: of words until something narrower is accessed. What is only read has no layer of writes:
 * what an access touches of the host's memory is its cost. */
struct race_table {
  uint64_t bytes;
  bool by_byte;
  struct race_entry *layer[RACE_LAYERS]; /* by cell; NULL: nobody's yet */
};

/* Of `bytes` bytes, a multiple of 4, and empty. */
static inline struct race_table race_table_of(uint64_t bytes)
{
  return (struct race_table){.bytes = bytes};
}

void race_table_free(struct race_table *);
/* Makes the layer, which is not there. False: the host has no memory for it. */
bool race_table_add(struct race_table *, unsigned layer);
/* Makes cells of bytes out of those of words. */
bool race_table_split(struct race_table *);

struct race_page {
  _Alignas(64) uint64_t number; /* address >> RACE_PAGE_BITS */
  uint32_t launch;              /* what it holds is of this launch */
  struct race_table table;
};

struct race_shadow {
  struct race_page **slot; /* a hash table, its size a power of two */
  uint64_t n, size;
  struct race_page *near[RACE_NEAR]; /* of this launch, by their low bits: a hash table makes neighbours slow */
  uint64_t bytes, limit;   /* of layers */
  uint32_t launch;
};

void race_shadow_init(struct race_shadow *, uint64_t limit);
void race_shadow_free(struct race_shadow *);
/* Forgets all. */
void race_shadow_next_launch(struct race_shadow *);
/* The table of the page that holds addr. */
struct race_table *race_shadow_page(struct race_shadow *, uint64_t addr);
/* As race_table_add and race_table_split, within the limit. */
bool race_shadow_add(struct race_shadow *, struct race_table *, unsigned layer);
bool race_shadow_split(struct race_shadow *, struct race_table *);

#endif
