/* Private to host/snapshot*: whether what a capture says can be. A capture is a file of somebody else: its checksums
 * find damage, not intent, so every number is held against its range and against those it must agree with
 * before anything is built from it.
 *
 *   params        as much as a launch can take
 *   allocations   multiples of what gmem_alloc aligns to, ascending, without overlaps, below 2^48, 1 TiB together;
 *                 the module's variables are one of them; what comes next lies behind or between them
 *   heap          blocks without gaps that fill one allocation
 *   contents      runs in ascending order, each inside one allocation
 *   textures      as host/texture.h makes them (tex_object_check)
 */
#ifndef WS_HOST_SNAPSHOT_CHECK_H
#define WS_HOST_SNAPSHOT_CHECK_H

#include "host/snapshot.h"

#define SNAPSHOT_MEMORY_MAX (UINT64_C(1) << 40) /* bytes of all allocations */

/* False: e says what cannot be, as part of a sentence. */
bool snapshot_check(const struct snapshot *, struct err *e);

/* Most bytes that a list of runs over these allocations can have: what is written leaves 64 bytes out between two
 * runs, so their heads of 16 bytes are at most a quarter of the contents. */
uint64_t snapshot_runs_max(const struct snapshot *);

#endif
