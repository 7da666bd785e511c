#include "cuda/core/graph_node.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/green_context.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/residency.h"
#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"

/* Places --------------------------------------------------------------------------------------------- */

struct node_place node_new(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
  return (struct node_place){ .how = PLACE_NEW, .out = out, .graph = g, .deps = deps, .n_deps = n };
}

struct node_place node_there(CUgraphNode node)
{
  return (struct node_place){ .how = PLACE_NODE, .node = node };
}

struct node_place node_in_exec(CUgraphExec x, CUgraphNode node)
{
  return (struct node_place){ .how = PLACE_EXEC, .exec = x, .node = node };
}

static CUresult put(struct shim *s, const struct node_place *p, const struct graph_op *op)
{
  switch (p->how) {
  case PLACE_NEW: return graph_add(s, p->out, p->graph, p->deps, p->n_deps, op);
  case PLACE_NODE: return graph_set(s, p->node, op);
  default: return exec_set(s, p->exec, p->node, op);
  }
}

/* A kernel's parameter block was made for the operation; the graph has its own copy. */
CUresult node_put(struct shim *s, struct node_place p, CUresult r, const struct graph_op *op)
{
  if (r == CUDA_SUCCESS) r = put(s, &p, op);
  if (op->type == NODE_KERNEL) free((void *)(uintptr_t)op->kernel.q.packed);
  return r;
}

/* Parameters to operations ---------------------------------------------------------------------------- */

static CUresult read_kernel(struct launch_request *q, const CUDA_KERNEL_NODE_PARAMS *p)
{
  static void *const none[1];
  uint8_t *packed;
  memcpy(q->grid, p->grid, sizeof q->grid);
  memcpy(q->block, p->block, sizeof q->block);
  kernel_own_block(q);
  q->shared = p->shared;
  q->params = p->params;
  if (!q->params && q->function->kernel->n_params == 0) q->params = (void **)(uintptr_t)none;
  if ((p->params && p->extra) || !kernel_read_extra(q, p->extra)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = kernel_prepare(q, &packed);
  q->packed = r == CUDA_SUCCESS ? packed : NULL;
  return r;
}

static void copy_attributes(struct graph_op *to, const struct graph_op *from)
{
  to->kernel.hints = from->kernel.hints;
  to->kernel.q.cooperative = from->kernel.q.cooperative;
  to->kernel.q.window = from->kernel.q.window;
  to->kernel.q.shared_share = from->kernel.q.shared_share;
  memcpy(to->kernel.q.cluster, from->kernel.q.cluster, sizeof to->kernel.q.cluster);
}

/* New parameters leave the attributes of a node and its SMs as they are. */
static void keep_attributes(struct shim *s, const struct node_place *p, struct graph_op *op)
{
  const struct graph_node *n = p->how == PLACE_EXEC ? exec_node(s, p->exec, p->node) : p->node;
  if (p->how == PLACE_NEW || !n || !(p->how == PLACE_EXEC || graph_is_node(s, n))) return;
  if (n->op.type != NODE_KERNEL) return;
  copy_attributes(op, &n->op);
  op->kernel.q.cores = n->op.kernel.q.cores;
}

CUresult node_put_kernel(struct shim *s, struct node_place place, CUfunction f, const void *handle,
                         const struct context *in, const CUDA_KERNEL_NODE_PARAMS *p)
{
  struct graph_op op = { .type = NODE_KERNEL, .kernel = { .q = { .function = f }, .handle = handle } };
  op.kernel.q.cores = green_cores_of(context_current(s));
  keep_attributes(s, &place, &op);
  if (in && !context_exists(s, in)) return CUDA_ERROR_INVALID_CONTEXT;
  if (in) op.kernel.q.cores = green_cores_of(in);
  CUresult r = read_kernel(&op.kernel.q, p);
  return node_put(s, place, r, &op);
}

CUresult node_put_memset(struct shim *s, struct node_place place, const CUDA_MEMSET_NODE_PARAMS *p)
{
  if (!p || (p->element != 1 && p->element != 2 && p->element != 4)) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_MEMSET,
                         .memset = { .to = { .addr = p->dst, .pitch = p->pitch, .device = true },
                                     .value = p->value, .value_bytes = p->element,
                                     .width = p->width * p->element, .height = p->height } };
  return node_put(s, place, CUDA_SUCCESS, &op);
}

