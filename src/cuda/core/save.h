/* Saving launches as cases (`warpstep capture`, host/snapshot.h). */
#ifndef WS_CUDA_SAVE_H
#define WS_CUDA_SAVE_H

#include "cuda/core/modules.h"
#include "host/snapshot.h"

/* What launch `number` finds; NULL when it is not to be saved. Registered memory is in the guest already. */
struct snapshot *save_before(struct shim *, const struct loaded_module *, const struct launch_desc *,
                             uint64_t number);
/* Writes the case of the launch that just ended, and its line into the folder's manifest. NULL: nothing. A
 * failure is said on stderr; the program goes on. */
void save_after(struct shim *, struct snapshot *, const struct sim_result *);

#endif
