/* Graphs and capture of the runtime. */
#include "cuda/core/copy_3d.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/graph_node.h"
#include "cuda/core/stream_capture.h"
#include "cuda/runtime/runtime.h"

/* Parameters --------------------------------------------------------------------------------------- */

static CUresult put_kernel(struct shim *s, struct node_place place, const CUDA_KERNEL_NODE_PARAMS *p)
{
  CUfunction f;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, p->function, &f);
  return r == CUDA_SUCCESS ? node_put_kernel(s, place, f, rt_host_function(s, p->function), p) : r;
}

static CUresult put_directed(struct shim *s, struct node_place place, struct graph_op *op, int kind)
{
  op->memcpy.kind = kind;
  bool good = copy_direct(s, &op->memcpy.copy, kind);
  return node_put(s, place, good ? CUDA_SUCCESS : cudaErrorInvalidMemcpyDirection, op);
}

static CUresult put_copy(struct shim *s, struct node_place place, const cudaMemcpy3DParms *p)
{
  struct graph_op op = { .type = NODE_MEMCPY };
  CUresult r = copy_from_3d_parms(s, &op.memcpy.copy, p);
  return r == CUDA_SUCCESS ? put_directed(s, place, &op, p->kind) : r;
}

static CUresult put_linear(struct shim *s, struct node_place place, void *dst, const void *src, size_t bytes,
                           int kind)
{
  struct graph_op op = { .type = NODE_MEMCPY };
  op.memcpy.copy = copy_linear((uint64_t)(uintptr_t)dst, (uint64_t)(uintptr_t)src, bytes);
  return put_directed(s, place, &op, kind);
}

static cudaPitchedPtr pitched(const struct copy *c, const struct copy_side *side)
{
  return (cudaPitchedPtr){ .ptr = (void *)(uintptr_t)side->addr, .pitch = side->pitch,
                           .xsize = c->width,
                           .ysize = side->pitch ? side->slice / side->pitch : c->height };
}

/* Addresses come back as the copy uses them: positions are in the pointers. */
static CUresult copy_params(struct shim *s, CUgraphNode node, cudaMemcpy3DParms *p)
{
  const struct graph_op *op = node_op(s, node, NODE_MEMCPY);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  const struct copy *c = &op->memcpy.copy;
  *p = (cudaMemcpy3DParms){ .src = pitched(c, &c->src), .dst = pitched(c, &c->dst),
                            .extent = { c->width, c->height, c->depth }, .kind = op->memcpy.kind };
  return CUDA_SUCCESS;
}

/* Graphs and their shape ---------------------------------------------------------------------------- */

CUresult cudaGraphCreate(CUgraph *out, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, graph_create(s, out, flags));
}

CUresult cudaGraphDestroy(CUgraph g)
{
  RUNTIME(NEED_CONTEXT, graph_destroy(s, g));
}

CUresult cudaGraphClone(CUgraph *out, CUgraph g)
{
  RUNTIME(NEED_CONTEXT, graph_clone(s, out, g));
}

CUresult cudaGraphDestroyNode(CUgraphNode node)
{
  RUNTIME(NEED_CONTEXT, graph_destroy_node(s, node));
}

CUresult cudaGraphNodeFindInClone(CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
  RUNTIME(NEED_CONTEXT, graph_find_in_clone(s, out, node, clone));
}

CUresult cudaGraphGetNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
  RUNTIME(NEED_CONTEXT, graph_nodes(s, g, LIST_NODES, out, n));
}

CUresult cudaGraphGetRootNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
  RUNTIME(NEED_CONTEXT, graph_nodes(s, g, LIST_ROOTS, out, n));
}

CUresult cudaGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                           size_t *n)
{
  RUNTIME(NEED_CONTEXT, edge_list(s, g, from, to, data, n));
}

CUresult cudaGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                      size_t *n)
{
  RUNTIME(NEED_CONTEXT, edge_neighbours(s, node, out, data, n, true));
}

CUresult cudaGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                        size_t *n)
{
  RUNTIME(NEED_CONTEXT, edge_neighbours(s, node, out, data, n, false));
}

CUresult cudaGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                  const CUgraphEdgeData *data, size_t n)
{
  RUNTIME(NEED_CONTEXT, edge_add(s, g, from, to, data, n));
}

CUresult cudaGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                     const CUgraphEdgeData *data, size_t n)
{
  (void)data;
  RUNTIME(NEED_CONTEXT, graph_remove_edges(s, g, from, to, n));
}

