/* What the runtime writes in structures of its own, read for core and written back: FORM(…) in the rows of
 * twins.def. The driver's are in driver_forms.h, under the same names but for the first word.
 */
#ifndef WS_CUDA_RUNTIME_FORMS_H
#define WS_CUDA_RUNTIME_FORMS_H

#include "cuda/core/graph_node.h"
#include "cuda/core/texture_object.h"

/* Nodes of graphs. A kernel is a host function that stands for one. Copies come back as they run: positions are in
 * the pointers. */
CUresult runtime_put_kernel(struct shim *, struct node_place, const CUDA_KERNEL_NODE_PARAMS *);
CUresult runtime_put_copy(struct shim *, struct node_place, const cudaMemcpy3DParms *);
CUresult runtime_get_copy(struct shim *, CUgraphNode, cudaMemcpy3DParms *);
extern const struct node_forms runtime_node_forms;

extern const struct object_forms runtime_object_forms;

CUresult runtime_copy_3d(struct shim *, const cudaMemcpy3DParms *, CUstream, bool blocking);

/* Memory of a pool, when the stream has come there; no bytes: a null pointer. */
CUresult runtime_alloc_in(struct shim *, void **out, size_t bytes, CUmemoryPool, CUstream);

/* Whether both ends of a copy exist. */
CUresult runtime_peers(struct shim *, int to, int from);
CUresult runtime_copy_peers(struct shim *, const cudaMemcpy3DPeerParms *, CUstream, bool blocking);

/* As the program named the kernel. */
#define runtime_get_kernel node_get_kernel

#endif
