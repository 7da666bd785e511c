/* What the driver writes in structures of its own, read for core and written back: FORM(…) in the rows of
 * twins.def. The runtime's are in runtime_forms.h, under the same names but for the first word.
 */
#ifndef WS_CUDA_DRIVER_FORMS_H
#define WS_CUDA_DRIVER_FORMS_H

#include "cuda/core/graph_node.h"
#include "cuda/core/texture_object.h"

/* Nodes of graphs. A kernel is a function of a module. Copies come back as they run: positions are in the pointers. */
CUresult driver_put_kernel(struct shim *, struct node_place, const CUDA_KERNEL_NODE_PARAMS *);
CUresult driver_get_kernel(struct shim *, CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
CUresult driver_put_copy(struct shim *, struct node_place, const CUDA_MEMCPY3D *);
CUresult driver_get_copy(struct shim *, CUgraphNode, CUDA_MEMCPY3D *);
extern const struct node_forms driver_node_forms;

extern const struct object_forms driver_object_forms;

CUresult driver_copy_3d(struct shim *, const CUDA_MEMCPY3D *, CUstream, bool blocking);

/* A launch of q->function, whose shape and parameters are in the request. */
CUresult driver_launch(struct shim *, struct launch_request *q, CUstream);

/* Memory of a pool, when the stream has come there. */
CUresult driver_alloc_in(struct shim *, CUdeviceptr *out, size_t bytes, CUmemoryPool, CUstream);

/* Whether both ends of a copy exist. */
CUresult driver_peers(struct shim *, CUcontext to, CUcontext from);
CUresult driver_copy_peers(struct shim *, const CUDA_MEMCPY3D *, CUstream, bool blocking);

#endif