CUresult cudaGraphNodeGetType(CUgraphNode node, int *type)
{
  RUNTIME(NEED_CONTEXT, node_type_of(s, node, type));
}

/* Nodes --------------------------------------------------------------------------------------------- */

CUresult cudaGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                const CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, put_kernel(s, node_new(out, g, deps, n), p));
}

CUresult cudaGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_get_kernel(s, node, p));
}

CUresult cudaGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, put_kernel(s, node_there(node), p));
}

CUresult cudaGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode node,
                                          const CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, put_kernel(s, node_in_exec(x, node), p));
}

CUresult cudaGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                const cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, put_copy(s, node_new(out, g, deps, n), p));
}

CUresult cudaGraphMemcpyNodeGetParams(CUgraphNode node, cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, copy_params(s, node, p));
}

CUresult cudaGraphMemcpyNodeSetParams(CUgraphNode node, const cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, put_copy(s, node_there(node), p));
}

CUresult cudaGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode node,
                                          const cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, put_copy(s, node_in_exec(x, node), p));
}

CUresult cudaGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                const CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_memset(s, node_new(out, g, deps, n), p));
}

CUresult cudaGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_get_memset(s, node, p));
}

CUresult cudaGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_memset(s, node_there(node), p));
}

CUresult cudaGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
                                          const CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_memset(s, node_in_exec(x, node), p));
}

CUresult cudaGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_host(s, node_new(out, g, deps, n), p));
}

CUresult cudaGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_get_host(s, node, p));
}

CUresult cudaGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_host(s, node_there(node), p));
}

CUresult cudaGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_host(s, node_in_exec(x, node), p));
}

CUresult cudaGraphAddMemcpyNode1D(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                  void *dst, const void *src, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, put_linear(s, node_new(out, g, deps, n), dst, src, bytes, kind));
}

CUresult cudaGraphMemcpyNodeSetParams1D(CUgraphNode node, void *dst, const void *src, size_t bytes,
                                        int kind)
{
  RUNTIME(NEED_CONTEXT, put_linear(s, node_there(node), dst, src, bytes, kind));
}

CUresult cudaGraphExecMemcpyNodeSetParams1D(CUgraphExec x, CUgraphNode node, void *dst,
                                            const void *src, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, put_linear(s, node_in_exec(x, node), dst, src, bytes, kind));
}

static CUresult put_symbol(struct shim *s, struct node_place place, const void *symbol, void *other, size_t bytes,
                           size_t offset, bool to_symbol, int kind)
{
  struct graph_op op = {.type = NODE_MEMCPY};
  CUresult r = rt_symbol_copy(s, &op.memcpy.copy, symbol, other, bytes, offset, to_symbol, kind);
  return r == CUDA_SUCCESS ? put_directed(s, place, &op, kind) : r;
}

CUresult cudaGraphAddMemcpyNodeToSymbol(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                        const void *symbol, const void *src, size_t bytes, size_t offset, int kind)
{
  RUNTIME(NEED_CONTEXT,
          put_symbol(s, node_new(out, g, deps, n), symbol, (void *)(uintptr_t)src, bytes, offset, true, kind));
}

CUresult cudaGraphAddMemcpyNodeFromSymbol(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, void *dst,
                                          const void *symbol, size_t bytes, size_t offset, int kind)
{
  RUNTIME(NEED_CONTEXT, put_symbol(s, node_new(out, g, deps, n), symbol, dst, bytes, offset, false, kind));
}

CUresult cudaGraphMemcpyNodeSetParamsToSymbol(CUgraphNode node, const void *symbol, const void *src, size_t bytes,
                                              size_t offset, int kind)
{
  RUNTIME(NEED_CONTEXT, put_symbol(s, node_there(node), symbol, (void *)(uintptr_t)src, bytes, offset, true, kind));
}

CUresult cudaGraphMemcpyNodeSetParamsFromSymbol(CUgraphNode node, void *dst, const void *symbol, size_t bytes,
                                                size_t offset, int kind)
{
  RUNTIME(NEED_CONTEXT, put_symbol(s, node_there(node), symbol, dst, bytes, offset, false, kind));
}

CUresult cudaGraphExecMemcpyNodeSetParamsToSymbol(CUgraphExec x, CUgraphNode node, const void *symbol,
                                                  const void *src, size_t bytes, size_t offset, int kind)
{
  RUNTIME(NEED_CONTEXT,
          put_symbol(s, node_in_exec(x, node), symbol, (void *)(uintptr_t)src, bytes, offset, true, kind));
}

