/* Graphs and capture of the runtime. */
#include <stdlib.h>
#include <string.h>

#include "cuda/capture.h"
#include "cuda/copy_3d.h"
#include "cuda/runtime.h"

/* Parameters --------------------------------------------------------------------------------------- */

/* The request has a parameter block of its own, which release() frees. */
static CUresult kernel_op(struct shim *s, struct graph_op *op, const CUDA_KERNEL_NODE_PARAMS *p)
{
  static void *const none[1];
  uint8_t *packed;
  *op = (struct graph_op){ .type = NODE_KERNEL };
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  struct launch_request *q = &op->kernel.q;
  CUresult r = rt_function(s, p->function, &q->function);
  if (r != CUDA_SUCCESS) return r;
  op->kernel.handle = p->function;
  memcpy(q->grid, p->grid, sizeof q->grid);
  memcpy(q->block, p->block, sizeof q->block);
  q->shared = p->shared;
  q->params = p->params;
  if (!q->params && q->function->kernel->n_params == 0) q->params = (void **)(uintptr_t)none;
  if ((p->params && p->extra) || !kernel_read_extra(q, p->extra)) return CUDA_ERROR_INVALID_VALUE;
  r = kernel_prepare(s, q, &packed);
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

static CUresult copy_op(struct shim *s, struct graph_op *op, const cudaMemcpy3DParms *p)
{
  *op = (struct graph_op){ .type = NODE_MEMCPY };
  CUresult r = copy_from_3d_parms(s, &op->memcpy.copy, p);
  if (r != CUDA_SUCCESS) return r;
  op->memcpy.kind = p->kind;
  return copy_direct(s, &op->memcpy.copy, p->kind) ? CUDA_SUCCESS : cudaErrorInvalidMemcpyDirection;
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
  const struct graph_op *op = get(s, node, NODE_MEMCPY);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  const struct copy *c = &op->memcpy.copy;
  *p = (cudaMemcpy3DParms){ .src = pitched(c, &c->src), .dst = pitched(c, &c->dst),
                            .extent = { c->width, c->height, c->depth }, .kind = op->memcpy.kind };
  return CUDA_SUCCESS;
}

static CUresult linear_op(struct shim *s, struct graph_op *op, void *dst, const void *src, size_t bytes,
                          int kind)
{
  *op = (struct graph_op){ .type = NODE_MEMCPY };
  op->memcpy.kind = kind;
  op->memcpy.copy = copy_linear((uint64_t)(uintptr_t)dst, (uint64_t)(uintptr_t)src, bytes);
  return copy_direct(s, &op->memcpy.copy, kind) ? CUDA_SUCCESS : cudaErrorInvalidMemcpyDirection;
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

CUresult cudaGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                           size_t *n)
{
  RUNTIME(NEED_CONTEXT, edges(s, g, from, to, data, n));
}

CUresult cudaGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                      size_t *n)
{
  RUNTIME(NEED_CONTEXT, neighbours(s, node, out, data, n, true));
}

CUresult cudaGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
                                        size_t *n)
{
  RUNTIME(NEED_CONTEXT, neighbours(s, node, out, data, n, false));
}

CUresult cudaGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                  const CUgraphEdgeData *data, size_t n)
{
  RUNTIME(NEED_CONTEXT,
          are_plain(data, n)
              ? graph_add_edges(s, g, from, to, n)
              : shim_unsupported(s, "a programmatic dependency of graph nodes"));
}

CUresult cudaGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                     const CUgraphEdgeData *data, size_t n)
{
  (void)data;
  RUNTIME(NEED_CONTEXT, graph_remove_edges(s, g, from, to, n));
}

static CUresult type_of(struct shim *s, CUgraphNode node, int *type)
{
  if (!type || !graph_is_node(s, node)) return CUDA_ERROR_INVALID_VALUE;
  *type = (int)node->op.type;
  return CUDA_SUCCESS;
}

CUresult cudaGraphNodeGetType(CUgraphNode node, int *type)
{
  RUNTIME(NEED_CONTEXT, type_of(s, node, type));
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

CUresult cudaGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                const CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, add_kernel(s, out, g, deps, n, p));
}

CUresult cudaGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, kernel_params(s, node, p));
}

CUresult cudaGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, set_kernel(s, NULL, node, p));
}

CUresult cudaGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode node,
                                          const CUDA_KERNEL_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, (x ? set_kernel(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
}

static CUresult add_copy(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps,
                         size_t n, const cudaMemcpy3DParms *p)
{
  struct graph_op op;
  CUresult r = copy_op(s, &op, p);
  return add(s, r, out, g, deps, n, &op);
}

static CUresult set_copy(struct shim *s, CUgraphExec x, CUgraphNode node, const cudaMemcpy3DParms *p)
{
  struct graph_op op;
  CUresult r = copy_op(s, &op, p);
  if (r == CUDA_SUCCESS) r = x ? exec_set(s, x, node, &op) : graph_set(s, node, &op);
  return r;
}

CUresult cudaGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                const cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, add_copy(s, out, g, deps, n, p));
}