CUresult node_put_host(struct shim *s, struct node_place place, const CUDA_HOST_NODE_PARAMS *p)
{
  if (!p || !p->fn) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_HOST, .host = { p->fn, p->data } };
  return node_put(s, place, CUDA_SUCCESS, &op);
}

CUresult node_put_event(struct shim *s, struct node_place place, enum node_type type, CUevent event)
{
  struct graph_op op = { .type = type, .event = event };
  return node_put(s, place, CUDA_SUCCESS, &op);
}

CUresult node_put_child(struct shim *s, struct node_place place, CUgraph child)
{
  struct graph_op op = { .type = NODE_GRAPH, .child = child };
  return node_put(s, place, CUDA_SUCCESS, &op);
}

CUresult node_put_alloc(struct shim *s, struct node_place place, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
  enum { PINNED = 1 };
  uint64_t addr;
  if (!p || place.how != PLACE_NEW || p->pool.alloc_type != PINNED || p->n_access > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (p->pool.handle_types || p->pool.location.type != LOCATION_DEVICE)
    return shim_unsupported(s, "memory of a graph for other processes or outside of the device");
  struct board *b = board_at(s, p->pool.location.id);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  CUresult r = graph_memory_new(s, b, &addr, p->bytes);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_MEM_ALLOC, .memory = { addr, p->bytes } };
  graph_memory_hold(s, addr);
  r = node_put(s, place, CUDA_SUCCESS, &op);
  graph_memory_drop(s, addr); /* the node holds it */
  if (r == CUDA_SUCCESS) p->p = addr;
  return r;
}

CUresult node_put_free(struct shim *s, struct node_place place, uint64_t addr)
{
  if (place.how != PLACE_NEW || !graph_memory_exists(s, addr)) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_MEM_FREE, .memory = { addr, 0 } };
  return node_put(s, place, CUDA_SUCCESS, &op);
}

static bool is_condition(struct shim *s, const CUDA_CONDITIONAL_NODE_PARAMS *p)
{
  static const unsigned most[] = { [CONDITION_IF] = 2, [CONDITION_WHILE] = 1, [CONDITION_SWITCH] = UINT32_MAX };
  return condition_exists(s, p->handle) && p->type >= CONDITION_IF && p->type <= CONDITION_SWITCH &&
         p->n && p->n <= most[p->type];
}

static CUresult node_put_condition(struct shim *s, struct node_place place, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
  if (!p || place.how != PLACE_NEW || !is_condition(s, p)) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_CONDITIONAL,
                         .condition = { .handle = p->handle, .type = (enum condition_type)p->type, .n = p->n } };
  CUresult r = node_put(s, place, CUDA_SUCCESS, &op);
  if (r == CUDA_SUCCESS) p->body = (*place.out)->op.condition.body;
  return r;
}

CUresult node_new_condition(struct shim *s, CUgraphConditionalHandle *handle, CUgraph g, unsigned value,
                            unsigned flags)
{
  enum { ASSIGN_DEFAULT = 1 };
  uint64_t h;
  if (!handle || !graph_exists(s, g) || flags > ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = condition_new(s, board_current(s), &h, value, flags & ASSIGN_DEFAULT);
  if (r == CUDA_SUCCESS) *handle = h;
  return r;
}

CUresult node_put_memory_ops(struct shim *s, struct node_place place, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_MEM_OPS, .memory_ops = { p->op, p->n } };
  return node_put(s, place, mem_op_check(s, p->op, p->n, p->flags), &op);
}

/* Ordinary dependencies and programmatic ones. These allow a kernel to begin before the one in front has ended, and do
 * not promise it; here it begins behind it, as after an ordinary one. */