CUresult cudaGraphExecMemcpyNodeSetParamsFromSymbol(CUgraphExec x, CUgraphNode node, void *dst, const void *symbol,
                                                    size_t bytes, size_t offset, int kind)
{
  RUNTIME(NEED_CONTEXT, put_symbol(s, node_in_exec(x, node), symbol, dst, bytes, offset, false, kind));
}

CUresult cudaGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_new(out, g, deps, n), NODE_EMPTY, NULL));
}

CUresult cudaGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                     CUevent event)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_new(out, g, deps, n), NODE_EVENT_RECORD, event));
}

CUresult cudaGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                   CUevent event)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_new(out, g, deps, n), NODE_WAIT_EVENT, event));
}

CUresult cudaGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
  RUNTIME(NEED_CONTEXT, node_get_event(s, node, NODE_EVENT_RECORD, event));
}

CUresult cudaGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
  RUNTIME(NEED_CONTEXT, node_get_event(s, node, NODE_WAIT_EVENT, event));
}

CUresult cudaGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_there(node), NODE_EVENT_RECORD, event));
}

CUresult cudaGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_there(node), NODE_WAIT_EVENT, event));
}

CUresult cudaGraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_in_exec(x, node), NODE_EVENT_RECORD, event));
}

CUresult cudaGraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, node_put_event(s, node_in_exec(x, node), NODE_WAIT_EVENT, event));
}

CUresult cudaGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                    CUgraph child)
{
  RUNTIME(NEED_CONTEXT, node_put_child(s, node_new(out, g, deps, n), child));
}

CUresult cudaGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
  RUNTIME(NEED_CONTEXT, node_get_child(s, node, out));
}

CUresult cudaGraphExecChildGraphNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraph child)
{
  RUNTIME(NEED_CONTEXT, node_put_child(s, node_in_exec(x, node), child));
}

/* All types in one call ------------------------------------------------------------------------------ */

static CUresult put_any(struct shim *s, struct node_place place, CUgraphNodeParams *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (p->type == NODE_KERNEL) return put_kernel(s, place, &p->kernel);
  if (p->type == NODE_MEMCPY) return put_copy(s, place, &p->runtime_copy.params);
  return node_put_other(s, place, p);
}

static CUresult add_any(struct shim *s, struct node_place place, const CUgraphEdgeData *data,
                        CUgraphNodeParams *p)
{
  return edge_are_plain(data, place.n_deps)
             ? put_any(s, place, p)
             : shim_unsupported(s, "a programmatic dependency of graph nodes");
}

CUresult cudaGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, const CUgraphEdgeData *data,
                           size_t n, CUgraphNodeParams *p)
{
  RUNTIME(NEED_CONTEXT, add_any(s, node_new(out, g, deps, n), data, p));
}

CUresult cudaGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
  RUNTIME(NEED_CONTEXT, put_any(s, node_there(node), p));
}

CUresult cudaGraphExecNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraphNodeParams *p)
{
  RUNTIME(NEED_CONTEXT, put_any(s, node_in_exec(x, node), p));
}

CUresult cudaGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph g, unsigned value,
                                          unsigned flags)
{
  RUNTIME(NEED_CONTEXT, node_new_condition(s, out, g, value, flags));
}

/* Memory ---------------------------------------------------------------------------------------------- */

CUresult cudaGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_put_alloc(s, node_new(out, g, deps, n), p));
}

CUresult cudaGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                               void *p)
{
  RUNTIME(NEED_CONTEXT, node_put_free(s, node_new(out, g, deps, n), (uint64_t)(uintptr_t)p));
}

CUresult cudaGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, node_get_alloc(s, node, p));
}

/* `out` points to a pointer (CUDA Runtime API). */
CUresult cudaGraphMemFreeNodeGetParams(CUgraphNode node, void *out)
{
  RUNTIME(NEED_CONTEXT, node_get_free(s, node, out));
}

CUresult cudaDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value)
{
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : graph_memory_get(s, attribute, value));
}

CUresult cudaDeviceSetGraphMemAttribute(CUdevice device, int attribute, void *value)
{
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : graph_memory_set(s, attribute, value));
}

/* Nothing is held back. */
CUresult cudaDeviceGraphMemTrim(CUdevice device)
{
  RUNTIME(NEED_GPU, device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

/* Running ------------------------------------------------------------------------------------------- */

CUresult cudaGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
  RUNTIME(NEED_CONTEXT, graph_instantiate(s, out, g, flags));
}

CUresult cudaGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
  RUNTIME(NEED_CONTEXT, graph_instantiate(s, out, g, flags));
}

CUresult cudaGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
                                        CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, exec_instantiate(s, out, g, p));
}

