#include "cuda/core/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "cuda/core/shim.h"

/* Nodes ---------------------------------------------------------------------------------------- */

static void free_graph(struct shim *, struct graph *);
static struct graph *new_graph(struct shim *, bool listed);
static struct graph *copy_graph(struct shim *, const struct graph *, bool listed);

void graph_op_free(struct shim *s, struct graph_op *op)
{
  if (op->type == NODE_KERNEL) free((void *)(uintptr_t)op->kernel.q.packed);
  if (op->type == NODE_GRAPH) free_graph(s, op->child);
  if (op->type == NODE_MEM_ALLOC) graph_memory_drop(s, op->memory.addr);
  if (op->type == NODE_CONDITIONAL) {
    for (unsigned i = 0; i < op->condition.n; i++) free_graph(s, op->condition.body[i]);
    free(op->condition.body);
  }
  if (op->type == NODE_MEM_OPS) free(op->memory_ops.op);
}

static void free_op(struct shim *s, struct graph_node *n)
{
  graph_op_free(s, &n->op);
  free(n->params);
  n->params = NULL;
}

static void free_node(struct shim *s, struct graph_node *n)
{
  free_op(s, n);
  free(n->dep);
  free(n);
}

/* Empty bodies for a new node, copies for a copied one. */
static void own_bodies(struct shim *s, struct graph_op *op, bool listed)
{
  struct graph **body = shim_alloc(op->condition.n * sizeof(struct graph *));
  for (unsigned i = 0; i < op->condition.n; i++) {
    body[i] = op->condition.body ? copy_graph(s, op->condition.body[i], listed) : new_graph(s, listed);
    body[i]->owned = true;
  }
  op->condition.body = body;
}

static void own_memory_ops(struct graph_op *op)
{
  size_t bytes = op->memory_ops.n * sizeof *op->memory_ops.op;
  CUstreamBatchMemOpParams *copy = shim_alloc(bytes);
  memcpy(copy, op->memory_ops.op, bytes);
  op->memory_ops.op = copy;
}

static void own_parameters(struct launch_request *q)
{
  const uint32_t bytes = q->function->kernel->param_bytes;
  uint8_t *packed = shim_alloc(bytes);
  if (q->packed) memcpy(packed, q->packed, bytes);
  q->packed = packed;
  q->packed_bytes = bytes;
  q->params = NULL;
}

static void own_op(struct shim *s, struct graph_op *op, bool listed)
{
  switch (op->type) {
  case NODE_KERNEL: own_parameters(&op->kernel.q); break;
  case NODE_GRAPH: op->child = copy_graph(s, op->child, listed); break;
  case NODE_MEM_ALLOC: graph_memory_hold(s, op->memory.addr); break;
  case NODE_CONDITIONAL: own_bodies(s, op, listed); break;
  case NODE_MEM_OPS: own_memory_ops(op); break;
  default: break;
  }
}

void graph_op_own(struct shim *s, struct graph_op *op)
{
  own_op(s, op, false);
}

/* The node's own copy of what the operation points to. */
static void take_op(struct shim *s, struct graph_node *n, const struct graph_op *op, bool listed)
{
  n->op = *op;
  own_op(s, &n->op, listed);
  if (op->type != NODE_KERNEL) return;
  const struct module_kernel *k = op->kernel.q.function->kernel;
  n->params = shim_alloc(k->n_params * sizeof *n->params);
  uint8_t *packed = (uint8_t *)(uintptr_t)n->op.kernel.q.packed;
  for (unsigned i = 0; i < k->n_params; i++) n->params[i] = packed + k->param[i].offset;
}

static void add_dep(struct graph_node *n, struct graph_node *dep)
{
  n->dep = realloc(n->dep, (n->n_deps + 1) * sizeof(struct graph_node *));
  NO_MEMORY_IF(!n->dep);
  n->dep[n->n_deps++] = dep;
}

