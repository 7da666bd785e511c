/* Copies as the interfaces describe them. */
#ifndef WS_CUDA_COPY_3D_H
#define WS_CUDA_COPY_3D_H

#include "cuda/core/copy.h"

/* CUDA_ERROR_INVALID_VALUE: no such memory type, or outside of the array. CUDA_ERROR_INVALID_HANDLE: no such
 * array. */
CUresult copy_from_3d(struct shim *, struct copy *, const CUDA_MEMCPY3D *);
/* Which sides are device memory is not set: copy_direct does that. */
CUresult copy_from_3d_parms(struct shim *, struct copy *, const cudaMemcpy3DParms *);

#endif
