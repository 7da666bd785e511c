/* Plans as CUDA graphs: what a plan runs, recorded in a graph of the program, and given other data there. */
#include "libs/cudnn/dnn_backend.h"

/* CUgraphNodeType, as far as plans have such nodes; the parameters of each are larger than none here. */
enum { NODE_KERNEL = 0, NODE_COPY = 1, NODE_FILL = 2, MOST_NODES = 256, PARAMETERS = 64 };

/* Runs a plan on a stream of its own that is being recorded: into `into`, or, with NULL, into a graph that is made. */
static dnn_status record(struct dnn *h, const struct dnn_backend *plan, const struct dnn_backend *variant,
                         driver_graph into, driver_graph *out)
{
  const driver_stream given = h->stream;
  driver_stream own;
  if (cuStreamCreate(&own, DRIVER_STREAM_NON_BLOCKING) != DRIVER_OK) return DNN_ALLOC_FAILED;
  int e = into ? cuStreamBeginCaptureToGraph(own, into, NULL, NULL, 0, DRIVER_CAPTURE_RELAXED)
               : cuStreamBeginCapture_v2(own, DRIVER_CAPTURE_RELAXED);
  dnn_status s = DNN_EXECUTION_FAILED;
  if (e == DRIVER_OK) {
    h->stream = own;
    s = cudnnBackendExecute(h, plan, variant);
    h->stream = given;
    e = cuStreamEndCapture(own, out);
  }
  cuStreamDestroy_v2(own);
  return s == DNN_SUCCESS && e != DRIVER_OK ? DNN_EXECUTION_FAILED : s;
}

PUBLIC dnn_status cudnnBackendPopulateCudaGraph(struct dnn *h, const struct dnn_backend *plan,
                                                const struct dnn_backend *variant, driver_graph graph)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!graph) return DNN_BAD_PARAM_NULL;
  driver_graph same;
  return record(h, plan, variant, graph, &same);
}

/* Gives a node what another one of its kind has. */
static bool give(driver_graph_node to, driver_graph_node from)
{
  uint64_t parameters[PARAMETERS];
  int kind, other;
  if (cuGraphNodeGetType(to, &kind) != DRIVER_OK || cuGraphNodeGetType(from, &other) != DRIVER_OK || kind != other)
    return false;
  switch (kind) {
  case NODE_KERNEL:
    return cuGraphKernelNodeGetParams_v2(from, parameters) == DRIVER_OK &&
           cuGraphKernelNodeSetParams_v2(to, parameters) == DRIVER_OK;
  case NODE_COPY:
    return cuGraphMemcpyNodeGetParams(from, parameters) == DRIVER_OK &&
           cuGraphMemcpyNodeSetParams(to, parameters) == DRIVER_OK;
  case NODE_FILL:
    return cuGraphMemsetNodeGetParams(from, parameters) == DRIVER_OK &&
           cuGraphMemsetNodeSetParams(to, parameters) == DRIVER_OK;
  default: return false;
  }
}

/* Nodes of both graphs are in the order in which a plan makes them. */
static dnn_status give_all(driver_graph to, driver_graph from)
{
  driver_graph_node old[MOST_NODES], new[MOST_NODES];
  size_t n = MOST_NODES, m = MOST_NODES;
  if (cuGraphGetNodes(to, NULL, &n) != DRIVER_OK || cuGraphGetNodes(from, NULL, &m) != DRIVER_OK || n != m)
    return DNN_BAD_PARAM; /* it is not of this plan */
  if (n > MOST_NODES) return DNN_NOT_SUPPORTED;
  if (cuGraphGetNodes(to, old, &n) != DRIVER_OK || cuGraphGetNodes(from, new, &m) != DRIVER_OK)
    return DNN_EXECUTION_FAILED;
  for (size_t i = 0; i < n; i++)
    if (!give(old[i], new[i])) return DNN_BAD_PARAM;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnBackendUpdateCudaGraph(struct dnn *h, const struct dnn_backend *plan,
                                              const struct dnn_backend *variant, driver_graph graph)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!graph) return DNN_BAD_PARAM_NULL;
  driver_graph now = NULL;
  dnn_status s = record(h, plan, variant, NULL, &now);
  if (s == DNN_SUCCESS) s = give_all(graph, now);
  if (now) cuGraphDestroy(now);
  return s;
}