static bool depends(const struct graph_node *n, const struct graph_node *dep)
{
  for (size_t i = 0; i < n->n_deps; i++)
    if (n->dep[i] == dep) return true;
  return false;
}

static void remove_dep(struct graph_node *n, const struct graph_node *dep)
{
  size_t kept = 0;
  for (size_t i = 0; i < n->n_deps; i++)
    if (n->dep[i] != dep) n->dep[kept++] = n->dep[i];
  n->n_deps = kept;
}

static struct graph_node *append(struct graph *g, uint64_t id)
{
  struct graph_node *n = shim_alloc(sizeof *n);
  *n = (struct graph_node){ .graph = g, .id = id, .index = g->n };
  if (g->n == g->cap) {
    g->cap = g->cap ? 2 * g->cap : 16;
    g->node = realloc(g->node, g->cap * sizeof(struct graph_node *));
    NO_MEMORY_IF(!g->node);
  }
  return g->node[g->n++] = n;
}

/* Graphs --------------------------------------------------------------------------------------- */

bool graph_exists(const struct shim *s, const struct graph *g)
{
  const struct graph *at = s->graphs.first;
  while (at && at != g) at = at->next;
  return at != NULL;
}

bool graph_is_node(const struct shim *s, const struct graph_node *n)
{
  for (const struct graph *g = s->graphs.first; g; g = g->next)
    for (size_t i = 0; i < g->n; i++)
      if (g->node[i] == n) return true;
  return false;
}

static bool is_node_of(const struct graph *g, const struct graph_node *n)
{
  for (size_t i = g->n; i-- > 0;)
    if (g->node[i] == n) return true;
  return false;
}

static struct graph *new_graph(struct shim *s, bool listed)
{
  struct graph *g = shim_alloc(sizeof *g);
  g->board = board_current(s);
  if (!listed) return g;
  g->next = s->graphs.first;
  return s->graphs.first = g;
}

static void free_graph(struct shim *s, struct graph *g)
{
  for (struct graph **at = &s->graphs.first; *at; at = &(*at)->next) {
    if (*at != g) continue;
    *at = g->next;
    break;
  }
  for (size_t i = 0; i < g->n; i++) free_node(s, g->node[i]);
  user_object_drop_all(s, &g->users);
  free(g->node);
  free(g);
}

/* Whether all that the node waits for has a place in the order already. */
static bool can_follow(const struct graph_node *n)
{
  for (size_t i = 0; i < n->n_deps; i++)
    if (!n->dep[i]->mark) return false;
  return true;
}

/* The nodes in an order in which they can run: as they were added, but behind what they wait for.
 * False: there is none. */
static bool sort(const struct graph *g, struct graph_node **order)
{
  size_t n = 0;
  for (size_t i = 0; i < g->n; i++) g->node[i]->mark = false;
  for (size_t before = SIZE_MAX; n < g->n && n != before;) {
    before = n;
    for (size_t i = 0; i < g->n; i++) {
      struct graph_node *node = g->node[i];
      if (node->mark || !can_follow(node)) continue;
      node->mark = true;
      order[n++] = node;
    }
  }
  return n == g->n;
}

/* A copy with the nodes in this order. */
static struct graph *copy_in_order(struct shim *s, const struct graph *from,
                                      struct graph_node *const *order, bool listed)
{
  struct graph *g = new_graph(s, listed);
  g->board = from->board;
  for (size_t i = 0; i < from->n; i++) {
    struct graph_node *n = append(g, order[i]->id);
    n->disabled = order[i]->disabled;
    order[i]->index = i;
    take_op(s, n, &order[i]->op, listed);
    if (n->op.type == NODE_GRAPH) n->op.child->owned = true;
  }
  for (size_t i = 0; i < from->n; i++)
    for (size_t d = 0; d < order[i]->n_deps; d++)
      add_dep(g->node[i], g->node[order[i]->dep[d]->index]);
  user_object_copy(&g->users, from->users);
  return g;
}

/* Copies of a child lie in order, so that they can run where they are; a cycle shows when its parent is
 * instantiated, by then as it was. */
