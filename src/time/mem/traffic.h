/* What one grid moves through L2 and DRAM, so that grids which run at the same time are told apart (mem_req.grid).
 * Summed over all grids, and code, which they share (GRID_NONE), these are the counters of l2_stats.def and
 * dram_stats.def. */
#ifndef WS_TIME_MEM_TRAFFIC_H
#define WS_TIME_MEM_TRAFFIC_H

#include <stdint.h>

/* Sectors. Who makes a slice write dirty lines back has that written, whoever stored them: they may be of a grid that
 * ended long ago. */
struct traffic {
  uint64_t l2_read, l2_written; /* l2_read_sectors; l2_write_sectors and l2_strong_write_sectors */
  uint64_t dram_read, dram_written;
};

static inline void traffic_add(struct traffic *to, const struct traffic *t)
{
  to->l2_read += t->l2_read;
  to->l2_written += t->l2_written;
  to->dram_read += t->dram_read;
  to->dram_written += t->dram_written;
}

/* after -= before. */
static inline void traffic_since(struct traffic *after, const struct traffic *before)
{
  after->l2_read -= before->l2_read;
  after->l2_written -= before->l2_written;
  after->dram_read -= before->dram_read;
  after->dram_written -= before->dram_written;
}

#endif
