/* Contexts: the primary one and those a program makes. All see the same memory and modules. */
#ifndef WS_CUDA_CONTEXT_H
#define WS_CUDA_CONTEXT_H

#include "cuda/core/shim.h"

bool context_exists(const struct shim *, const struct cu_context *);
CUresult context_create(struct shim *, CUcontext *, unsigned flags);
CUresult context_destroy(struct shim *, CUcontext);
/* Makes it (NULL: none) the current one of the thread. */
CUresult context_set(struct shim *, CUcontext);
CUresult context_push(struct shim *, CUcontext);
CUresult context_pop(struct shim *, CUcontext *);
CUresult context_limit(struct shim *, uint64_t *value, int limit);
CUresult context_set_limit(struct shim *, int limit, uint64_t value);
/* Everything the program has goes away, also a fault: cudaDeviceReset. */
CUresult context_reset(struct shim *);

#endif