CUresult cudaGraphExecGetFlags(CUgraphExec x, unsigned long long *flags)
{
  RUNTIME(NEED_CONTEXT, exec_flags(s, x, flags));
}

CUresult cudaGraphUpload(CUgraphExec x, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, exec_upload(s, x, stream));
}

CUresult cudaGraphLaunch(CUgraphExec x, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, enqueue_graph(s, x, stream));
}

CUresult cudaGraphExecDestroy(CUgraphExec x)
{
  RUNTIME(NEED_CONTEXT, exec_destroy(s, x));
}

CUresult cudaGraphExecUpdate(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  RUNTIME(NEED_CONTEXT, exec_update_info(s, x, g, info));
}

CUresult cudaGraphNodeSetEnabled(CUgraphExec x, CUgraphNode node, unsigned on)
{
  RUNTIME(NEED_CONTEXT, exec_enable(s, x, node, on));
}

CUresult cudaGraphNodeGetEnabled(CUgraphExec x, CUgraphNode node, unsigned *on)
{
  RUNTIME(NEED_CONTEXT, exec_is_enabled(s, x, node, on));
}

/* Capture ------------------------------------------------------------------------------------------- */

CUresult cudaStreamBeginCapture(CUstream stream, int mode)
{
  RUNTIME(NEED_CONTEXT, capture_begin(s, stream, NULL, NULL, 0, mode));
}

CUresult cudaStreamBeginCaptureToGraph(CUstream stream, CUgraph g, const CUgraphNode *deps,
                                       const CUgraphEdgeData *data, size_t n, int mode)
{
  RUNTIME(NEED_CONTEXT, capture_begin_in(s, stream, g, deps, data, n, mode));
}

CUresult cudaStreamEndCapture(CUstream stream, CUgraph *out)
{
  RUNTIME(NEED_CONTEXT, capture_end(s, stream, out));
}

CUresult cudaStreamIsCapturing(CUstream stream, int *status)
{
  RUNTIME(NEED_CONTEXT, capture_info(s, stream, status, NULL, NULL, NULL, NULL));
}

CUresult cudaStreamGetCaptureInfo(CUstream stream, int *status, uint64_t *id, CUgraph *g,
                                  const CUgraphNode **deps, const CUgraphEdgeData **data, size_t *n)
{
  RUNTIME(NEED_CONTEXT, capture_info_edges(s, stream, status, id, g, deps, data, n));
}

CUresult cudaStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *deps,
                                             const CUgraphEdgeData *data, size_t n, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, capture_set_edges(s, stream, deps, data, n, flags));
}

CUresult cudaThreadExchangeStreamCaptureMode(int *mode)
{
  RUNTIME(NEED_CONTEXT, capture_exchange_mode(s, mode));
}

CUresult cudaGraphDebugDotPrint(CUgraph g, const char *path, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, graph_write_dot(s, g, path, flags));
}

/* Attributes of kernel nodes ------------------------------------------------------------------------ */

CUresult cudaGraphKernelNodeGetAttribute(CUgraphNode node, int attribute, CUlaunchAttributeValue *v)
{
  RUNTIME(NEED_CONTEXT, node_kernel_attribute(s, node, attribute, v));
}

CUresult cudaGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const CUlaunchAttributeValue *v)
{
  RUNTIME(NEED_CONTEXT, node_set_kernel_attribute(s, node, attribute, v));
}

CUresult cudaGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
  RUNTIME(NEED_CONTEXT, node_copy_kernel_attributes(s, to, from));
}

/* User objects -------------------------------------------------------------------------------------- */

CUresult cudaUserObjectCreate(CUuserObject *out, void *data, void (*destroy)(void *), unsigned count,
                              unsigned flags)
{
  RUNTIME(NEED_NOTHING, user_object_create(s, out, data, destroy, count, flags));
}

CUresult cudaUserObjectRetain(CUuserObject object, unsigned count)
{
  RUNTIME(NEED_NOTHING, user_object_retain(s, object, count));
}

CUresult cudaUserObjectRelease(CUuserObject object, unsigned count)
{
  RUNTIME(NEED_NOTHING, user_object_release(s, object, count));
}

CUresult cudaGraphRetainUserObject(CUgraph g, CUuserObject object, unsigned count, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, graph_give_object(s, g, object, count, flags));
}

CUresult cudaGraphReleaseUserObject(CUgraph g, CUuserObject object, unsigned count)
{
  RUNTIME(NEED_CONTEXT, graph_take_object(s, g, object, count));
}