static bool edges_are_served(const CUgraphEdgeData *data, size_t n)
{
  enum { ORDINARY, PROGRAMMATIC };
  enum { PORT_DEFAULT, PORT_PROGRAMMATIC, PORT_LAUNCH_ORDER };
  for (size_t i = 0; data && i < n; i++) {
    const CUgraphEdgeData *d = &data[i];
    const bool early = d->from_port == PORT_PROGRAMMATIC || d->from_port == PORT_LAUNCH_ORDER;
    if (d->to_port || (d->type == PROGRAMMATIC ? !early : d->type != ORDINARY || d->from_port)) return false;
  }
  return true;
}

CUresult node_put_any(struct shim *s, const struct node_forms *forms, struct node_place place,
                      const CUgraphEdgeData *data, CUgraphNodeParams *p)
{
  if (!edges_are_served(data, place.n_deps)) return shim_unsupported(s, "a dependency of graph nodes of this kind");
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  switch (p->type) {
  case NODE_KERNEL: return forms->put_kernel(s, place, &p->kernel);
  case NODE_MEMCPY: return forms->put_copy(s, place, p);
  case NODE_MEMSET: return node_put_memset(s, place, &p->memset);
  case NODE_HOST: return node_put_host(s, place, &p->host);
  case NODE_GRAPH: return node_put_child(s, place, p->graph);
  case NODE_EMPTY: return node_put_event(s, place, NODE_EMPTY, NULL);
  case NODE_WAIT_EVENT:
  case NODE_EVENT_RECORD: return node_put_event(s, place, (enum node_type)p->type, p->event);
  case NODE_MEM_ALLOC: return node_put_alloc(s, place, &p->alloc);
  case NODE_MEM_FREE: return node_put_free(s, place, p->free);
  case NODE_CONDITIONAL: return node_put_condition(s, place, &p->condition);
  case NODE_MEM_OPS: return node_put_memory_ops(s, place, &p->memory_ops);
  default: return shim_unsupported(s, "a graph node of this type");
  }
}

/* And back -------------------------------------------------------------------------------------------- */

const struct graph_op *node_op(struct shim *s, CUgraphNode node, enum node_type type)
{
  return graph_is_node(s, node) && node->op.type == type ? &node->op : NULL;
}

CUresult node_type_of(struct shim *s, CUgraphNode node, int *type)
{
  if (!type || !graph_is_node(s, node)) return CUDA_ERROR_INVALID_VALUE;
  *type = (int)node->op.type;
  return CUDA_SUCCESS;
}

CUresult node_get_kernel(struct shim *s, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
  const struct graph_op *op = node_op(s, node, NODE_KERNEL);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  p->function = op->kernel.handle;
  memcpy(p->grid, op->kernel.q.grid, sizeof p->grid);
  memcpy(p->block, op->kernel.q.block, sizeof p->block);
  p->shared = op->kernel.q.shared;
  p->params = node->params;
  p->extra = NULL;
  return CUDA_SUCCESS;
}