static struct graph *copy_graph(struct shim *s, const struct graph *from, bool listed)
{
  struct graph_node **order = shim_alloc(from->n * sizeof(struct graph_node *));
  bool ordered = sort(from, order);
  struct graph *g = copy_in_order(s, from, ordered ? order : from->node, listed);
  free(order);
  return g;
}

CUresult graph_create(struct shim *s, CUgraph *out, unsigned flags)
{
  if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
  *out = new_graph(s, true);
  return CUDA_SUCCESS;
}

CUresult graph_destroy(struct shim *s, CUgraph g)
{
  if (!graph_exists(s, g) || g->owned) return CUDA_ERROR_INVALID_VALUE;
  free_graph(s, g);
  return CUDA_SUCCESS;
}

/* Such a graph cannot be copied, nor lose a node: the addresses are its own (CUDA Driver API,
 * cuGraphAddMemAllocNode). */
static bool has_memory(const struct graph *g)
{
  for (size_t i = 0; i < g->n; i++)
    if (g->node[i]->op.type == NODE_MEM_ALLOC || g->node[i]->op.type == NODE_MEM_FREE) return true;
  return false;
}

CUresult graph_clone(struct shim *s, CUgraph *out, CUgraph g)
{
  if (!out || !graph_exists(s, g)) return CUDA_ERROR_INVALID_VALUE;
  if (has_memory(g)) return CUDA_ERROR_NOT_SUPPORTED;
  *out = copy_in_order(s, g, g->node, true);
  return CUDA_SUCCESS;
}

CUresult graph_add(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                   const struct graph_op *op)
{
  if (!out || !graph_exists(s, g) || (n && !deps)) return CUDA_ERROR_INVALID_VALUE;
  if (op->type == NODE_GRAPH && (!graph_exists(s, op->child) || op->child == g))
    return CUDA_ERROR_INVALID_VALUE;
  if (op->type == NODE_GRAPH && has_memory(op->child)) return CUDA_ERROR_NOT_SUPPORTED;
  for (size_t i = 0; i < n; i++)
    if (!is_node_of(g, deps[i])) return CUDA_ERROR_INVALID_VALUE;
  return graph_append(s, out, g, deps, n, op);
}

CUresult graph_append(struct shim *s, CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                      const struct graph_op *op)
{
  struct graph_node *node = append(g, s->next_id++);
  take_op(s, node, op, true);
  if (op->type == NODE_GRAPH) node->op.child->owned = true;
  for (size_t i = 0; i < n; i++)
    if (!depends(node, deps[i])) add_dep(node, deps[i]);
  *out = node;
  return CUDA_SUCCESS;
}

CUresult graph_destroy_node(struct shim *s, CUgraphNode n)
{
  if (!graph_is_node(s, n)) return CUDA_ERROR_INVALID_VALUE;
  struct graph *g = n->graph;
  if (has_memory(g)) return CUDA_ERROR_NOT_SUPPORTED;
  size_t kept = 0;
  for (size_t i = 0; i < g->n; i++) {
    remove_dep(g->node[i], n);
    if (g->node[i] != n) g->node[kept++] = g->node[i];
  }
  g->n = kept;
  free_node(s, n);
  return CUDA_SUCCESS;
}

static CUresult replace_op(struct shim *s, struct graph_node *n, const struct graph_op *op, bool listed)
{
  if (op->type != n->op.type) return CUDA_ERROR_INVALID_VALUE;
  struct graph_node old = *n; /* op may point into it */
  take_op(s, n, op, listed);
  if (op->type == NODE_GRAPH) n->op.child->owned = true;
  free_op(s, &old);
  return CUDA_SUCCESS;
}

