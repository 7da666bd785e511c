/* Graphs and capture of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/graph_node.h"
#include "cuda/core/stream_capture.h"

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

/* Graphs and their shape ---------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *out, unsigned flags)
{
  DRIVER(NEED_CONTEXT, graph_create(s, out, flags));
}

CUresult cuGraphDestroy(CUgraph g)
{
  DRIVER(NEED_CONTEXT, graph_destroy(s, g));
}

CUresult cuGraphClone(CUgraph *out, CUgraph g)
{
  DRIVER(NEED_CONTEXT, graph_clone(s, out, g));
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
  DRIVER(NEED_CONTEXT, graph_destroy_node(s, node));
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
  DRIVER(NEED_CONTEXT, graph_find_in_clone(s, out, node, clone));
}

CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
  DRIVER(NEED_CONTEXT, graph_nodes(s, g, LIST_NODES, out, n));
}

CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
  DRIVER(NEED_CONTEXT, graph_nodes(s, g, LIST_ROOTS, out, n));
}

CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                            size_t *n)
{
  DRIVER(NEED_CONTEXT, edge_list(s, g, from, to, data, n));
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                       size_t *n)
{
  DRIVER(NEED_CONTEXT, edge_neighbours(s, node, out, data, n, true));
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                         size_t *n)
{
  DRIVER(NEED_CONTEXT, edge_neighbours(s, node, out, data, n, false));
}

CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t n)
{
  DRIVER(NEED_CONTEXT, edge_add(s, g, from, to, data, n));
}

CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t n)
{
  (void)data;
  DRIVER(NEED_CONTEXT, graph_remove_edges(s, g, from, to, n));
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type)
{
  DRIVER(NEED_CONTEXT, node_type_of(s, node, type));
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

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_get_memset(s, node, p));
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_memset(s, node_there(node), p));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, node_put_memset(s, node_in_exec(x, node), p));
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                            const CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_host(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_get_host(s, node, p));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_host(s, node_there(node), p));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_host(s, node_in_exec(x, node), p));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_new(out, g, deps, n), NODE_EMPTY, NULL));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                   CUevent event)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_new(out, g, deps, n), NODE_EVENT_RECORD, event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                 CUevent event)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_new(out, g, deps, n), NODE_WAIT_EVENT, event));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
  DRIVER(NEED_CONTEXT, node_get_event(s, node, NODE_EVENT_RECORD, event));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
  DRIVER(NEED_CONTEXT, node_get_event(s, node, NODE_WAIT_EVENT, event));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_there(node), NODE_EVENT_RECORD, event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_there(node), NODE_WAIT_EVENT, event));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_in_exec(x, node), NODE_EVENT_RECORD, event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, node_put_event(s, node_in_exec(x, node), NODE_WAIT_EVENT, event));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                  CUgraph child)
{
  DRIVER(NEED_CONTEXT, node_put_child(s, node_new(out, g, deps, n), child));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
  DRIVER(NEED_CONTEXT, node_get_child(s, node, out));
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraph child)
{
  DRIVER(NEED_CONTEXT, node_put_child(s, node_in_exec(x, node), child));
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

CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_put_alloc(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, node_put_free(s, node_new(out, g, deps, n), p));
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, node_get_alloc(s, node, p));
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *p)
{
  uint64_t addr;
  DRIVER(NEED_CONTEXT, node_get_free(s, node, p ? &addr : NULL) == CUDA_SUCCESS ? (*p = addr, CUDA_SUCCESS)
                                                                                : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value)
{
  DRIVER(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : graph_memory_get(s, attribute, value));
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, void *value)
{
  DRIVER(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : graph_memory_set(s, attribute, value));
}

/* Nothing is held back. */
CUresult cuDeviceGraphMemTrim(CUdevice device)
{
  DRIVER(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

/* Running ------------------------------------------------------------------------------------------- */

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
  DRIVER(NEED_CONTEXT, graph_instantiate(s, out, g, flags));
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, exec_instantiate(s, out, g, p));
}

