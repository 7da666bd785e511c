/* Contexts that go away, and all that was made in them. */
#ifndef WS_CUDA_CONTEXT_END_H
#define WS_CUDA_CONTEXT_END_H

#include "cuda/core/api.h"

struct board;
struct context;
struct shim;

/* The host waits for what is under way. CUDA_ERROR_INVALID_CONTEXT: there is none such, or it is the primary one. */
CUresult context_destroy(struct shim *, CUcontext);
/* It is no thread's current one any more, and gone; nothing of it is under way. */
void context_end(struct shim *, struct context *);
/* The contexts of a GPU as they were at the beginning (cudaDeviceReset): all parts are told. */
CUresult context_reset(struct shim *, struct board *);

#endif