CUresult graph_set(struct shim *s, CUgraphNode n, const struct graph_op *op)
{
  return graph_is_node(s, n) ? replace_op(s, n, op, true) : CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_add_edges(struct shim *s, CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                         size_t n)
{
  if (!graph_exists(s, g) || (n && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    if (!is_node_of(g, from[i]) || !is_node_of(g, to[i]) || from[i] == to[i] ||
        depends(to[i], from[i]))
      return CUDA_ERROR_INVALID_VALUE;
    add_dep(to[i], from[i]);
  }
  return CUDA_SUCCESS;
}

CUresult graph_remove_edges(struct shim *s, CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                            size_t n)
{
  if (!graph_exists(s, g) || (n && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    if (!is_node_of(g, to[i]) || !depends(to[i], from[i])) return CUDA_ERROR_INVALID_VALUE;
    remove_dep(to[i], from[i]);
  }
  return CUDA_SUCCESS;
}

CUresult graph_give_object(struct shim *s, CUgraph g, CUuserObject u, unsigned count, unsigned flags)
{
  return graph_exists(s, g) ? user_object_give(s, &g->users, u, count, flags) : CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_take_object(struct shim *s, CUgraph g, CUuserObject u, unsigned count)
{
  return graph_exists(s, g) ? user_object_take(s, &g->users, u, count) : CUDA_ERROR_INVALID_VALUE;
}

/* Instantiated graphs -------------------------------------------------------------------------- */

bool exec_exists(const struct shim *s, const struct graph_exec *x)
{
  const struct graph_exec *at = s->graphs.execs;
  while (at && at != x) at = at->next;
  return at != NULL;
}

/* Whether it has no circle, nor has a graph within it: those were put in an order as far as there was one. */
static bool has_order(const struct graph *g)
{
  struct graph_node **order = shim_alloc(g->n * sizeof(struct graph_node *));
  bool has = sort(g, order);
  free(order);
  for (size_t i = 0; has && i < g->n; i++) {
    const struct graph_op *op = &g->node[i]->op;
    if (op->type == NODE_GRAPH) has = has_order(op->child);
    for (unsigned k = 0; has && op->type == NODE_CONDITIONAL && k < op->condition.n; k++)
      has = has_order(op->condition.body[k]);
  }
  return has;
}

/* A sorted copy that the program does not see. NULL: it cannot be sorted. */
static struct graph *runnable(struct shim *s, const struct graph *g)
{
  struct graph_node **order = shim_alloc(g->n * sizeof(struct graph_node *));
  struct graph *copy = has_order(g) && sort(g, order) ? copy_in_order(s, g, order, false) : NULL;
  free(order);
  return copy;
}

/* CUDA programming guide, "Device Graph Requirements". */
static bool runs_on_device(const struct graph *g)
{
  const unsigned allowed = 1u << NODE_KERNEL | 1u << NODE_MEMCPY | 1u << NODE_MEMSET | 1u << NODE_GRAPH;
  bool ok = g->n > 0;
  for (size_t i = 0; ok && i < g->n; i++) {
    const struct graph_op *op = &g->node[i]->op;
    ok = allowed >> op->type & 1 && (op->type != NODE_GRAPH || runs_on_device(op->child));
  }
  return ok;
}

CUresult graph_instantiate(struct shim *s, CUgraphExec *out, CUgraph g, uint64_t flags)
{
  if (!out || !graph_exists(s, g)) return CUDA_ERROR_INVALID_VALUE;
  if (flags & INSTANTIATE_DEVICE_LAUNCH && !runs_on_device(g)) return CUDA_ERROR_NOT_SUPPORTED;
  struct graph *copy = runnable(s, g);
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  struct graph_exec *x = shim_alloc(sizeof *x);
  *x = (struct graph_exec){ .next = s->graphs.execs, .graph = copy, .flags = flags, .users = 1 };
  *out = s->graphs.execs = x;
  return CUDA_SUCCESS;
}

void exec_hold(struct graph_exec *x)
{
  x->users++;
}

void exec_release(struct shim *s, struct graph_exec *x)
{
  if (--x->users) return;
  command_drop(x->last);
  free_graph(s, x->graph);
  free(x);
}

CUresult exec_destroy(struct shim *s, CUgraphExec x)
{
  for (struct graph_exec **at = &s->graphs.execs; *at; at = &(*at)->next) {
    if (*at != x) continue;
    *at = x->next;
    exec_release(s, x);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

static struct graph_node *find_id(const struct graph *g, uint64_t id)
{
  for (size_t i = 0; i < g->n; i++)
    if (g->node[i]->id == id) return g->node[i];
  return NULL;
}

struct graph_node *exec_node(struct shim *s, CUgraphExec x, CUgraphNode n)
{
  return exec_exists(s, x) && graph_is_node(s, n) ? find_id(x->graph, n->id) : NULL;
}

CUresult exec_set(struct shim *s, CUgraphExec x, CUgraphNode n, const struct graph_op *op)
{
  struct graph_node *mine = exec_node(s, x, n);
  if (!mine || (op->type == NODE_GRAPH && !graph_exists(s, op->child)))
    return CUDA_ERROR_INVALID_VALUE;
  return replace_op(s, mine, op, false);
}

/* CUgraphExecUpdateResult */
enum { UPDATE_SUCCESS, UPDATE_ERROR, UPDATE_TOPOLOGY_CHANGED, UPDATE_NODE_TYPE_CHANGED };

static int compare_node(const struct graph_node *a, const struct graph_node *b)
{
  if (a->op.type != b->op.type) return UPDATE_NODE_TYPE_CHANGED;
  if (a->n_deps != b->n_deps) return UPDATE_TOPOLOGY_CHANGED;
  for (size_t d = 0; d < a->n_deps; d++)
    if (a->dep[d]->index != b->dep[d]->index) return UPDATE_TOPOLOGY_CHANGED;
  return UPDATE_SUCCESS;
}

CUresult exec_update(struct shim *s, CUgraphExec x, CUgraph g, int *result, CUgraphNode *bad)
{
  *bad = NULL;
  *result = UPDATE_ERROR;
  if (!exec_exists(s, x) || !graph_exists(s, g)) return CUDA_ERROR_INVALID_VALUE;
  struct graph *other = runnable(s, g);
  if (!other) return CUDA_ERROR_INVALID_VALUE;
  *result = other->n == x->graph->n ? UPDATE_SUCCESS : UPDATE_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < other->n; i++) /* places in the order, to compare */
    if (*result == UPDATE_SUCCESS) x->graph->node[i]->index = other->node[i]->index = i;
  for (size_t i = 0; *result == UPDATE_SUCCESS && i < other->n; i++) {
    *result = compare_node(x->graph->node[i], other->node[i]);
    if (*result != UPDATE_SUCCESS) *bad = find_id(g, other->node[i]->id);
  }
  for (size_t i = 0; *result == UPDATE_SUCCESS && i < other->n; i++)
    replace_op(s, x->graph->node[i], &other->node[i]->op, false);
  free_graph(s, other);
  return *result == UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* Whether it was made there, or has a kernel there. */
static bool is_of(const struct graph *g, const struct board *b)
{
  bool is = g->board == b;
  for (size_t i = 0; !is && i < g->n; i++) {
    const struct graph_op *op = &g->node[i]->op;
    if (op->type == NODE_KERNEL) is = op->kernel.q.function->module->board == b;
    if (op->type == NODE_GRAPH) is = is_of(op->child, b);
    for (unsigned k = 0; !is && op->type == NODE_CONDITIONAL && k < op->condition.n; k++)
      is = is_of(op->condition.body[k], b);
  }
  return is;
}

static void reset(struct shim *s, struct board *b)
{
  for (struct graph_exec *x = s->graphs.execs, *next; x; x = next) {
    next = x->next;
    if (is_of(x->graph, b)) exec_destroy(s, x);
  }
  for (struct graph *g = s->graphs.first, *next; g; g = next) {
    for (next = g->next; next && next->owned; next = next->next) {}
    if (!g->owned && is_of(g, b)) free_graph(s, g);
  }
}

const struct shim_part graph_part = { .reset = reset };
