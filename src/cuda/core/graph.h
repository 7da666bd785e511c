/* Graphs: operations and what each waits for; made node by node or by capturing streams (stream_capture.h), run
 * as a whole.
 *
 *   struct graph_op   one operation, as a stream would be given it
 *   struct graph_node    an operation in a graph, and the nodes it waits for
 *   struct graph_exec    an instantiated graph: a copy in an order in which it can run
 *
 * Launches of them: graph_run.h.
 */
#ifndef WS_CUDA_GRAPH_H
#define WS_CUDA_GRAPH_H

#include "cuda/core/copy.h"
#include "cuda/core/ipc_event.h"
#include "cuda/core/kernel.h"

struct shim_part;
struct user_reference;

/* CUgraphNodeType */
enum node_type { NODE_KERNEL, NODE_MEMCPY, NODE_MEMSET, NODE_HOST, NODE_GRAPH, NODE_EMPTY,
                 NODE_WAIT_EVENT, NODE_EVENT_RECORD, NODE_MEM_ALLOC = 10, NODE_MEM_FREE = 11,
                 NODE_MEM_OPS = 12, NODE_CONDITIONAL = 13,
                 NODE_PREFETCH = 100, NODE_SHARED_EVENT }; /* the last two never in a graph */
/* CUgraphConditionalNodeType */
enum condition_type { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };
enum { INSTANTIATE_AUTO_FREE = 1, INSTANTIATE_DEVICE_LAUNCH = 4, INSTANTIATE_NODE_PRIORITY = 8 };

/* Launch attributes of nodes that streams have; the policy changes nothing. */
struct kernel_hints {
  int priority, cluster_policy;
};

struct graph_op {
  enum node_type type;
  union {
    struct {
      struct launch_request q; /* packed: its parameters; stream and params are not looked at */
      const void *handle;      /* the kernel as the program named it */
      struct kernel_hints hints;
    } kernel;
    struct {
      struct copy copy;
      int kind;
    } memcpy;
    struct fill memset;
    struct {
      void (*fn)(void *);
      void *data;
    } host;
    struct graph *child;
    CUevent event;
    struct {
      uint64_t addr, bytes; /* as asked for */
    } memory; /* graph_memory.h */
    struct {
      uint64_t addr, bytes; /* multiples of 4 KiB */
      bool to_host;
      unsigned gpu; /* else to this one */
    } prefetch; /* managed.h */
    struct shared_record shared; /* ipc_event.h */
    struct {
      CUstreamBatchMemOpParams *op;
      unsigned n;
    } memory_ops; /* mem_op.h */
    struct {
      uint64_t handle;
      enum condition_type type;
      unsigned n;
      struct graph **body; /* NULL in what graph_add is given: they are made */
    } condition;
  };
};

struct graph_node {
  struct graph *graph;
  uint64_t id;         /* its own, or in a copy that of the node it is a copy of */
  struct graph_op op;  /* owns kernel.q.packed, child, memory_ops.op and condition.body */
  void **params;       /* kernels: one pointer per parameter, into packed */
  struct graph_node **dep;
  size_t n_deps;
  size_t index;        /* while a graph is copied or searched */
  bool mark;           /* while a graph is searched */
  bool disabled;
  bool captured;       /* from an operation of a stream, not by a function of graphs */
  struct command *command; /* while a launch is given to the front end: what others come behind */
};

struct graph {
  struct graph *next;
  struct board *board;          /* that was current when it was made */
  struct user_reference *users; /* user_object.h */
  struct graph_node **node;
  size_t n, cap;
  bool owned; /* a child, or the copy in an instantiated graph: not the program's to destroy */
};

struct graph_exec {
  struct graph_exec *next;
  struct graph *graph; /* its nodes lie in an order in which they can run */
  uint64_t flags;
  unsigned users;      /* the program, and launches that are under way */
  struct command *last; /* the end of its last launch by the host, held: the next one comes behind it; NULL: none */
};

struct graphs {
  struct graph *first;
  struct graph_exec *execs;
};

/* What the operation points to becomes its own, a copy; and goes. */
void graph_op_own(struct shim *, struct graph_op *);
void graph_op_free(struct shim *, struct graph_op *);

CUresult graph_create(struct shim *, CUgraph *, unsigned flags);
CUresult graph_destroy(struct shim *, CUgraph);
CUresult graph_clone(struct shim *, CUgraph *, CUgraph);
/* User objects that it refers to (user_object.h). */
CUresult graph_give_object(struct shim *, CUgraph, CUuserObject, unsigned count, unsigned flags);
CUresult graph_take_object(struct shim *, CUgraph, CUuserObject, unsigned count);
bool graph_exists(const struct shim *, const struct graph *);
/* Whether it is a node of one of the program's graphs. */
bool graph_is_node(const struct shim *, const struct graph_node *);
/* Adds a node; what op points to is copied. */
CUresult graph_add(struct shim *, CUgraphNode *, CUgraph, const CUgraphNode *deps, size_t n,
                   const struct graph_op *);
/* The same, without looking whether graphs and nodes exist. */
CUresult graph_append(struct shim *, CUgraphNode *, CUgraph, const CUgraphNode *deps, size_t n,
                      const struct graph_op *);
CUresult graph_destroy_node(struct shim *, CUgraphNode);
/* Gives a node another operation of its type. */
CUresult graph_set(struct shim *, CUgraphNode, const struct graph_op *);
CUresult graph_add_edges(struct shim *, CUgraph, const CUgraphNode *from, const CUgraphNode *to,
                         size_t n);
CUresult graph_remove_edges(struct shim *, CUgraph, const CUgraphNode *from, const CUgraphNode *to,
                            size_t n);

/* Lists: *n is the room in the array and becomes the number written; without an array, all there are. */
enum graph_list { LIST_NODES, LIST_ROOTS };
CUresult graph_nodes(struct shim *, CUgraph, enum graph_list, CUgraphNode *, size_t *n);
CUresult graph_edges(struct shim *, CUgraph, CUgraphNode *from, CUgraphNode *to, size_t *n);
CUresult graph_deps(struct shim *, CUgraphNode, CUgraphNode *, size_t *n);
CUresult graph_dependents(struct shim *, CUgraphNode, CUgraphNode *, size_t *n);
CUresult graph_find_in_clone(struct shim *, CUgraphNode *, CUgraphNode, CUgraph);
/* Writes it, and the graphs inside it, in the language of Graphviz. flags: CUgraphDebugDot_flags. */
CUresult graph_write_dot(struct shim *, CUgraph, const char *path, unsigned flags);

/* CUDA_ERROR_INVALID_VALUE: it has a cycle. */
CUresult graph_instantiate(struct shim *, CUgraphExec *, CUgraph, uint64_t flags);
CUresult exec_destroy(struct shim *, CUgraphExec);
/* A launch is under way; it has ended. */
void exec_hold(struct graph_exec *);
void exec_release(struct shim *, struct graph_exec *);
bool exec_exists(const struct shim *, const struct graph_exec *);
/* The copy of a graph's node, NULL: none. */
struct graph_node *exec_node(struct shim *, CUgraphExec, CUgraphNode);
CUresult exec_set(struct shim *, CUgraphExec, CUgraphNode, const struct graph_op *);
/* Takes over the operations of a graph of the same shape. CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE: it has
 * another; *result (CUgraphExecUpdateResult) and *bad say what. */
CUresult exec_update(struct shim *, CUgraphExec, CUgraph, int *result, CUgraphNode *bad);

extern const struct shim_part graph_part;

#endif
