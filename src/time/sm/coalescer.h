/* Coalescer: the 128-byte lines and 32-byte sectors a warp's accesses touch. `lanes`: of a warp. Called by mem_access.c
 * as an instruction issues. */
#ifndef WS_TIME_SM_COALESCER_H
#define WS_TIME_SM_COALESCER_H

#include "config/params.h"
#include "time/sm/txn.h"

/* Fills t->line and t->n_lines from t->mem for the lanes of a global access, in order of the first
 * lane that touches each. True: the access is dense (access.h). */
bool coalesce_global(struct txn *t, unsigned lanes);

/* Of a global load or store: sectors beyond the fewest that hold as many bytes. 0 of atomics, which have their
 * lines. */
unsigned coalescer_excess(const struct txn *t);

/* ideal.coalescing, behind coalesce_global: the fewest sectors that hold as many bytes, at the first lane's address.
 * False: there were no more. */
bool coalesce_ideal(struct txn *t);

/* The same for the texels of a texture access. */
void coalesce_texels(struct txn *t);

/* The same for local memory: thread-private addresses are interleaved so that the same word of
 * all threads lies side by side, that of 32 threads in a line. `space` is a line number unique to the warp's local
 * memory. */
void coalesce_local(struct txn *t, uint64_t space, unsigned lanes);

/* Cycles the tag lookup of the lines takes: the most lines in one tag bank, at least 1. `masks`:
 * l1.tag_bank_masks. */
unsigned coalescer_tag_passes(const struct txn *t, const struct param_list *masks);

/* For the lines of an atomic access: how many updates of 64 bits each takes, and how many its most frequent word. */
void coalesce_atomics(struct txn *t);

#endif