CUresult cudaGraphMemcpyNodeGetParams(CUgraphNode node, cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, copy_params(s, node, p));
}

CUresult cudaGraphMemcpyNodeSetParams(CUgraphNode node, const cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, set_copy(s, NULL, node, p));
}

CUresult cudaGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode node,
                                          const cudaMemcpy3DParms *p)
{
  RUNTIME(NEED_CONTEXT, (x ? set_copy(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
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

CUresult cudaGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                const CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, add_memset(s, out, g, deps, n, p));
}

CUresult cudaGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, memset_params(s, node, p));
}

CUresult cudaGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, set_memset(s, NULL, node, p));
}

CUresult cudaGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
                                          const CUDA_MEMSET_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, (x ? set_memset(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
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

CUresult cudaGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, add_host(s, out, g, deps, n, p));
}

CUresult cudaGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, host_params(s, node, p));
}

CUresult cudaGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, set_host(s, NULL, node, p));
}

CUresult cudaGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_HOST_NODE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, (x ? set_host(s, x, node, p) : CUDA_ERROR_INVALID_VALUE));
}

static CUresult add_linear(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                           void *dst, const void *src, size_t bytes, int kind)
{
  struct graph_op op;
  CUresult r = linear_op(s, &op, dst, src, bytes, kind);
  return add(s, r, out, g, deps, n, &op);
}

CUresult cudaGraphAddMemcpyNode1D(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                  void *dst, const void *src, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT, add_linear(s, out, g, deps, n, dst, src, bytes, kind));
}

static CUresult set_linear(struct shim *s, CUgraphExec x, CUgraphNode node, void *dst, const void *src,
                           size_t bytes, int kind)
{
  struct graph_op op;
  CUresult r = linear_op(s, &op, dst, src, bytes, kind);
  if (r != CUDA_SUCCESS) return r;
  return x ? exec_set(s, x, node, &op) : graph_set(s, node, &op);
}

CUresult cudaGraphMemcpyNodeSetParams1D(CUgraphNode node, void *dst, const void *src, size_t bytes,
                                        int kind)
{
  RUNTIME(NEED_CONTEXT, set_linear(s, NULL, node, dst, src, bytes, kind));
}

CUresult cudaGraphExecMemcpyNodeSetParams1D(CUgraphExec x, CUgraphNode node, void *dst,
                                            const void *src, size_t bytes, int kind)
{
  RUNTIME(NEED_CONTEXT,
          x
              ? set_linear(s, x, node, dst, src, bytes, kind)
              : CUDA_ERROR_INVALID_VALUE);
}

static CUresult add_plain(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                          enum node_type type, CUevent event)
{
  struct graph_op op = { .type = type, .event = event };
  return graph_add(s, out, g, deps, n, &op);
}

CUresult cudaGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
  RUNTIME(NEED_CONTEXT, add_plain(s, out, g, deps, n, NODE_EMPTY, NULL));
}

CUresult cudaGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                     CUevent event)
{
  RUNTIME(NEED_CONTEXT, add_plain(s, out, g, deps, n, NODE_EVENT_RECORD, event));
}

CUresult cudaGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                   CUevent event)
{
  RUNTIME(NEED_CONTEXT, add_plain(s, out, g, deps, n, NODE_WAIT_EVENT, event));
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

CUresult cudaGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
  RUNTIME(NEED_CONTEXT, get_event(s, node, NODE_EVENT_RECORD, event));
}

CUresult cudaGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
  RUNTIME(NEED_CONTEXT, get_event(s, node, NODE_WAIT_EVENT, event));
}

CUresult cudaGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, set_event(s, node, NODE_EVENT_RECORD, event));
}

CUresult cudaGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, set_event(s, node, NODE_WAIT_EVENT, event));
}

CUresult cudaGraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, set_exec_event(s, x, node, NODE_EVENT_RECORD, event));
}

CUresult cudaGraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent event)
{
  RUNTIME(NEED_CONTEXT, set_exec_event(s, x, node, NODE_WAIT_EVENT, event));
}

static CUresult add_child(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                          CUgraph child)
{
  struct graph_op op = { .type = NODE_GRAPH, .child = child };
  return graph_add(s, out, g, deps, n, &op);
}

CUresult cudaGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                    CUgraph child)
{
  RUNTIME(NEED_CONTEXT, add_child(s, out, g, deps, n, child));
}

static CUresult get_child(struct shim *s, CUgraphNode node, CUgraph *out)
{
  const struct graph_op *op = get(s, node, NODE_GRAPH);
  if (!op || !out) return CUDA_ERROR_INVALID_VALUE;
  *out = op->child;
  return CUDA_SUCCESS;
}

CUresult cudaGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
  RUNTIME(NEED_CONTEXT, get_child(s, node, out));
}

