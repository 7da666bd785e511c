/* A program under the debugger (`warpstep debug`, debug/debug_session.h). */
#ifndef WS_CUDA_DEBUGGED_H
#define WS_CUDA_DEBUGGED_H

#include "cuda/core/kernel.h"
#include "cuda/core/options.h"
#include "host/simulate.h"

struct debug_session;

/* *out is NULL when nobody debugs. False with e filled: the session cannot begin. */
bool debugged_start(const struct exec_options *, struct debug_session **out, struct err *e);
/* Whether it ran the launch, which stops as its user wants; false: nobody wants to look at it. The process may end
 * here. */
bool debugged_run(struct shim *, const struct launch_request *, struct launch *, uint64_t start_ps,
                  struct sim_result *);
/* The program ends. */
void debugged_finish(struct shim *);

#endif
