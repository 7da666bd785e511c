/* Green contexts: contexts of a GPU whose kernels run on some of its SMs alone (CUDA Driver API, "Green Contexts").
 * Memory, modules and limits are those of the GPU, as they are of all its contexts here; each has a default stream of
 * its own, for which its blocking streams wait and that waits for them.
 */
#ifndef WS_CUDA_GREEN_CONTEXT_H
#define WS_CUDA_GREEN_CONTEXT_H

#include "cuda/core/context.h"
#include "cuda/core/sm_resource.h"
#include "cuda/core/streams.h"

struct green_context {
  struct green_context *next;
  struct board *board;
  const struct sm_group *group;
  struct context *context; /* what it is as a context */
  struct stream legacy;    /* its default stream */
};

/* The descriptor is of SMs of this GPU. */
CUresult green_create(struct shim *, CUgreenCtx *, CUdevResourceDesc, struct board *, unsigned flags);
/* When what was given to its GPU is done. Its streams are gone, too. */
CUresult green_destroy(struct shim *, CUgreenCtx);
bool green_exists(const struct shim *, const struct green_context *);
/* NULL: the current one. */
CUresult green_id(struct shim *, CUgreenCtx, unsigned long long *id);
CUresult green_stream_create(struct shim *, CUstream *, CUgreenCtx, unsigned flags, int priority);
/* Those of a stream; *context: that of its GPU, where it is of a green one. Either may be NULL. */
CUresult green_of_stream(struct shim *, CUstream, CUcontext *context, CUgreenCtx *green);
/* SMs that a stream has. */
CUresult green_stream_resource(struct shim *, CUstream, CUdevResource *, int type);
/* SMs on which kernels of a stream run; of a context; NULL: all. */
const struct core_set *green_cores(const struct stream *);
const struct core_set *green_cores_of(const struct context *);

#endif
