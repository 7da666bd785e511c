/* Graphs of the runtime: kernels and copies in its structures, and what the driver does not have: copies in one line,
 * of variables. */
#include "cuda/core/copy_3d.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/runtime_forms.h"

/* Parameters --------------------------------------------------------------------------------------- */

CUresult runtime_put_kernel(struct shim *s, struct node_place place, const CUDA_KERNEL_NODE_PARAMS *p)
{
  CUfunction f;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, p->function, &f);
  return r == CUDA_SUCCESS ? node_put_kernel(s, place, f, rt_host_function(s, p->function), NULL, p) : r;
}

static CUresult put_directed(struct shim *s, struct node_place place, struct graph_op *op, int kind)
{
  op->memcpy.kind = kind;
  bool good = copy_direct(s, &op->memcpy.copy, kind);
  return node_put(s, place, good ? CUDA_SUCCESS : cudaErrorInvalidMemcpyDirection, op);
}

CUresult runtime_put_copy(struct shim *s, struct node_place place, const cudaMemcpy3DParms *p)
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
CUresult runtime_get_copy(struct shim *s, CUgraphNode node, cudaMemcpy3DParms *p)
{
  const struct graph_op *op = node_op(s, node, NODE_MEMCPY);
  if (!op || !p) return CUDA_ERROR_INVALID_VALUE;
  const struct copy *c = &op->memcpy.copy;
  *p = (cudaMemcpy3DParms){ .src = pitched(c, &c->src), .dst = pitched(c, &c->dst),
                            .extent = { c->width, c->height, c->depth }, .kind = op->memcpy.kind };
  return CUDA_SUCCESS;
}

static CUresult put_any_copy(struct shim *s, struct node_place place, const CUgraphNodeParams *p)
{
  return runtime_put_copy(s, place, &p->runtime_copy.params);
}

const struct node_forms runtime_node_forms = { .put_kernel = runtime_put_kernel, .put_copy = put_any_copy };

/* Copies --------------------------------------------------------------------------------------------- */

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

/* Running ------------------------------------------------------------------------------------------- */

CUresult cudaGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
  RUNTIME(NEED_CONTEXT, graph_instantiate(s, out, g, flags));
}
