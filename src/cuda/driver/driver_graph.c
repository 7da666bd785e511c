/* Graphs and capture of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/graph_node.h"

/* Parameters --------------------------------------------------------------------------------------- */

static CUresult put_kernel(struct shim *s, struct node_place place, const CUDA_KERNEL_NODE_PARAMS *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUfunction f = (CUfunction)(uintptr_t)(p->function ? p->function : p->kernel);
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  return node_put_kernel(s, place, f, f, p);
}

static CUresult kernel_params(struct shim *s, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  CUresult r = node_get_kernel(s, node, p);
  if (r != CUDA_SUCCESS) return r;
  p->function = node_op(s, node, NODE_KERNEL)->kernel.q.function; /* also where the runtime made the node */
  p->kernel = NULL;
  p->context = context_current(s);
  return CUDA_SUCCESS;
}

static CUresult put_copy(struct shim *s, struct node_place place, const CUDA_MEMCPY3D *p)
{
  struct graph_op op = { .type = NODE_MEMCPY };
  CUresult r = copy_from_3d(s, &op.memcpy.copy, p);
  return node_put(s, place, r, &op);
}

/* Addresses come back as the copy uses them: positions are in the pointers. */
static CUresult copy_params(struct shim *s, CUgraphNode node, CUDA_MEMCPY3D *p)
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

/* Nodes --------------------------------------------------------------------------------------------- */

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                 const CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, put_kernel(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, kernel_params(s, node, p));
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, put_kernel(s, node_there(node), p));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, put_kernel(s, node_in_exec(x, node), p));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_MEMCPY3D *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, put_copy(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *p)
{
  DRIVER(NEED_CONTEXT, copy_params(s, node, p));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
  DRIVER(NEED_CONTEXT, put_copy(s, node_there(node), p));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode node, const CUDA_MEMCPY3D *p,
                                        CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, put_copy(s, node_in_exec(x, node), p));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, node_put_memset(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, node_put_memset(s, node_in_exec(x, node), p));
}

/* All types in one call ------------------------------------------------------------------------------ */

static CUresult put_any(struct shim *s, struct node_place place, CUgraphNodeParams *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (p->type == NODE_KERNEL) return put_kernel(s, place, &p->kernel);
  if (p->type == NODE_MEMCPY) return put_copy(s, place, &p->copy.params);
  return node_put_other(s, place, p);
}

static CUresult add_any(struct shim *s, struct node_place place, const CUgraphEdgeData *data,
                        CUgraphNodeParams *p)
{
  return edge_are_plain(data, place.n_deps)
             ? put_any(s, place, p)
             : shim_unsupported(s, "a programmatic dependency of graph nodes");
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, CUgraphNodeParams *p)
{
  DRIVER(NEED_CONTEXT, put_any(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, const CUgraphEdgeData *data,
                           size_t n, CUgraphNodeParams *p)
{
  DRIVER(NEED_CONTEXT, add_any(s, node_new(out, g, deps, n), data, p));
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
  DRIVER(NEED_CONTEXT, put_any(s, node_there(node), p));
}

CUresult cuGraphExecNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraphNodeParams *p)
{
  DRIVER(NEED_CONTEXT, put_any(s, node_in_exec(x, node), p));
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph g, CUcontext context,
                                        unsigned value, unsigned flags)
{
  (void)context; /* all share one device */
  DRIVER(NEED_CONTEXT, node_new_condition(s, out, g, value, flags));
}

/* Memory ---------------------------------------------------------------------------------------------- */

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *p)
{
  uint64_t addr;
  DRIVER(NEED_CONTEXT, node_get_free(s, node, p ? &addr : NULL) == CUDA_SUCCESS ? (*p = addr, CUDA_SUCCESS)
                                                                                : CUDA_ERROR_INVALID_VALUE);
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
