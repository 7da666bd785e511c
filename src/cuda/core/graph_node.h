/* What the driver's and the runtime's graph calls share: parameters to operations and back, and what both
 * interfaces say of edges, instantiated graphs and captures. What the two write differently, kernels' names and
 * copies, they read themselves (struct node_forms; driver_graph.c, runtime_graph.c).
 */
#ifndef WS_CUDA_GRAPH_NODE_H
#define WS_CUDA_GRAPH_NODE_H

#include "cuda/core/graph.h"

/* Where an operation goes: a new node of a graph, a node there is, or its copy in an instantiated graph. */
struct node_place {
  enum { PLACE_NEW, PLACE_NODE, PLACE_EXEC } how;
  CUgraphNode *out; /* PLACE_NEW: the node made */
  CUgraph graph;
  const CUgraphNode *deps;
  size_t n_deps;
  CUgraphNode node;
  CUgraphExec exec;
};

struct node_place node_new(CUgraphNode *out, CUgraph, const CUgraphNode *deps, size_t n);
struct node_place node_there(CUgraphNode);
struct node_place node_in_exec(CUgraphExec, CUgraphNode);

/* Puts an operation that could be read (r) into its place; *op's own memory is freed. */
CUresult node_put(struct shim *, struct node_place, CUresult r, const struct graph_op *op);
/* handle: how the program named the kernel. */
/* in: whose SMs it runs on; NULL: a new one those of the current context (CUDA Driver API, CUDA_KERNEL_NODE_PARAMS). */
CUresult node_put_kernel(struct shim *, struct node_place, CUfunction, const void *handle, const struct context *in,
                         const CUDA_KERNEL_NODE_PARAMS *);
CUresult node_put_memset(struct shim *, struct node_place, const CUDA_MEMSET_NODE_PARAMS *);
CUresult node_put_host(struct shim *, struct node_place, const CUDA_HOST_NODE_PARAMS *);
/* NODE_EVENT_RECORD, NODE_WAIT_EVENT; NODE_EMPTY has no event. */
CUresult node_put_event(struct shim *, struct node_place, enum node_type, CUevent);
CUresult node_put_child(struct shim *, struct node_place, CUgraph);

/* The address goes into the parameters. */
CUresult node_put_alloc(struct shim *, struct node_place, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult node_put_free(struct shim *, struct node_place, uint64_t addr);
/* The bodies, empty graphs, go into the parameters. */
CUresult node_put_memory_ops(struct shim *, struct node_place, const CUDA_BATCH_MEM_OP_NODE_PARAMS *);
/* What only the interfaces can read. */
struct node_forms {
  CUresult (*put_kernel)(struct shim *, struct node_place, const CUDA_KERNEL_NODE_PARAMS *);
  CUresult (*put_copy)(struct shim *, struct node_place, const CUgraphNodeParams *);
};
/* A node of any type. data: of its edges. */
CUresult node_put_any(struct shim *, const struct node_forms *, struct node_place, const CUgraphEdgeData *data,
                      CUgraphNodeParams *);
CUresult node_new_condition(struct shim *, CUgraphConditionalHandle *, CUgraph, unsigned value,
                            unsigned flags);

/* NULL: no node of the program, or of another type. */
const struct graph_op *node_op(struct shim *, CUgraphNode, enum node_type);
CUresult node_type_of(struct shim *, CUgraphNode, int *type);
/* What both interfaces' structures have. The pointers stay good until the node is changed or goes away. */
CUresult node_get_kernel(struct shim *, CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
/* CUlaunchAttributeID. */
CUresult node_kernel_attribute(struct shim *, CUgraphNode, int attribute, CUlaunchAttributeValue *);
CUresult node_set_kernel_attribute(struct shim *, CUgraphNode, int attribute, const CUlaunchAttributeValue *);
CUresult node_copy_kernel_attributes(struct shim *, CUgraphNode to, CUgraphNode from);
CUresult node_get_memset(struct shim *, CUgraphNode, CUDA_MEMSET_NODE_PARAMS *);
CUresult node_get_host(struct shim *, CUgraphNode, CUDA_HOST_NODE_PARAMS *);
CUresult node_get_event(struct shim *, CUgraphNode, enum node_type, CUevent *);
CUresult node_get_child(struct shim *, CUgraphNode, CUgraph *);
CUresult node_get_memory_ops(struct shim *, CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *);
CUresult node_get_alloc(struct shim *, CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *);
/* addr: of eight bytes. */
CUresult node_get_free(struct shim *, CUgraphNode, void *addr);

/* Edges with their data (of launches that overlap): all edges are plain ones, whose data is zero. */
CUresult edge_list(struct shim *, CUgraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *, size_t *n);
CUresult edge_neighbours(struct shim *, CUgraphNode, CUgraphNode *out, CUgraphEdgeData *, size_t *n,
                         bool before);
CUresult edge_add(struct shim *, CUgraph, const CUgraphNode *from, const CUgraphNode *to,
                  const CUgraphEdgeData *, size_t n);

CUresult exec_instantiate(struct shim *, CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *);
CUresult exec_flags(struct shim *, CUgraphExec, unsigned long long *flags);
CUresult exec_upload(struct shim *, CUgraphExec, CUstream);
CUresult exec_update_info(struct shim *, CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);
/* Kernels, copies and fills can be switched off (CUDA Driver API, cuGraphNodeSetEnabled). */
CUresult exec_enable(struct shim *, CUgraphExec, CUgraphNode, unsigned on);
CUresult exec_is_enabled(struct shim *, CUgraphExec, CUgraphNode, unsigned *on);

/* Into a graph of the program's. */
CUresult capture_begin_in(struct shim *, CUstream, CUgraph, const CUgraphNode *deps, const CUgraphEdgeData *,
                          size_t n, int mode);
CUresult capture_info_edges(struct shim *, CUstream, int *status, uint64_t *id, CUgraph *,
                            const CUgraphNode **deps, const CUgraphEdgeData **, size_t *n);
CUresult capture_set_edges(struct shim *, CUstream, const CUgraphNode *deps, const CUgraphEdgeData *, size_t n,
                           unsigned flags);
/* Modes of threads only matter to calls that a capture forbids; those are told by the capture's own. */
CUresult capture_exchange_mode(struct shim *, int *mode);

#endif
