/* What a program asks about the shape of a graph. */
#include "cuda/core/graph.h"

/* Writes one more entry when there is room; counts it in any case. */
static void put(CUgraphNode *to, size_t room, size_t *at, CUgraphNode n)
{
  if (to && *at < room) to[*at] = n;
  ++*at;
}

/* The rest of the arrays is empty; *n: how many were written, or without arrays how many there are. */
static CUresult finish(CUgraphNode *a, CUgraphNode *b, size_t *n, size_t found)
{
  size_t room = *n;
  for (size_t i = found; a && i < room; i++) a[i] = NULL;
  for (size_t i = found; b && i < room; i++) b[i] = NULL;
  *n = (a || b) && room < found ? room : found;
  return CUDA_SUCCESS;
}

CUresult graph_nodes(struct shim *s, CUgraph g, enum graph_list which, CUgraphNode *out, size_t *n)
{
  size_t found = 0;
  if (!n || !graph_exists(s, g)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < g->n; i++)
    if (which == LIST_NODES || g->node[i]->n_deps == 0) put(out, *n, &found, g->node[i]);
  return finish(out, NULL, n, found);
}

CUresult graph_edges(struct shim *s, CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
  size_t found = 0, same;
  if (!n || !graph_exists(s, g) || !from != !to) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < g->n; i++)
    for (size_t d = 0; d < g->node[i]->n_deps; d++) {
      same = found;
      put(from, *n, &same, g->node[i]->dep[d]);
      put(to, *n, &found, g->node[i]);
    }
  return finish(from, to, n, found);
}

CUresult graph_deps(struct shim *s, CUgraphNode node, CUgraphNode *out, size_t *n)
{
  size_t found = 0;
  if (!n || !graph_is_node(s, node)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t d = 0; d < node->n_deps; d++) put(out, *n, &found, node->dep[d]);
  return finish(out, NULL, n, found);
}

CUresult graph_dependents(struct shim *s, CUgraphNode node, CUgraphNode *out, size_t *n)
{
  size_t found = 0;
  if (!n || !graph_is_node(s, node)) return CUDA_ERROR_INVALID_VALUE;
  const struct graph *g = node->graph;
  for (size_t i = 0; i < g->n; i++)
    for (size_t d = 0; d < g->node[i]->n_deps; d++)
      if (g->node[i]->dep[d] == node) put(out, *n, &found, g->node[i]);
  return finish(out, NULL, n, found);
}

CUresult graph_find_in_clone(struct shim *s, CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
  if (!out || !graph_is_node(s, node) || !graph_exists(s, clone)) return CUDA_ERROR_INVALID_VALUE;
  if (node->graph == clone) return CUDA_ERROR_INVALID_VALUE; /* not a clone of its graph */
  for (size_t i = 0; i < clone->n; i++)
    if (clone->node[i]->id == node->id) return *out = clone->node[i], CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}
