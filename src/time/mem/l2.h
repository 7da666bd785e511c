/* L2 cache: tags, sector bits, dirty bits of the whole GPU. Data are not held.
 *
 *   params  l2.bytes, l2.ways, l2.perfect
 *   lines   128 bytes, 4 sectors of 32 bytes; LRU; write-back; a written sector needs no fetch
 *   not modelled: slices and their hash, partitions, misses in flight (a miss is filled at once;
 *   the caller adds the DRAM time)
 */
#ifndef WS_TIME_MEM_L2_H
#define WS_TIME_MEM_L2_H

#include <stdint.h>

#include "base/arena.h"
#include "config/params.h"

struct l2_way {
  uint64_t line, used;
  uint8_t sectors, dirty;
};

struct l2 {
  struct l2_way *way;
  uint64_t n_sets;
  unsigned n_ways;
  bool perfect;
  uint64_t stamp;
};

void l2_init(struct l2 *, struct arena *, const struct params *);

struct l2_access {
  uint8_t hit;          /* sector mask: valid before */
  uint8_t written_back; /* dirty sectors of the line evicted, their number */
};

/* Reads or writes sectors of a line; afterwards they are valid. */
struct l2_access l2_read(struct l2 *, uint64_t line, unsigned sectors);
struct l2_access l2_write(struct l2 *, uint64_t line, unsigned sectors);

#endif
