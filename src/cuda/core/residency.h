/* What a program says of L2: windows of memory whose lines shall stay or go first, how much of it is set aside for
 * those that stay, and how much DRAM is asked for at a time (CUDA C++ Programming Guide, "Device Memory L2 Access
 * Management"). What comes of it: time/mem/l2_residency.h. */
#ifndef WS_CUDA_RESIDENCY_H
#define WS_CUDA_RESIDENCY_H

#include <stdint.h>

#include "base/access_window.h"
#include "cuda/core/api.h"

struct board;
struct context;
struct shim;

/* Whether this GPU takes such a window; 0 bytes: none. */
CUresult residency_check(const struct board *, const CUaccessPolicyWindow *);
/* The same for the timing model. */
struct access_window residency_window(const CUaccessPolicyWindow *);
/* The limit, which is a L2's, of a context as the GPU can have it: hints beyond that are cut. */
uint64_t residency_limit(const struct board *, int limit, uint64_t value);
/* The limits of the context are those of its GPU from now on. */
void residency_apply(const struct context *);
/* On the current GPU: what persists is normal again. */
CUresult residency_reset(struct shim *);

#endif
