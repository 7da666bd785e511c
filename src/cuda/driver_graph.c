/* Graphs and capture of the driver. */
#include <stdlib.h>
#include <string.h>

#include "cuda/capture.h"
#include "cuda/copy_3d.h"
#include "cuda/stream.h"

/* Parameters --------------------------------------------------------------------------------------- */

/* The request has a parameter block of its own, which release() frees. */
static CUresult kernel_op(struct shim *s, struct graph_op *op, const CUDA_KERNEL_NODE_PARAMS *p)
{
  static void *const none[1];
  uint8_t *packed;
  *op = (struct graph_op){ .type = NODE_KERNEL };
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  struct launch_request *q = &op->kernel.q;
  q->function = (CUfunction)(uintptr_t)(p->function ? p->function : p->kernel);
  if (!module_is_function(s, q->function)) return CUDA_ERROR_INVALID_HANDLE;
  op->kernel.handle = p->function;
  memcpy(q->grid, p->grid, sizeof q->grid);
  memcpy(q->block, p->block, sizeof q->block);
  q->shared = p->shared;
  q->params = p->params;
  if (!q->params && q->function->kernel->n_params == 0) q->params = (void **)(uintptr_t)none;
  if ((p->params && p->extra) || !kernel_read_extra(q, p->extra)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = kernel_prepare(s, q, &packed);
  if (r != CUDA_SUCCESS) {
    q->packed = NULL;
    return r;
  }
  q->packed = packed;
  return CUDA_SUCCESS;
}

static CUresult memset_op(struct graph_op *op, const CUDA_MEMSET_NODE_PARAMS *p)
{
  if (!p || (p->element != 1 && p->element != 2 && p->element != 4)) return CUDA_ERROR_INVALID_VALUE;
  *op = (struct graph_op){ .type = NODE_MEMSET,
                           .memset = { .to = { .addr = p->dst, .pitch = p->pitch, .device = true },
                                       .value = p->value, .value_bytes = p->element,
                                       .width = p->width * p->element, .height = p->height } };
  return CUDA_SUCCESS;
}

static CUresult host_op(struct graph_op *op, const CUDA_HOST_NODE_PARAMS *p)
{
  if (!p || !p->fn) return CUDA_ERROR_INVALID_VALUE;
  *op = (struct graph_op){ .type = NODE_HOST, .host = { p->fn, p->data } };
  return CUDA_SUCCESS;
}

/* Adds, or sets in a graph or in an instantiated one, when the parameters could be read (r). */
static CUresult add(struct shim *s, CUresult r, CUgraphNode *out, CUgraph g, const CUgraphNode *deps,
                    size_t n, const struct graph_op *op)
{
  return r == CUDA_SUCCESS ? graph_add(s, out, g, deps, n, op) : r;
}

/* A kernel's parameter block was made for the operation; the graph has its own copy. */
static CUresult release(CUresult r, const struct graph_op *op)
{
  free((void *)(uintptr_t)op->kernel.q.packed);
  return r;
}

static const struct graph_op *get(struct shim *s, CUgraphNode node, enum node_type type)
{
  return graph_is_node(s, node) && node->op.type == type ? &node->op : NULL;
}

/* The pointers stay good until the node is changed or goes away. */
static CUresult kernel_params(struct shim *s, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  const struct graph_op *op = get(s, node, NODE_KERNEL);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  p->function = op->kernel.handle;
  memcpy(p->grid, op->kernel.q.grid, sizeof p->grid);
  memcpy(p->block, op->kernel.q.block, sizeof p->block);
  p->shared = op->kernel.q.shared;
  p->params = node->params;
  p->extra = NULL;
  p->kernel = NULL;
  p->context = shim_context(s);
  return CUDA_SUCCESS;
}

static CUresult memset_params(struct shim *s, CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
  const struct graph_op *op = get(s, node, NODE_MEMSET);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  *p = (CUDA_MEMSET_NODE_PARAMS){ .dst = op->memset.to.addr, .pitch = op->memset.to.pitch,
                                  .value = op->memset.value, .element = op->memset.value_bytes,
                                  .width = op->memset.width / op->memset.value_bytes,
                                  .height = op->memset.height };
  return CUDA_SUCCESS;
}

static CUresult host_params(struct shim *s, CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
  const struct graph_op *op = get(s, node, NODE_HOST);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  *p = (CUDA_HOST_NODE_PARAMS){ op->host.fn, op->host.data };
  return CUDA_SUCCESS;
}

static CUresult copy_op(struct shim *s, struct graph_op *op, const CUDA_MEMCPY3D *p)
{
  *op = (struct graph_op){ .type = NODE_MEMCPY };
  return copy_from_3d(s, &op->memcpy.copy, p);
}

/* Addresses come back as the copy uses them: positions are in the pointers. */
static CUresult copy_params(struct shim *s, CUgraphNode node, CUDA_MEMCPY3D *p)
{
  const struct graph_op *op = get(s, node, NODE_MEMCPY);
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

/* Data of edges (of launches that overlap): all edges are plain ones, whose data is zero. */
static void clear_edges(CUgraphEdgeData *data, const size_t *n, CUresult r)
{
  if (data && r == CUDA_SUCCESS) memset(data, 0, *n * sizeof *data);
}

static bool are_plain(const CUgraphEdgeData *data, size_t n)
{
  for (size_t i = 0; data && i < n; i++)
    if (data[i].from_port || data[i].to_port || data[i].type) return false;
  return true;
}

static CUresult edges(struct shim *s, CUgraph g, CUgraphNode *from, CUgraphNode *to,
                      CUgraphEdgeData *data, size_t *n)
{
  CUresult r = graph_edges(s, g, from, to, n);
  clear_edges(from ? data : NULL, n, r);
  return r;
}

static CUresult neighbours(struct shim *s, CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                           size_t *n, bool before)
{
  CUresult r = before ? graph_deps(s, node, out, n) : graph_dependents(s, node, out, n);
  clear_edges(out ? data : NULL, n, r);
  return r;
}

CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                            size_t *n)
{
  DRIVER(NEED_CONTEXT, edges(s, g, from, to, data, n));
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                       size_t *n)
{
  DRIVER(NEED_CONTEXT, neighbours(s, node, out, data, n, true));
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                         size_t *n)
{
  DRIVER(NEED_CONTEXT, neighbours(s, node, out, data, n, false));
}

CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t n)
{
  DRIVER(NEED_CONTEXT,
          are_plain(data, n)
              ? graph_add_edges(s, g, from, to, n)
              : shim_unsupported(s, "a programmatic dependency of graph nodes"));
}

CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t n)
{
  (void)data;
  DRIVER(NEED_CONTEXT, graph_remove_edges(s, g, from, to, n));
}

static CUresult type_of(struct shim *s, CUgraphNode node, int *type)
{
  if (!type || !graph_is_node(s, node)) return CUDA_ERROR_INVALID_VALUE;
  *type = (int)node->op.type;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type)
{
  DRIVER(NEED_CONTEXT, type_of(s, node, type));
}

/* Nodes --------------------------------------------------------------------------------------------- */

static CUresult add_kernel(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps,
                           size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
{
  struct graph_op op;
  CUresult r = kernel_op(s, &op, p);
  return release(add(s, r, out, g, deps, n, &op), &op);
}

static CUresult set_kernel(struct shim *s, CUgraphExec x, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
  struct graph_op op;
  CUresult r = kernel_op(s, &op, p);
  if (r == CUDA_SUCCESS) r = x ? exec_set(s, x, node, &op) : graph_set(s, node, &op);
  return release(r, &op);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                 const CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, add_kernel(s, out, g, deps, n, p));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, kernel_params(s, node, p));
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, set_kernel(s, NULL, node, p));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, (x ? set_kernel(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
}

static CUresult add_copy(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps,
                         size_t n, const CUDA_MEMCPY3D *p)
{
  struct graph_op op;
  CUresult r = copy_op(s, &op, p);
  return add(s, r, out, g, deps, n, &op);
}

static CUresult set_copy(struct shim *s, CUgraphExec x, CUgraphNode node, const CUDA_MEMCPY3D *p)
{
  struct graph_op op;
  CUresult r = copy_op(s, &op, p);
  if (r == CUDA_SUCCESS) r = x ? exec_set(s, x, node, &op) : graph_set(s, node, &op);
  return r;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_MEMCPY3D *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, add_copy(s, out, g, deps, n, p));
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *p)
{
  DRIVER(NEED_CONTEXT, copy_params(s, node, p));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
  DRIVER(NEED_CONTEXT, set_copy(s, NULL, node, p));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode node, const CUDA_MEMCPY3D *p,
                                        CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, (x ? set_copy(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
}

static CUresult add_memset(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps,
                           size_t n, const CUDA_MEMSET_NODE_PARAMS *p)
{
  struct graph_op op;
  CUresult r = memset_op(&op, p);
  return add(s, r, out, g, deps, n, &op);
}

static CUresult set_memset(struct shim *s, CUgraphExec x, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
  struct graph_op op;
  CUresult r = memset_op(&op, p);
  if (r == CUDA_SUCCESS) r = x ? exec_set(s, x, node, &op) : graph_set(s, node, &op);
  return r;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, add_memset(s, out, g, deps, n, p));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, memset_params(s, node, p));
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, set_memset(s, NULL, node, p));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
  (void)context;
  DRIVER(NEED_CONTEXT, (x ? set_memset(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
}

static CUresult add_host(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps,
                         size_t n, const CUDA_HOST_NODE_PARAMS *p)
{
  struct graph_op op;
  CUresult r = host_op(&op, p);
  return add(s, r, out, g, deps, n, &op);
}

static CUresult set_host(struct shim *s, CUgraphExec x, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
  struct graph_op op;
  CUresult r = host_op(&op, p);
  if (r == CUDA_SUCCESS) r = x ? exec_set(s, x, node, &op) : graph_set(s, node, &op);
  return r;
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                            const CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, add_host(s, out, g, deps, n, p));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, host_params(s, node, p));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, set_host(s, NULL, node, p));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, (x ? set_host(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
}

static CUresult add_plain(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                          enum node_type type, CUevent event)
{
  struct graph_op op = { .type = type, .event = event };
  return graph_add(s, out, g, deps, n, &op);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
  DRIVER(NEED_CONTEXT, add_plain(s, out, g, deps, n, NODE_EMPTY, NULL));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                   CUevent event)
{
  DRIVER(NEED_CONTEXT, add_plain(s, out, g, deps, n, NODE_EVENT_RECORD, event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                 CUevent event)
{
  DRIVER(NEED_CONTEXT, add_plain(s, out, g, deps, n, NODE_WAIT_EVENT, event));
}

static CUresult set_event(struct shim *s, CUgraphNode node, enum node_type type, CUevent event)
{
  struct graph_op op = { .type = type, .event = event };
  return graph_set(s, node, &op);
}

static CUresult set_exec_event(struct shim *s, CUgraphExec x, CUgraphNode node, enum node_type type,
                               CUevent event)
{
  struct graph_op op = { .type = type, .event = event };
  return exec_set(s, x, node, &op);
}

static CUresult get_event(struct shim *s, CUgraphNode node, enum node_type type, CUevent *event)
{
  const struct graph_op *op = get(s, node, type);
  if (!op || !event) return CUDA_ERROR_INVALID_VALUE;
  *event = op->event;
  return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
  DRIVER(NEED_CONTEXT, get_event(s, node, NODE_EVENT_RECORD, event));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
  DRIVER(NEED_CONTEXT, get_event(s, node, NODE_WAIT_EVENT, event));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, set_event(s, node, NODE_EVENT_RECORD, event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, set_event(s, node, NODE_WAIT_EVENT, event));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, set_exec_event(s, x, node, NODE_EVENT_RECORD, event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  DRIVER(NEED_CONTEXT, set_exec_event(s, x, node, NODE_WAIT_EVENT, event));
}

static CUresult add_child(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                          CUgraph child)
{
  struct graph_op op = { .type = NODE_GRAPH, .child = child };
  return graph_add(s, out, g, deps, n, &op);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                  CUgraph child)
{
  DRIVER(NEED_CONTEXT, add_child(s, out, g, deps, n, child));
}

static CUresult get_child(struct shim *s, CUgraphNode node, CUgraph *out)
{
  const struct graph_op *op = get(s, node, NODE_GRAPH);
  if (!op || !out) return CUDA_ERROR_INVALID_VALUE;
  *out = op->child;
  return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
  DRIVER(NEED_CONTEXT, get_child(s, node, out));
}

static CUresult set_child(struct shim *s, CUgraphExec x, CUgraphNode node, CUgraph child)
{
  struct graph_op op = { .type = NODE_GRAPH, .child = child };
  return exec_set(s, x, node, &op);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraph child)
{
  DRIVER(NEED_CONTEXT, set_child(s, x, node, child));
}

/* Running ------------------------------------------------------------------------------------------- */

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
  DRIVER(NEED_CONTEXT, graph_instantiate(s, out, g, flags));
}

static CUresult instantiate(struct shim *s, CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = graph_instantiate(s, out, g, p->flags);
  p->failed = NULL;
  p->result = r != CUDA_SUCCESS; /* 0: success, 1: error */
  return r;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  DRIVER(NEED_CONTEXT, instantiate(s, out, g, p));
}

static CUresult exec_flags(struct shim *s, CUgraphExec x, unsigned long long *flags)
{
  if (!flags || !exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  *flags = x->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec x, unsigned long long *flags)
{
  DRIVER(NEED_CONTEXT, exec_flags(s, x, flags));
}

static CUresult upload(struct shim *s, CUgraphExec x, CUstream stream)
{
  if (!exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  return stream_of(s, stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; /* it is there already */
}

CUresult cuGraphUpload(CUgraphExec x, CUstream stream)
{
  DRIVER(NEED_CONTEXT, upload(s, x, stream));
}

CUresult cuGraphLaunch(CUgraphExec x, CUstream stream)
{
  DRIVER(NEED_CONTEXT, exec_launch(s, x, stream));
}

CUresult cuGraphExecDestroy(CUgraphExec x)
{
  DRIVER(NEED_CONTEXT, exec_destroy(s, x));
}

static CUresult update(struct shim *s, CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  CUgraphExecUpdateResultInfo i = {0};
  CUresult r = exec_update(s, x, g, &i.result, &i.node);
  if (info) *info = i;
  return r;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  DRIVER(NEED_CONTEXT, update(s, x, g, info));
}

/* Kernels, copies and fills can be switched off (CUDA Driver API, cuGraphNodeSetEnabled). */
static CUresult enable(struct shim *s, CUgraphExec x, CUgraphNode node, unsigned on)
{
  struct cu_node *n = exec_node(s, x, node);
  if (!n || n->op.type > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
  n->disabled = !on;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec x, CUgraphNode node, unsigned on)
{
  DRIVER(NEED_CONTEXT, enable(s, x, node, on));
}

static CUresult is_enabled(struct shim *s, CUgraphExec x, CUgraphNode node, unsigned *on)
{
  const struct cu_node *n = exec_node(s, x, node);
  if (!n || !on || n->op.type > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
  *on = !n->disabled;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec x, CUgraphNode node, unsigned *on)
{
  DRIVER(NEED_CONTEXT, is_enabled(s, x, node, on));
}

/* Capture ------------------------------------------------------------------------------------------- */

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
  DRIVER(NEED_CONTEXT, capture_begin(s, stream, NULL, NULL, 0, mode));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph g, const CUgraphNode *deps,
                                     const CUgraphEdgeData *data, size_t n, int mode)
{
  DRIVER(NEED_CONTEXT,
          !g || !are_plain(data, n)
              ? CUDA_ERROR_INVALID_VALUE
              : capture_begin(s, stream, g, deps, n, mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out)
{
  DRIVER(NEED_CONTEXT, capture_end(s, stream, out));
}

CUresult cuStreamIsCapturing(CUstream stream, int *status)
{
  DRIVER(NEED_CONTEXT, capture_info(s, stream, status, NULL, NULL, NULL, NULL));
}

static CUresult info(struct shim *s, CUstream stream, int *status, uint64_t *id, CUgraph *g,
                     const CUgraphNode **deps, const CUgraphEdgeData **data, size_t *n)
{
  if (data) *data = NULL; /* all edges are plain */
  return capture_info(s, stream, status, id, g, deps, n);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, uint64_t *id, CUgraph *g,
                                   const CUgraphNode **deps, const CUgraphEdgeData **data,
                                   size_t *n)
{
  DRIVER(NEED_CONTEXT, info(s, stream, status, id, g, deps, data, n));
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *deps,
                                              const CUgraphEdgeData *data, size_t n, unsigned flags)
{
  DRIVER(NEED_CONTEXT,
          flags > 1 || !are_plain(data, n)
              ? CUDA_ERROR_INVALID_VALUE
              : capture_set_deps(s, stream, deps, n, flags));
}

/* Modes of threads only matter to calls that a capture forbids; those are told by the capture's own. */
static CUresult exchange_mode(struct shim *s, int *mode)
{
  if (!mode || *mode < CAPTURE_GLOBAL || *mode > CAPTURE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  struct cu_thread *t = shim_thread(s);
  int old = t->capture_mode;
  t->capture_mode = *mode;
  *mode = old;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
  DRIVER(NEED_CONTEXT, exchange_mode(s, mode));
}
