/* Graphs of the driver: kernels and copies in its structures, and what the runtime does not have. */
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/driver/driver_forms.h"

/* Parameters --------------------------------------------------------------------------------------- */

CUresult driver_put_kernel(struct shim *s, struct node_place place, const CUDA_KERNEL_NODE_PARAMS *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUfunction f = (CUfunction)(uintptr_t)(p->function ? p->function : p->kernel);
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  return node_put_kernel(s, place, f, f, p->context, p);
}

CUresult driver_get_kernel(struct shim *s, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  CUresult r = node_get_kernel(s, node, p);
  if (r != CUDA_SUCCESS) return r;
  p->function = node_op(s, node, NODE_KERNEL)->kernel.q.function; /* also where the runtime made the node */
  p->kernel = NULL;
  p->context = context_current(s);
  return CUDA_SUCCESS;
}

CUresult driver_put_copy(struct shim *s, struct node_place place, const CUDA_MEMCPY3D *p)
{
  struct graph_op op = { .type = NODE_MEMCPY };
  CUresult r = copy_from_3d(s, &op.memcpy.copy, p);
  return node_put(s, place, r, &op);
}

/* Addresses come back as the copy uses them: positions are in the pointers. */
CUresult driver_get_copy(struct shim *s, CUgraphNode node, CUDA_MEMCPY3D *p)
{
  const struct graph_op *op = node_op(s, node, NODE_MEMCPY);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  const struct copy *c = &op->memcpy.copy;
  *p = (CUDA_MEMCPY3D){
    .src_type = c->src.device ? MEM_DEVICE : MEM_HOST, .src_pitch = c->src.pitch,
    .src_height = c->src.pitch ? c->src.slice / c->src.pitch : 0,
    .dst_type = c->dst.device ? MEM_DEVICE : MEM_HOST, .dst_pitch = c->dst.pitch,
    .dst_height = c->dst.pitch ? c->dst.slice / c->dst.pitch : 0,
    .width = c->width, .height = c->height, .depth = c->depth,
  };
  if (c->src.device) p->src_device = c->src.addr;
  else p->src_host = (const void *)(uintptr_t)c->src.addr;
  if (c->dst.device) p->dst_device = c->dst.addr;
  else p->dst_host = (void *)(uintptr_t)c->dst.addr;
  return CUDA_SUCCESS;
}

static CUresult put_any_copy(struct shim *s, struct node_place place, const CUgraphNodeParams *p)
{
  return driver_put_copy(s, place, &p->copy.params);
}

const struct node_forms driver_node_forms = { .put_kernel = driver_put_kernel, .put_copy = put_any_copy };

/* The form of CUDA 12, without data of edges. */
CUresult cuGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, CUgraphNodeParams *p)
{
  DRIVER(NEED_CONTEXT, node_put_any(s, &driver_node_forms, node_new(out, g, deps, n), NULL, p));
}

/* Memory operations --------------------------------------------------------------------------------- */

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_memory_ops(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_get_memory_ops(s, node, p));
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_memory_ops(s, node_there(node), p));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec x, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_memory_ops(s, node_in_exec(x, node), p));
}
