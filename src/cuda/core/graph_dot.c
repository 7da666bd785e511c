/* Listings of graphs in the language of Graphviz (cuGraphDebugDotPrint): a box for each node, with its type, its
 * kernel and what the flags ask for; graphs inside nodes as clusters. The driver's own text is not published: the
 * structure is the same, the labels are ours.
 */
#include <errno.h>
#include <string.h>

#include "base/output.h"
#include "cuda/core/shim.h"

/* CUgraphDebugDot_flags */
enum { DOT_VERBOSE = 1, DOT_KERNEL = 4, DOT_MEMCPY = 8, DOT_MEMSET = 16, DOT_HOST = 32, DOT_EVENT = 64,
       DOT_KERNEL_ATTRIBUTES = 512, DOT_HANDLES = 1024, DOT_MEM_ALLOC = 2048, DOT_MEM_FREE = 4096,
       DOT_CONDITION = 32768 };

struct dot {
  FILE *f;
  unsigned flags;
  unsigned graphs; /* so far */
};

static const char *type_name(enum node_type t)
{
  static const char *const names[] = {
    [NODE_KERNEL] = "KERNEL", [NODE_MEMCPY] = "MEMCPY", [NODE_MEMSET] = "MEMSET", [NODE_HOST] = "HOST",
    [NODE_GRAPH] = "GRAPH", [NODE_EMPTY] = "EMPTY", [NODE_WAIT_EVENT] = "EVENT_WAIT",
    [NODE_EVENT_RECORD] = "EVENT_RECORD", [NODE_MEM_ALLOC] = "MEM_ALLOC", [NODE_MEM_FREE] = "MEM_FREE",
    [NODE_CONDITIONAL] = "CONDITIONAL", [NODE_MEM_OPS] = "BATCH_MEM_OP",
  };
  return names[t];
}

static bool asks(const struct dot *d, unsigned flag)
{
  return d->flags & (flag | DOT_VERBOSE);
}

static void write_kernel(const struct dot *d, const struct graph_op *op)
{
  const struct launch_request *q = &op->kernel.q;
  fprintf(d->f, "\\n%s", q->function->kernel->name);
  if (asks(d, DOT_KERNEL))
    fprintf(d->f, "\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", q->grid[0], q->grid[1], q->grid[2], q->block[0],
            q->block[1], q->block[2], q->shared);
  if (asks(d, DOT_KERNEL_ATTRIBUTES))
    fprintf(d->f, "\\ncooperative %d, cluster (%u,%u,%u), priority %d", q->cooperative, q->cluster[0],
            q->cluster[1], q->cluster[2], op->kernel.hints.priority);
}

static void write_label(const struct dot *d, const struct graph_node *n)
{
  const struct graph_op *op = &n->op;
  fprintf(d->f, "%s", type_name(op->type));
  if (asks(d, DOT_HANDLES)) fprintf(d->f, "\\nnode %p", (const void *)n);
  if (op->type == NODE_KERNEL) write_kernel(d, op);
  if (op->type == NODE_MEMCPY && asks(d, DOT_MEMCPY))
    fprintf(d->f, "\\n0x%llx to 0x%llx, %llu x %llu x %llu bytes",
            (unsigned long long)op->memcpy.copy.src.addr,
            (unsigned long long)op->memcpy.copy.dst.addr, (unsigned long long)op->memcpy.copy.width,
            (unsigned long long)op->memcpy.copy.height, (unsigned long long)op->memcpy.copy.depth);
  if (op->type == NODE_MEMSET && asks(d, DOT_MEMSET))
    fprintf(d->f, "\\n0x%x at 0x%llx, %llu x %llu bytes", op->memset.value, (unsigned long long)op->memset.to.addr,
            (unsigned long long)op->memset.width, (unsigned long long)op->memset.height);
  if (op->type == NODE_HOST && asks(d, DOT_HOST)) fprintf(d->f, "\\ndata %p", op->host.data);
  if ((op->type == NODE_WAIT_EVENT || op->type == NODE_EVENT_RECORD) && asks(d, DOT_EVENT))
    fprintf(d->f, "\\nevent %p", (const void *)op->event);
  if ((op->type == NODE_MEM_ALLOC && asks(d, DOT_MEM_ALLOC)) ||
      (op->type == NODE_MEM_FREE && asks(d, DOT_MEM_FREE)))
    fprintf(d->f, "\\n0x%llx", (unsigned long long)op->memory.addr);
  if (op->type == NODE_CONDITIONAL && asks(d, DOT_CONDITION))
    fprintf(d->f, "\\nhandle 0x%llx, type %d", (unsigned long long)op->condition.handle, (int)op->condition.type);
}

static void write_graph(struct dot *d, const struct graph *g);

static void write_inner(struct dot *d, const struct graph_node *n)
{
  if (n->op.type == NODE_GRAPH) write_graph(d, n->op.child);
  for (unsigned i = 0; n->op.type == NODE_CONDITIONAL && i < n->op.condition.n; i++)
    write_graph(d, n->op.condition.body[i]);
}

static void write_graph(struct dot *d, const struct graph *g)
{
  unsigned me = d->graphs++;
  fprintf(d->f, "subgraph cluster_%u {\nlabel=\"graph_%u\"\n", me, me);
  for (size_t i = 0; i < g->n; i++) {
    g->node[i]->index = i;
    fprintf(d->f, "\"graph_%u_node_%zu\" [shape=box label=\"%zu ", me, i, i);
    write_label(d, g->node[i]);
    fprintf(d->f, "\"]\n");
  }
  for (size_t i = 0; i < g->n; i++)
    for (size_t k = 0; k < g->node[i]->n_deps; k++)
      fprintf(d->f, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\"\n", me, g->node[i]->dep[k]->index, me, i);
  for (size_t i = 0; i < g->n; i++) write_inner(d, g->node[i]);
  fprintf(d->f, "}\n");
}

CUresult graph_write_dot(struct shim *s, CUgraph g, const char *path, unsigned flags)
{
  if (!graph_exists(s, g) || !path) return CUDA_ERROR_INVALID_VALUE;
  struct output out;
  struct err e = {""};
  struct dot d = { .f = output_open(&out, path, &e), .flags = flags };
  if (!d.f) {
    shim_say("%s", e.msg);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  fprintf(d.f, "digraph dot {\n");
  write_graph(&d, g);
  fprintf(d.f, "}\n");
  if (output_close(&out, true, &e)) return CUDA_SUCCESS;
  shim_say("%s", e.msg);
  return CUDA_ERROR_OPERATING_SYSTEM;
}