CUresult cuGraphExecGetFlags(CUgraphExec x, unsigned long long *flags)
{
  DRIVER(NEED_CONTEXT, exec_flags(s, x, flags));
}

CUresult cuGraphUpload(CUgraphExec x, CUstream stream)
{
  DRIVER(NEED_CONTEXT, exec_upload(s, x, stream));
}

CUresult cuGraphLaunch(CUgraphExec x, CUstream stream)
{
  DRIVER(NEED_CONTEXT, enqueue_graph(s, x, stream));
}

CUresult cuGraphExecDestroy(CUgraphExec x)
{
  DRIVER(NEED_CONTEXT, exec_destroy(s, x));
}

CUresult cuGraphExecUpdate_v2(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  DRIVER(NEED_CONTEXT, exec_update_info(s, x, g, info));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec x, CUgraphNode node, unsigned on)
{
  DRIVER(NEED_CONTEXT, exec_enable(s, x, node, on));
}

CUresult cuGraphNodeGetEnabled(CUgraphExec x, CUgraphNode node, unsigned *on)
{
  DRIVER(NEED_CONTEXT, exec_is_enabled(s, x, node, on));
}

/* Capture ------------------------------------------------------------------------------------------- */

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
  DRIVER(NEED_CONTEXT, capture_begin(s, stream, NULL, NULL, 0, mode));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph g, const CUgraphNode *deps,
                                     const CUgraphEdgeData *data, size_t n, int mode)
{
  DRIVER(NEED_CONTEXT, capture_begin_in(s, stream, g, deps, data, n, mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out)
{
  DRIVER(NEED_CONTEXT, capture_end(s, stream, out));
}

CUresult cuStreamIsCapturing(CUstream stream, int *status)
{
  DRIVER(NEED_CONTEXT, capture_info(s, stream, status, NULL, NULL, NULL, NULL));
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, uint64_t *id, CUgraph *g,
                                   const CUgraphNode **deps, const CUgraphEdgeData **data,
                                   size_t *n)
{
  DRIVER(NEED_CONTEXT, capture_info_edges(s, stream, status, id, g, deps, data, n));
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *deps,
                                              const CUgraphEdgeData *data, size_t n, unsigned flags)
{
  DRIVER(NEED_CONTEXT, capture_set_edges(s, stream, deps, data, n, flags));
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
  DRIVER(NEED_CONTEXT, capture_exchange_mode(s, mode));
}

CUresult cuGraphDebugDotPrint(CUgraph g, const char *path, unsigned flags)
{
  DRIVER(NEED_CONTEXT, graph_write_dot(s, g, path, flags));
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

/* Attributes of kernel nodes ------------------------------------------------------------------------ */

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, int attribute, CUlaunchAttributeValue *v)
{
  DRIVER(NEED_CONTEXT, node_kernel_attribute(s, node, attribute, v));
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const CUlaunchAttributeValue *v)
{
  DRIVER(NEED_CONTEXT, node_set_kernel_attribute(s, node, attribute, v));
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
  DRIVER(NEED_CONTEXT, node_copy_kernel_attributes(s, to, from));
}

/* User objects -------------------------------------------------------------------------------------- */

CUresult cuUserObjectCreate(CUuserObject *out, void *data, void (*destroy)(void *), unsigned count, unsigned flags)
{
  DRIVER(NEED_NOTHING, user_object_create(s, out, data, destroy, count, flags));
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count)
{
  DRIVER(NEED_NOTHING, user_object_retain(s, object, count));
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
  DRIVER(NEED_NOTHING, user_object_release(s, object, count));
}

CUresult cuGraphRetainUserObject(CUgraph g, CUuserObject object, unsigned count, unsigned flags)
{
  DRIVER(NEED_CONTEXT, graph_give_object(s, g, object, count, flags));
}

CUresult cuGraphReleaseUserObject(CUgraph g, CUuserObject object, unsigned count)
{
  DRIVER(NEED_CONTEXT, graph_take_object(s, g, object, count));
}