CUresult node_kernel_attribute(struct shim *s, CUgraphNode node, int attribute, CUlaunchAttributeValue *v)
{
  const struct graph_op *op = node_op(s, node, NODE_KERNEL);
  if (!op || !v) return CUDA_ERROR_INVALID_VALUE;
  const uint32_t *c = op->kernel.q.cluster;
  *v = (CUlaunchAttributeValue){{0}};
  switch (attribute) {
  case LAUNCH_ATTR_WINDOW: v->window = op->kernel.q.window; break;
  case LAUNCH_ATTR_COOPERATIVE: v->cooperative = op->kernel.q.cooperative; break;
  case LAUNCH_ATTR_CLUSTER: v->cluster.x = c[0], v->cluster.y = c[1], v->cluster.z = c[2]; break;
  case LAUNCH_ATTR_CLUSTER_POLICY: v->cluster_policy = op->kernel.hints.cluster_policy; break;
  case LAUNCH_ATTR_PRIORITY: v->priority = op->kernel.hints.priority; break;
  case LAUNCH_ATTR_CARVEOUT:
    v->carveout = kernel_shared_share(op->kernel.q.function, op->kernel.q.shared_share) - 1;
    break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult node_set_kernel_attribute(struct shim *s, CUgraphNode node, int attribute, const CUlaunchAttributeValue *v)
{
  if (!v || !node_op(s, node, NODE_KERNEL)) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op *op = &node->op;
  uint32_t *c = op->kernel.q.cluster;
  switch (attribute) {
  case LAUNCH_ATTR_WINDOW:
    if (residency_check(op->kernel.q.function->module->board, &v->window) != CUDA_SUCCESS)
      return CUDA_ERROR_INVALID_VALUE;
    op->kernel.q.window = v->window;
    break;
  case LAUNCH_ATTR_COOPERATIVE: op->kernel.q.cooperative = v->cooperative; break;
  case LAUNCH_ATTR_CLUSTER: c[0] = v->cluster.x, c[1] = v->cluster.y, c[2] = v->cluster.z; break;
  case LAUNCH_ATTR_CLUSTER_POLICY: op->kernel.hints.cluster_policy = v->cluster_policy; break;
  case LAUNCH_ATTR_PRIORITY: op->kernel.hints.priority = v->priority; break;
  case LAUNCH_ATTR_CARVEOUT:
    if (v->carveout > 100) return CUDA_ERROR_INVALID_VALUE;
    op->kernel.q.shared_share = v->carveout + 1;
    break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult node_copy_kernel_attributes(struct shim *s, CUgraphNode to, CUgraphNode from)
{
  const struct graph_op *op = node_op(s, from, NODE_KERNEL);
  if (!op || !node_op(s, to, NODE_KERNEL)) return CUDA_ERROR_INVALID_VALUE;
  copy_attributes(&to->op, op);
  return CUDA_SUCCESS;
}

CUresult node_get_memset(struct shim *s, CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
  const struct graph_op *op = node_op(s, node, NODE_MEMSET);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  *p = (CUDA_MEMSET_NODE_PARAMS){ .dst = op->memset.to.addr, .pitch = op->memset.to.pitch,
                                  .value = op->memset.value, .element = op->memset.value_bytes,
                                  .width = op->memset.width / op->memset.value_bytes,
                                  .height = op->memset.height };
  return CUDA_SUCCESS;
}

CUresult node_get_host(struct shim *s, CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
  const struct graph_op *op = node_op(s, node, NODE_HOST);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  *p = (CUDA_HOST_NODE_PARAMS){ op->host.fn, op->host.data };
  return CUDA_SUCCESS;
}

CUresult node_get_event(struct shim *s, CUgraphNode node, enum node_type type, CUevent *event)
{
  const struct graph_op *op = node_op(s, node, type);
  if (!op || !event) return CUDA_ERROR_INVALID_VALUE;
  *event = op->event;
  return CUDA_SUCCESS;
}

CUresult node_get_child(struct shim *s, CUgraphNode node, CUgraph *out)
{
  const struct graph_op *op = node_op(s, node, NODE_GRAPH);
  if (!op || !out) return CUDA_ERROR_INVALID_VALUE;
  *out = op->child;
  return CUDA_SUCCESS;
}

CUresult node_get_memory_ops(struct shim *s, CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
  const struct graph_op *op = node_op(s, node, NODE_MEM_OPS);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  *p = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.context = context_current(s), .n = op->memory_ops.n, .op = op->memory_ops.op};
  return CUDA_SUCCESS;
}

CUresult node_get_alloc(struct shim *s, CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
  const struct graph_op *op = node_op(s, node, NODE_MEM_ALLOC);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  *p = (CUDA_MEM_ALLOC_NODE_PARAMS){ .pool = { .alloc_type = 1, .location = { LOCATION_DEVICE, 0 } },
                                     .bytes = op->memory.bytes, .p = op->memory.addr };
  return CUDA_SUCCESS;
}

CUresult node_get_free(struct shim *s, CUgraphNode node, void *addr)
{
  const struct graph_op *op = node_op(s, node, NODE_MEM_FREE);
  if (!op || !addr) return CUDA_ERROR_INVALID_VALUE;
  memcpy(addr, &op->memory.addr, sizeof op->memory.addr);
  return CUDA_SUCCESS;
}

/* Edges ----------------------------------------------------------------------------------------------- */

static void clear_edges(CUgraphEdgeData *data, const size_t *n, CUresult r)
{
  if (data && r == CUDA_SUCCESS) memset(data, 0, *n * sizeof *data);
}

CUresult edge_list(struct shim *s, CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                   size_t *n)
{
  CUresult r = graph_edges(s, g, from, to, n);
  clear_edges(from ? data : NULL, n, r);
  return r;
}

CUresult edge_neighbours(struct shim *s, CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data, size_t *n,
                         bool before)
{
  CUresult r = before ? graph_deps(s, node, out, n) : graph_dependents(s, node, out, n);
  clear_edges(out ? data : NULL, n, r);
  return r;
}

CUresult edge_add(struct shim *s, CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                  const CUgraphEdgeData *data, size_t n)
{
  if (!edges_are_served(data, n)) return shim_unsupported(s, "a dependency of graph nodes of this kind");
  return graph_add_edges(s, g, from, to, n);
}

/* Instantiated graphs --------------------------------------------------------------------------------- */

CUresult exec_instantiate(struct shim *s, CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = graph_instantiate(s, out, g, p->flags);
  p->failed = NULL;
  p->result = r != CUDA_SUCCESS; /* 0: success, 1: error */
  return r;
}

CUresult exec_flags(struct shim *s, CUgraphExec x, unsigned long long *flags)
{
  if (!flags || !exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  *flags = x->flags;
  return CUDA_SUCCESS;
}

CUresult exec_upload(struct shim *s, CUgraphExec x, CUstream stream)
{
  if (!exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  return stream_of(s, stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; /* it is there already */
}

CUresult exec_update_info(struct shim *s, CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
  CUgraphExecUpdateResultInfo i = {0};
  CUresult r = exec_update(s, x, g, &i.result, &i.node);
  if (info) *info = i;
  return r;
}

CUresult exec_enable(struct shim *s, CUgraphExec x, CUgraphNode node, unsigned on)
{
  struct graph_node *n = exec_node(s, x, node);
  if (!n || n->op.type > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
  n->disabled = !on;
  return CUDA_SUCCESS;
}

CUresult exec_is_enabled(struct shim *s, CUgraphExec x, CUgraphNode node, unsigned *on)
{
  const struct graph_node *n = exec_node(s, x, node);
  if (!n || !on || n->op.type > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
  *on = !n->disabled;
  return CUDA_SUCCESS;
}

/* Captures -------------------------------------------------------------------------------------------- */

CUresult capture_begin_in(struct shim *s, CUstream stream, CUgraph g, const CUgraphNode *deps,
                          const CUgraphEdgeData *data, size_t n, int mode)
{
  if (!g || !edges_are_served(data, n)) return CUDA_ERROR_INVALID_VALUE;
  return capture_begin(s, stream, g, deps, n, mode);
}

CUresult capture_info_edges(struct shim *s, CUstream stream, int *status, uint64_t *id, CUgraph *g,
                            const CUgraphNode **deps, const CUgraphEdgeData **data, size_t *n)
{
  if (data) *data = NULL; /* all edges are plain */
  return capture_info(s, stream, status, id, g, deps, n);
}

CUresult capture_set_edges(struct shim *s, CUstream stream, const CUgraphNode *deps,
                           const CUgraphEdgeData *data, size_t n, unsigned flags)
{
  if (flags > 1 || !edges_are_served(data, n)) return CUDA_ERROR_INVALID_VALUE;
  return capture_set_deps(s, stream, deps, n, flags);
}

CUresult capture_exchange_mode(struct shim *s, int *mode)
{
  if (!mode || *mode < CAPTURE_GLOBAL || *mode > CAPTURE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  struct thread *t = shim_thread(s);
  int old = t->capture_mode;
  t->capture_mode = *mode;
  *mode = old;
  return CUDA_SUCCESS;
}