static CUresult set_child(struct shim *s, CUgraphExec x, CUgraphNode node, CUgraph child)
{
  struct graph_op op = { .type = NODE_GRAPH, .child = child };
  return exec_set(s, x, node, &op);
}

CUresult cudaGraphExecChildGraphNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraph child)
{
  RUNTIME(NEED_CONTEXT, set_child(s, x, node, child));
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

static CUresult instantiate(struct shim *s, CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = graph_instantiate(s, out, g, p->flags);
  p->failed = NULL;
  p->result = r != CUDA_SUCCESS; /* 0: success, 1: error */
  return r;
}

CUresult cudaGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
                                        CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  RUNTIME(NEED_CONTEXT, instantiate(s, out, g, p));
}

static CUresult exec_flags(struct shim *s, CUgraphExec x, unsigned long long *flags)
{
  if (!flags || !exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  *flags = x->flags;
  return CUDA_SUCCESS;
}

CUresult cudaGraphExecGetFlags(CUgraphExec x, unsigned long long *flags)
{
  RUNTIME(NEED_CONTEXT, exec_flags(s, x, flags));
}

static CUresult upload(struct shim *s, CUgraphExec x, CUstream stream)
{
  if (!exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  return stream_of(s, stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; /* it is there already */
}

CUresult cudaGraphUpload(CUgraphExec x, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, upload(s, x, stream));
}

CUresult cudaGraphLaunch(CUgraphExec x, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, exec_launch(s, x, stream));
}

CUresult cudaGraphExecDestroy(CUgraphExec x)
{
  RUNTIME(NEED_CONTEXT, exec_destroy(s, x));
}

static CUresult update(struct shim *s, CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  CUgraphExecUpdateResultInfo i = {0};
  CUresult r = exec_update(s, x, g, &i.result, &i.node);
  if (info) *info = i;
  return r;
}

CUresult cudaGraphExecUpdate(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  RUNTIME(NEED_CONTEXT, update(s, x, g, info));
}

/* Kernels, copies and fills can be switched off (CUDA Driver API, cuGraphNodeSetEnabled). */
static CUresult enable(struct shim *s, CUgraphExec x, CUgraphNode node, unsigned on)
{
  struct cu_node *n = exec_node(s, x, node);
  if (!n || n->op.type > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
  n->disabled = !on;
  return CUDA_SUCCESS;
}

CUresult cudaGraphNodeSetEnabled(CUgraphExec x, CUgraphNode node, unsigned on)
{
  RUNTIME(NEED_CONTEXT, enable(s, x, node, on));
}

static CUresult is_enabled(struct shim *s, CUgraphExec x, CUgraphNode node, unsigned *on)
{
  const struct cu_node *n = exec_node(s, x, node);
  if (!n || !on || n->op.type > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
  *on = !n->disabled;
  return CUDA_SUCCESS;
}

CUresult cudaGraphNodeGetEnabled(CUgraphExec x, CUgraphNode node, unsigned *on)
{
  RUNTIME(NEED_CONTEXT, is_enabled(s, x, node, on));
}

/* Capture ------------------------------------------------------------------------------------------- */

CUresult cudaStreamBeginCapture(CUstream stream, int mode)
{
  RUNTIME(NEED_CONTEXT, capture_begin(s, stream, NULL, NULL, 0, mode));
}

CUresult cudaStreamBeginCaptureToGraph(CUstream stream, CUgraph g, const CUgraphNode *deps,
                                       const CUgraphEdgeData *data, size_t n, int mode)
{
  RUNTIME(NEED_CONTEXT,
          !g || !are_plain(data, n)
              ? CUDA_ERROR_INVALID_VALUE
              : capture_begin(s, stream, g, deps, n, mode));
}

CUresult cudaStreamEndCapture(CUstream stream, CUgraph *out)
{
  RUNTIME(NEED_CONTEXT, capture_end(s, stream, out));
}

CUresult cudaStreamIsCapturing(CUstream stream, int *status)
{
  RUNTIME(NEED_CONTEXT, capture_info(s, stream, status, NULL, NULL, NULL, NULL));
}

static CUresult info(struct shim *s, CUstream stream, int *status, uint64_t *id, CUgraph *g,
                     const CUgraphNode **deps, const CUgraphEdgeData **data, size_t *n)
{
  if (data) *data = NULL; /* all edges are plain */
  return capture_info(s, stream, status, id, g, deps, n);
}

CUresult cudaStreamGetCaptureInfo(CUstream stream, int *status, uint64_t *id, CUgraph *g,
                                  const CUgraphNode **deps, const CUgraphEdgeData **data, size_t *n)
{
  RUNTIME(NEED_CONTEXT, info(s, stream, status, id, g, deps, data, n));
}

CUresult cudaStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *deps,
                                             const CUgraphEdgeData *data, size_t n, unsigned flags)
{
  RUNTIME(NEED_CONTEXT,
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

CUresult cudaThreadExchangeStreamCaptureMode(int *mode)
{
  RUNTIME(NEED_CONTEXT, exchange_mode(s, mode));
}
