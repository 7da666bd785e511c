/* Limits of contexts (CUlimit). */
#ifndef WS_CUDA_CONTEXT_LIMIT_H
#define WS_CUDA_CONTEXT_LIMIT_H

#include <stdint.h>

#include "cuda/core/api.h"

struct context;
struct shim;

/* Of the current context; of another one. */
CUresult context_limit(struct shim *, uint64_t *value, int limit);
CUresult context_limit_of(const struct context *, uint64_t *value, int limit);
CUresult context_set_limit(struct shim *, int limit, uint64_t value);

#endif
