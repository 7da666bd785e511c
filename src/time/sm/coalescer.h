/* Coalescer: the 128-byte lines and 32-byte sectors a warp's accesses touch. */
#ifndef WS_TIME_SM_COALESCER_H
#define WS_TIME_SM_COALESCER_H

#include "time/sm/txn.h"

/* Fills t->line and t->n_lines from t->mem for the lanes of a global access, in order of the first
 * lane that touches each. Returns the number of sectors. */
unsigned coalesce_global(struct txn *t);

/* The same for local memory: thread-private addresses are interleaved so that the same word of
 * all 32 threads shares a line. `space` is a line number unique to the warp's local memory. */
unsigned coalesce_local(struct txn *t, uint64_t space);

#endif
