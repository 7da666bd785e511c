/* Lines of an L2 slice that DRAM does not have as they are, in the order in which they were first stored to.
 *
 *   limit     l2.dirty_permille of the slice's lines: with more of them the oldest is to be written back. What a kernel
 *             leaves unwritten at its end is this much, of whatever it has stored (docs/accuracy-tried.md)
 *   order     of the first store: a later one to the same line does not make it younger
 *   not modelled: classes of data, an order by DRAM's rows (US 8,060,700; US 8,341,358)
 */
#ifndef WS_TIME_MEM_DIRTY_LINES_H
#define WS_TIME_MEM_DIRTY_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Places are numbered as tags_index() does. */
struct dirty_lines {
  struct dirty_line {
    uint32_t older, younger; /* places, or DIRTY_NONE */
  } * line;                  /* [place] */
  uint32_t oldest, youngest;
  uint32_t n, limit; /* limit UINT32_MAX: there is none */
};

#define DIRTY_NONE UINT32_MAX

/* permille 0: no limit; the limit is rounded up. */
void dirty_lines_init(struct dirty_lines *, struct arena *, uint32_t places, unsigned permille);
/* The line there was clean and is dirty now; the other way round. */
void dirty_lines_add(struct dirty_lines *, uint32_t place);
void dirty_lines_remove(struct dirty_lines *, uint32_t place);

static inline bool dirty_lines_too_many(const struct dirty_lines *d)
{
  return d->n > d->limit;
}

#endif
