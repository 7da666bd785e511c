/* Graphs of the driver interface: nodes of every kind, edges, launches, changes, clones, capture of streams. Expected values:
 * CUDA Driver API reference, sections Graph Management and Stream Management; results by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

CUresult cuGraphCreate(CUgraph *, unsigned);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphClone(CUgraph *, CUgraph);
CUresult cuGraphDestroyNode(CUgraphNode);
CUresult cuGraphNodeFindInClone(CUgraphNode *, CUgraphNode, CUgraph);
CUresult cuGraphGetNodes(CUgraph, CUgraphNode *, size_t *);
CUresult cuGraphGetRootNodes(CUgraph, CUgraphNode *, size_t *);
CUresult cuGraphGetEdges_v2(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphAddDependencies_v2(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);
CUresult cuGraphRemoveDependencies_v2(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t);
CUresult cuGraphNodeGetType(CUgraphNode, int *);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphAddMemsetNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext);
CUresult cuGraphMemsetNodeGetParams(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext);
CUresult cuGraphAddMemcpyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext);
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode, CUDA_MEMCPY3D *);
CUresult cuGraphAddHostNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *);
CUresult cuGraphHostNodeGetParams(CUgraphNode, CUDA_HOST_NODE_PARAMS *);
CUresult cuGraphAddEmptyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t);
CUresult cuGraphAddEventRecordNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent);
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode, CUevent *);
CUresult cuGraphAddChildGraphNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph);
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphExecUpdate_v2(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphNodeSetEnabled(CUgraphExec, CUgraphNode, unsigned);
CUresult cuGraphNodeGetEnabled(CUgraphExec, CUgraphNode, unsigned *);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuStreamBeginCapture_v2_ptsz(CUstream, int);
CUresult cuStreamEndCapture_ptsz(CUstream, CUgraph *);
CUresult cuStreamIsCapturing_ptsz(CUstream, int *);
CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream);
CUresult cuStreamIsCapturing(CUstream, int *);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuUserObjectCreate(CUuserObject *, void *, void (*)(void *), unsigned, unsigned);
CUresult cuUserObjectRetain(CUuserObject, unsigned);
CUresult cuUserObjectRelease(CUuserObject, unsigned);
CUresult cuGraphRetainUserObject(CUgraph, CUuserObject, unsigned, unsigned);
CUresult cuGraphReleaseUserObject(CUgraph, CUuserObject, unsigned);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);

/* CUgraphNodeType */
enum { KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT, RECORD };

static CUgraphNode empty(CUgraph g, const CUgraphNode *deps, size_t n)
{
  CUgraphNode node;
  OK(cuGraphAddEmptyNode(&node, g, deps, n));
  return node;
}

/* A diamond a -> b, c -> d. */
static void edges(void **state)
{
  CUgraph g;
  CUgraphNode a, b, c, d, list[8], from[8], to[8];
  size_t n;
  (void)state;
  OK(cuGraphCreate(&g, 0));
  assert_int_equal(cuGraphCreate(&g, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
  a = empty(g, NULL, 0);
  b = empty(g, &a, 1), c = empty(g, &a, 1);
  d = empty(g, (CUgraphNode[]){b, c}, 2);
  n = 0;
  OK(cuGraphGetNodes(g, NULL, &n)); /* how many */
  assert_int_equal(n, 4);
  n = 8;
  OK(cuGraphGetNodes(g, list, &n));
  assert_int_equal(n, 4);
  for (size_t i = 4; i < 8; i++) assert_null(list[i]); /* "the remaining entries will be set to NULL" */
  n = 8;
  OK(cuGraphGetRootNodes(g, list, &n));
  assert_int_equal(n, 1);
  assert_ptr_equal(list[0], a);
  n = 8;
  OK(cuGraphGetEdges_v2(g, from, to, NULL, &n));
  assert_int_equal(n, 4);
  n = 8;
  OK(cuGraphNodeGetDependencies_v2(d, list, NULL, &n));
  assert_int_equal(n, 2);
  assert_true((list[0] == b && list[1] == c) || (list[0] == c && list[1] == b));
  n = 8;
  OK(cuGraphNodeGetDependentNodes_v2(a, list, NULL, &n));
  assert_int_equal(n, 2);
  n = 0;
  OK(cuGraphNodeGetDependencies_v2(a, NULL, NULL, &n));
  assert_int_equal(n, 0);
  assert_int_equal(cuGraphAddDependencies_v2(g, &a, &b, NULL, 1), CUDA_ERROR_INVALID_VALUE); /* there already */
  assert_int_equal(cuGraphAddDependencies_v2(g, &a, &a, NULL, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphAddDependencies_v2(g, &b, &c, NULL, 1));
  n = 0;
  OK(cuGraphNodeGetDependencies_v2(c, NULL, NULL, &n));
  assert_int_equal(n, 2);
  OK(cuGraphRemoveDependencies_v2(g, &a, &c, NULL, 1));
  assert_int_equal(cuGraphRemoveDependencies_v2(g, &a, &c, NULL, 1), CUDA_ERROR_INVALID_VALUE); /* not there */
  OK(cuGraphDestroyNode(b));
  n = 8;
  OK(cuGraphGetEdges_v2(g, from, to, NULL, &n));
  assert_int_equal(n, 1);
  assert_true(from[0] == c && to[0] == d);
  assert_int_equal(cuGraphAddEmptyNode(&a, g, NULL, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphDestroy(g));
  assert_true(cuGraphDestroy(g) != CUDA_SUCCESS);
}

static void cycles_are_refused(void **state)
{
  CUgraph g, outer;
  CUgraphExec x;
  CUgraphNode a, b, child;
  (void)state;
  OK(cuGraphCreate(&g, 0));
  a = empty(g, NULL, 0);
  b = empty(g, &a, 1);
  CUresult r = cuGraphAddDependencies_v2(g, &b, &a, NULL, 1), again = r;
  if (r == CUDA_SUCCESS) r = cuGraphInstantiateWithFlags(&x, g, 0);
  assert_int_equal(r, CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphCreate(&outer, 0)); /* within another graph, which has a copy of it, too */
  if (again == CUDA_SUCCESS) again = cuGraphAddChildGraphNode(&child, outer, NULL, 0, g);
  if (again == CUDA_SUCCESS) again = cuGraphInstantiateWithFlags(&x, outer, 0);
  assert_int_equal(again, CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphDestroy(outer));
  OK(cuGraphDestroy(g));
}

enum { N = 256 };

struct machine {
  CUmodule m;
  CUfunction f;
  CUdeviceptr x, y, z;
  unsigned n;
  void *params[4];
};

static void machine_init(struct machine *k)
{
  k->f = cuda_vecadd(&k->m);
  k->x = cuda_floats(N, 1, 0), k->y = cuda_floats(N, 2, 0), k->z = cuda_floats(N, 0, 0);
  k->n = N;
  k->params[0] = &k->x, k->params[1] = &k->y, k->params[2] = &k->z, k->params[3] = &k->n;
}

static CUDA_KERNEL_NODE_PARAMS sum_of(struct machine *k)
{
  return (CUDA_KERNEL_NODE_PARAMS){.function = k->f, .grid = {1, 1, 1}, .block = {N, 1, 1}, .params = k->params};
}

static void check_z(struct machine *k, unsigned n, float want)
{
  float out[N];
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH_v2(out, k->z, sizeof out));
  for (unsigned i = 0; i < N; i++) assert_true(out[i] == (i < n ? want : 0));
}

static void count(void *p)
{
  ++*(unsigned *)p;
}

/* memset of x (to 3.0f), then z = x + y, then a host function; y is copied from the host beside the fill. */
static void launches(void **state)
{
  struct machine k;
  CUgraph g, copy;
  CUgraphNode fill, load, sum, tell, in_copy;
  CUgraphExec x;
  float four[N];
  unsigned told = 0, enabled = 9;
  int type;
  (void)state;
  machine_init(&k);
  for (unsigned i = 0; i < N; i++) four[i] = 4;
  OK(cuGraphCreate(&g, 0));
  CUDA_MEMSET_NODE_PARAMS three = {.dst = k.x, .value = 0x40400000, .element = 4, .width = N, .height = 1};
  OK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &three, NULL));
  CUDA_MEMCPY3D up = {.src_type = MEM_HOST, .src_host = four, .dst_type = MEM_DEVICE, .dst_device = k.y,
                      .width = sizeof four, .height = 1, .depth = 1};
  OK(cuGraphAddMemcpyNode(&load, g, NULL, 0, &up, NULL));
  CUDA_KERNEL_NODE_PARAMS p = sum_of(&k);
  OK(cuGraphAddKernelNode_v2(&sum, g, (CUgraphNode[]){fill, load}, 2, &p));
  OK(cuGraphAddHostNode(&tell, g, &sum, 1, &(CUDA_HOST_NODE_PARAMS){count, &told}));
  static const int want[] = {MEMSET, MEMCPY, KERNEL, HOST};
  for (unsigned i = 0; i < 4; i++) {
    OK(cuGraphNodeGetType((CUgraphNode[]){fill, load, sum, tell}[i], &type));
    assert_int_equal(type, want[i]);
  }
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  check_z(&k, 0, 0); /* nothing ran yet */
  k.n = 5;           /* arguments were taken when the node was made */
  OK(cuGraphLaunch(x, NULL));
  check_z(&k, N, 7);
  assert_int_equal(told, 1);
  OK(cuGraphExecKernelNodeSetParams_v2(x, sum, &p)); /* now n is 5 */
  OK(cuMemsetD8_v2(k.z, 0, N * 4));
  OK(cuGraphLaunch(x, NULL));
  check_z(&k, 5, 7);
  three.value = 0;
  OK(cuGraphExecMemsetNodeSetParams(x, fill, &three, NULL));
  OK(cuGraphLaunch(x, NULL));
  check_z(&k, 5, 4);
  CUDA_MEMSET_NODE_PARAMS still;
  OK(cuGraphMemsetNodeGetParams(fill, &still)); /* the graph is as it was */
  assert_int_equal(still.value, 0x40400000);
  OK(cuGraphNodeSetEnabled(x, sum, 0));
  OK(cuGraphNodeGetEnabled(x, sum, &enabled));
  assert_int_equal(enabled, 0);
  OK(cuMemsetD8_v2(k.z, 0, N * 4));
  OK(cuGraphLaunch(x, NULL));
  check_z(&k, 0, 0);
  assert_int_equal(told, 4);
  OK(cuGraphClone(&copy, g));
  OK(cuGraphNodeFindInClone(&in_copy, sum, copy));
  OK(cuGraphNodeGetType(in_copy, &type));
  assert_int_equal(type, KERNEL);
  assert_int_equal(cuGraphNodeFindInClone(&in_copy, sum, g), CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info;
  OK(cuGraphExecUpdate_v2(x, copy, &info));
  assert_int_equal(info.result, 0);
  OK(cuGraphDestroyNode(tell));
  assert_int_equal(cuGraphExecUpdate_v2(x, g, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  assert_true(info.result != 0);
  OK(cuGraphExecDestroy(x));
  assert_true(cuGraphLaunch(x, NULL) != CUDA_SUCCESS);
  OK(cuGraphDestroy(copy));
  OK(cuGraphDestroy(g));
}

static void parameters_of_nodes(void **state)
{
  struct machine k;
  CUgraph g, inner, got;
  CUgraphNode node, child;
  CUevent e, of;
  CUDA_KERNEL_NODE_PARAMS kernel;
  CUDA_MEMCPY3D copy;
  CUDA_HOST_NODE_PARAMS host;
  unsigned n = 0;
  size_t nodes = 0;
  (void)state;
  machine_init(&k);
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphCreate(&inner, 0));
  CUDA_KERNEL_NODE_PARAMS p = sum_of(&k);
  OK(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &p));
  OK(cuGraphKernelNodeGetParams_v2(node, &kernel));
  assert_ptr_equal(kernel.function, k.f);
  assert_int_equal(kernel.block[0], N);
  assert_int_equal(*(unsigned *)kernel.params[3], N);
  p.block[0] = 2 * N;
  OK(cuGraphKernelNodeSetParams_v2(node, &p));
  OK(cuGraphKernelNodeGetParams_v2(node, &kernel));
  assert_int_equal(kernel.block[0], 2 * N);
  p.block[0] = 2048;
  assert_true(cuGraphKernelNodeSetParams_v2(node, &p) != CUDA_SUCCESS);
  assert_int_equal(cuGraphKernelNodeGetParams_v2(node, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphMemsetNodeGetParams(node, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphMemcpyNodeGetParams(node, &copy), CUDA_ERROR_INVALID_VALUE); /* of another kind */
  OK(cuGraphAddHostNode(&node, g, NULL, 0, &(CUDA_HOST_NODE_PARAMS){count, &n}));
  OK(cuGraphHostNodeGetParams(node, &host));
  assert_true(host.fn == count && host.data == &n);
  OK(cuEventCreate(&e, 0));
  OK(cuGraphAddEventRecordNode(&node, g, NULL, 0, e));
  OK(cuGraphEventRecordNodeGetEvent(node, &of));
  assert_ptr_equal(of, e);
  empty(inner, NULL, 0);
  empty(inner, NULL, 0);
  OK(cuGraphAddChildGraphNode(&child, g, NULL, 0, inner));
  OK(cuGraphChildGraphNodeGetGraph(child, &got)); /* a copy, which the node owns */
  assert_ptr_not_equal(got, inner);
  OK(cuGraphGetNodes(got, NULL, &nodes));
  assert_int_equal(nodes, 2);
  CUDA_MEMSET_NODE_PARAMS bad = {.dst = k.x, .element = 3, .width = 1, .height = 1};
  assert_int_equal(cuGraphAddMemsetNode(&node, g, NULL, 0, &bad, NULL), CUDA_ERROR_INVALID_VALUE); /* 1, 2 or 4 */
  OK(cuGraphDestroy(inner));
  OK(cuGraphDestroy(g));
}

/* What a stream and those that wait for it are given while it captures becomes a graph and does not run. */
static void capture(void **state)
{
  struct machine k;
  CUstream a, b;
  CUevent fork, join;
  CUgraph g;
  CUgraphExec x;
  size_t n = 0;
  int status = 9;
  (void)state;
  machine_init(&k);
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&fork, EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join, EVENT_DISABLE_TIMING));
  OK(cuStreamIsCapturing(a, &status));
  assert_int_equal(status, 0);
  OK(cuStreamBeginCapture_v2(a, 0));
  assert_int_equal(cuStreamBeginCapture_v2(a, 0), CUDA_ERROR_ILLEGAL_STATE);
  OK(cuStreamIsCapturing(a, &status));
  assert_int_equal(status, 1);
  OK(cuEventRecord(fork, a));
  OK(cuStreamWaitEvent(b, fork, 0));
  OK(cuMemsetD32Async(k.x, 0x40400000, N, a));
  OK(cuMemsetD32Async(k.y, 0x3f800000, N, b));
  OK(cuEventRecord(join, b));
  OK(cuStreamWaitEvent(a, join, 0));
  OK(cuLaunchKernel(k.f, 1, 1, 1, N, 1, 1, 0, a, k.params, NULL));
  OK(cuStreamEndCapture(a, &g));
  check_z(&k, 0, 0);
  OK(cuGraphGetNodes(g, NULL, &n));
  assert_int_equal(n, 3);
  n = 0;
  OK(cuGraphGetRootNodes(g, NULL, &n));
  assert_int_equal(n, 2);
  n = 0;
  OK(cuGraphGetEdges_v2(g, NULL, NULL, NULL, &n));
  assert_int_equal(n, 2);
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphLaunch(x, a));
  check_z(&k, N, 4);
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
}

CUresult cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuGraphAddEmptyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t);

/* Launches of one instance come one after the other, whatever their streams: one behind a stream that waits for a value
 * keeps the next, of another stream, waiting. Another instance of the graph goes on. */
static void one_launch_at_a_time(void **state)
{
  enum { LOOKS = 200 };
  CUdeviceptr flag;
  CUgraph g;
  CUgraphNode n;
  CUgraphExec x, other;
  CUstream a, b;
  (void)state;
  OK(cuMemAlloc_v2(&flag, 4));
  OK(cuMemsetD32_v2(flag, 0, 1));
  OK(cuCtxSynchronize());
  OK(cuStreamCreate(&a, 1));
  OK(cuStreamCreate(&b, 1));
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphAddEmptyNode(&n, g, NULL, 0));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphInstantiateWithFlags(&other, g, 0));
  OK(cuStreamWaitValue32_v2(a, flag, 1, 0));
  OK(cuGraphLaunch(x, a));
  OK(cuGraphLaunch(other, b));
  OK(cuStreamSynchronize(b));
  OK(cuGraphLaunch(x, b));
  for (int i = 0; i < LOOKS; i++) assert_int_equal(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
  OK(cuMemsetD32_v2(flag, 1, 1));
  OK(cuStreamSynchronize(b));
  OK(cuStreamQuery(a));
  OK(cuGraphLaunch(x, b));
  OK(cuGraphExecDestroy(x));
  OK(cuStreamSynchronize(b));
  OK(cuGraphExecDestroy(other));
  OK(cuGraphDestroy(g));
  OK(cuStreamDestroy_v2(a));
  OK(cuStreamDestroy_v2(b));
  OK(cuMemFree_v2(flag));
}

CUresult cuStreamUpdateCaptureDependencies(CUstream, CUgraphNode *, size_t, unsigned);
CUresult cuStreamGetCaptureInfo_v2(CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **, size_t *);
CUresult cuThreadExchangeStreamCaptureMode(int *);
CUresult cuGraphAddKernelNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphKernelNodeGetParams(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphKernelNodeSetParams(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);

/* What a capturing stream's next operation comes behind. */
static const CUgraphNode *behind(CUstream st, CUgraph *g, size_t n)
{
  const CUgraphNode *deps;
  uint64_t id;
  size_t have;
  int status;
  OK(cuStreamGetCaptureInfo_v2(st, &status, &id, g, &deps, &have));
  assert_int_equal(status, 1);
  assert_int_equal(have, n);
  return deps;
}

static void capture_dependencies(void **state)
{
  enum { ADD, SET };
  struct machine k;
  CUstream a;
  CUgraph g, ended, other;
  CUgraphNode first, second, node, none;
  (void)state;
  machine_init(&k);
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuGraphCreate(&other, 0));
  OK(cuGraphAddEmptyNode(&none, other, NULL, 0));
  assert_int_equal(cuStreamUpdateCaptureDependencies(a, &none, 1, SET), CUDA_ERROR_ILLEGAL_STATE);
  OK(cuStreamBeginCapture_v2(a, 0));
  OK(cuMemsetD32Async(k.x, 0x40400000, N, a));
  first = *behind(a, &g, 1);
  OK(cuMemsetD32Async(k.y, 0x40000000, N, a));
  second = *behind(a, &g, 1);
  assert_true(first != second);
  OK(cuStreamUpdateCaptureDependencies(a, &first, 1, SET));
  assert_ptr_equal(*behind(a, &g, 1), first);
  OK(cuStreamUpdateCaptureDependencies(a, &second, 1, ADD));
  const CUgraphNode *both = behind(a, &g, 2);
  assert_true((both[0] == first && both[1] == second) || (both[0] == second && both[1] == first));
  OK(cuStreamUpdateCaptureDependencies(a, &second, 1, ADD)); /* it is there */
  behind(a, &g, 2);
  assert_int_equal(cuStreamUpdateCaptureDependencies(a, NULL, 1, ADD), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamUpdateCaptureDependencies(a, &none, 1, ADD), CUDA_ERROR_INVALID_VALUE); /* of another graph */
  assert_int_equal(cuStreamUpdateCaptureDependencies(a, &first, 1, 2), CUDA_ERROR_INVALID_VALUE);
  behind(a, &g, 2);
  OK(cuStreamUpdateCaptureDependencies(a, NULL, 0, SET));
  behind(a, &g, 0);
  OK(cuGraphAddEmptyNode(&node, g, &first, 1)); /* one that the program adds itself */
  OK(cuStreamUpdateCaptureDependencies(a, &node, 1, SET));
  OK(cuLaunchKernel(k.f, 1, 1, 1, N, 1, 1, 0, a, k.params, NULL));
  OK(cuStreamEndCapture(a, &ended));
  CUgraphNode from[4], to[4];
  size_t n = 4;
  OK(cuGraphGetEdges_v2(ended, from, to, NULL, &n));
  assert_int_equal(n, 3); /* first to second, first to node, node to the kernel */
  unsigned kernels = 0;
  for (size_t i = 0; i < n; i++) {
    assert_true(from[i] == first || from[i] == node);
    kernels += from[i] == node && to[i] != second;
  }
  assert_int_equal(kernels, 1);
  OK(cuGraphDestroy(ended));
  OK(cuGraphDestroy(other));
  OK(cuStreamDestroy_v2(a));
}

CUresult cuStreamBeginCaptureToGraph(CUstream, CUgraph, const CUgraphNode *, const void *, size_t, int);

/* What is captured goes into a graph that is there, behind nodes of it. */
static void capture_to_graph(void **state)
{
  struct machine k;
  CUstream a;
  CUgraph g, other, ended;
  CUgraphNode mine[2], foreign, from[2], to[2];
  size_t n = 2;
  (void)state;
  machine_init(&k);
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphCreate(&other, 0));
  mine[0] = empty(g, NULL, 0), mine[1] = empty(g, NULL, 0), foreign = empty(other, NULL, 0);
  const CUgraphNode wrong[2][2] = {{foreign, mine[0]}, {mine[0], foreign}};
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(cuStreamBeginCaptureToGraph(a, g, wrong[i], NULL, 2, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamBeginCaptureToGraph(a, g, &foreign, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamBeginCaptureToGraph(a, g, NULL, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamBeginCaptureToGraph(a, g, mine, NULL, 2, 3), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamBeginCaptureToGraph(a, g, mine, NULL, 2, -1), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamBeginCaptureToGraph(a, g, mine, NULL, 2, 0));
  OK(cuMemsetD32Async(k.x, 0, N, a));
  OK(cuStreamEndCapture(a, &ended));
  assert_ptr_equal(ended, g);
  OK(cuGraphGetEdges_v2(g, from, to, NULL, &n));
  assert_int_equal(n, 2);
  assert_true(to[0] == to[1] && to[0] != mine[0] && to[0] != mine[1] && from[0] != from[1]);
  for (unsigned i = 0; i < 2; i++) assert_true(from[i] == mine[0] || from[i] == mine[1]);
  OK(cuGraphDestroy(g));
  OK(cuGraphDestroy(other));
  OK(cuStreamDestroy_v2(a));
}

/* A stream that goes while it captures takes the capture with it; one that has joined and left nothing open does not. */
static void streams_go_while_capturing(void **state)
{
  struct machine k;
  CUstream a, b;
  CUevent fork, join;
  CUgraph g;
  int status = 9;
  (void)state;
  machine_init(&k);
  OK(cuEventCreate(&fork, EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join, EVENT_DISABLE_TIMING));
  for (unsigned joined = 0; joined < 2; joined++) {
    OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(a, 2));
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    OK(cuMemsetD32Async(k.x, 0, N, b));
    OK(cuEventRecord(join, b));
    if (joined) OK(cuStreamWaitEvent(a, join, 0));
    OK(cuStreamDestroy_v2(b));
    assert_int_equal(cuStreamEndCapture(a, &g), joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (joined) OK(cuGraphDestroy(g));
    OK(cuStreamDestroy_v2(a));
  }
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture_v2(a, 2));
  OK(cuEventRecord(fork, a));
  OK(cuStreamWaitEvent(b, fork, 0));
  OK(cuStreamDestroy_v2(a)); /* the one that began it */
  OK(cuStreamIsCapturing(b, &status));
  assert_int_equal(status, 0);
  OK(cuMemsetD32Async(k.x, 0x40400000, N, b));
  OK(cuStreamSynchronize(b));
  OK(cuStreamDestroy_v2(b));
}

/* 0 global, 1 of the thread, 2 relaxed. */
static void capture_modes(void **state)
{
  int mode = 2;
  (void)state;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  assert_int_equal(mode, 0);
  mode = 1;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  assert_int_equal(mode, 2);
  mode = 3;
  assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
  mode = -1;
  assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
  mode = 0;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  assert_int_equal(mode, 1);
}

CUresult cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemFreeHost(void *);

struct look {
  struct machine *k;
  float seen;
};

/* What z[0] is now: it is in host memory. */
static void look_at(void *p)
{
  struct look *l = p;
  l->seen = *(volatile float *)(uintptr_t)l->k->z;
}

/* A graph without nodes, as a node of another, ends when what it depends on has. */
static void nothing_to_do(void **state)
{
  struct machine k;
  CUgraph g, outer;
  CUgraphNode before, sum, inner, host;
  CUgraphExec x;
  void *z;
  (void)state;
  machine_init(&k);
  OK(cuMemHostAlloc(&z, N * sizeof(float), 0));
  memset(z, 0, N * sizeof(float));
  struct look look = {&k, -1};
  CUDA_KERNEL_NODE_PARAMS p = sum_of(&k);
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphCreate(&outer, 0));
  OK(cuGraphAddKernelNode_v2(&before, outer, NULL, 0, &p)); /* takes time */
  k.z = (CUdeviceptr)(uintptr_t)z;
  OK(cuGraphAddKernelNode_v2(&sum, outer, &before, 1, &p));
  OK(cuGraphAddChildGraphNode(&inner, outer, &sum, 1, g));
  OK(cuGraphAddHostNode(&host, outer, &inner, 1, &(CUDA_HOST_NODE_PARAMS){look_at, &look}));
  OK(cuGraphInstantiateWithFlags(&x, outer, 0));
  OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  assert_true(look.seen == 3);
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
  OK(cuGraphDestroy(outer));
  OK(cuMemFreeHost(z));
}

/* The forms of CUDA 10: their structures end before `kernel`. */
static void first_kernel_nodes(void **state)
{
  struct machine k;
  CUgraph g;
  CUgraphNode sum;
  CUgraphExec x;
  CUDA_KERNEL_NODE_PARAMS have;
  (void)state;
  machine_init(&k);
  CUDA_KERNEL_NODE_PARAMS p = sum_of(&k);
  p.kernel = (CUkernel)0x77, p.context = (CUcontext)0x77; /* not read */
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphAddKernelNode(&sum, g, NULL, 0, &p));
  memset(&have, 0x5a, sizeof have);
  OK(cuGraphKernelNodeGetParams(sum, &have));
  assert_ptr_equal(have.function, k.f);
  assert_memory_equal(have.grid, p.grid, sizeof p.grid);
  assert_memory_equal(have.block, p.block, sizeof p.block);
  assert_int_equal(have.shared, 0);
  assert_true((uintptr_t)have.kernel == 0x5a5a5a5a5a5a5a5a); /* nor written */
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphLaunch(x, NULL));
  check_z(&k, N, 3);
  OK(cuMemsetD8_v2(k.z, 0, N * 4));
  k.n = 5, p.grid[0] = 2, p.block[0] = N / 2, p.shared = 64;
  OK(cuGraphKernelNodeSetParams(sum, &p));
  OK(cuGraphKernelNodeGetParams(sum, &have));
  assert_true(have.grid[0] == 2 && have.block[0] == N / 2 && have.block[1] == 1 && have.shared == 64);
  OK(cuGraphExecKernelNodeSetParams(x, sum, &p));
  OK(cuGraphLaunch(x, NULL));
  check_z(&k, 5, 3);
  assert_int_equal(cuGraphAddKernelNode(&sum, g, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphKernelNodeGetParams(sum, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphKernelNodeGetParams(NULL, &have), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphKernelNodeSetParams(sum, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuGraphExecKernelNodeSetParams(x, sum, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
}

/* A stream that ends at a node of the program's own holds no fork that must come back: what NCCL does behind each operation. Behind an
 * operation that the stream then captures it does again. */
static void capture_ends_at_own_node(void **state)
{
  enum { SET = 1 };
  struct machine k;
  CUstream a, b;
  CUevent fork, join;
  CUgraph g, ended;
  CUgraphNode kernel, own;
  (void)state;
  machine_init(&k);
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&fork, EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join, EVENT_DISABLE_TIMING));
  for (int again = 0; again < 2; again++) {
    OK(cuStreamBeginCapture_v2(a, 0));
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    OK(cuLaunchKernel(k.f, 1, 1, 1, N, 1, 1, 0, b, k.params, NULL));
    kernel = *behind(b, &g, 1);
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    OK(cuGraphAddEmptyNode(&own, g, &kernel, 1));
    OK(cuStreamUpdateCaptureDependencies(b, &own, 1, SET));
    if (again) OK(cuMemsetD32Async(k.x, 0, N, b));
    assert_int_equal(cuStreamEndCapture(a, &ended), again ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : CUDA_SUCCESS);
    if (!again) OK(cuGraphDestroy(ended));
  }
  OK(cuStreamDestroy_v2(a));
  OK(cuStreamDestroy_v2(b));
}

static void bad_captures(void **state)
{
  struct machine k;
  CUstream a, b;
  CUevent fork;
  CUgraph g = (CUgraph)1;
  (void)state;
  machine_init(&k);
  OK(cuStreamCreate(&a, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&fork, EVENT_DISABLE_TIMING));
  assert_int_equal(cuStreamEndCapture(a, &g), CUDA_ERROR_ILLEGAL_STATE);
  assert_int_equal(cuStreamBeginCapture_v2(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  OK(cuStreamBeginCapture_v2(a, 2)); /* relaxed */
  assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  assert_int_equal(cuStreamEndCapture(a, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED); /* by that */
  assert_null(g);
  OK(cuStreamBeginCapture_v2(a, 2));
  OK(cuEventRecord(fork, a));
  OK(cuStreamWaitEvent(b, fork, 0));
  OK(cuMemsetD32Async(k.x, 0, N, b)); /* never joined */
  assert_int_equal(cuStreamEndCapture(a, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  OK(cuStreamBeginCapture_v2(a, 2));
  OK(cuEventRecord(fork, a));
  OK(cuStreamWaitEvent(b, fork, 0));
  assert_int_equal(cuStreamEndCapture(b, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED); /* it began in a */
  assert_int_equal(cuStreamWaitEvent(a, fork, 0), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED); /* by that */
  assert_int_equal(cuStreamEndCapture(a, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuStreamBeginCapture_v2(a, 2));
  OK(cuEventRecord(fork, a));
  assert_int_equal(cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
  (void)cuStreamEndCapture(a, &g);
}

/* While a blocking stream captures, a question about the legacy stream fails and changes nothing; work in it spoils the capture. */
static void legacy_while_capturing(void **state)
{
  struct machine k;
  CUstream a;
  CUgraph g;
  int status = 9;
  uint64_t id;
  (void)state;
  machine_init(&k);
  for (unsigned work = 0; work < 2; work++) {
    OK(cuStreamCreate(&a, 0));
    OK(cuStreamBeginCapture_v2(a, 2));
    OK(cuMemsetD32Async(k.x, 0, N, a));
    assert_int_equal(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cuStreamGetCaptureInfo_v2(NULL, &status, &id, NULL, NULL, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (work) assert_int_equal(cuMemsetD32Async(k.x, 0, N, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamIsCapturing(a, &status));
    assert_int_equal(status, 1 + work); /* active, then invalidated */
    assert_int_equal(cuStreamEndCapture(a, &g), work ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    if (!work) OK(cuGraphDestroy(g));
    OK(cuStreamIsCapturing(NULL, &status));
    assert_int_equal(status, 0);
    OK(cuStreamDestroy_v2(a));
  }
}

/* The destructor is called when the last reference is given up: the program's, a graph's, that of an executable graph. */
static void user_objects(void **state)
{
  CUuserObject o, other;
  CUgraph g;
  CUgraphExec x;
  unsigned gone = 0;
  (void)state;
  OK(cuUserObjectCreate(&o, &gone, count, 2, 1));
  OK(cuUserObjectRetain(o, 1));
  OK(cuUserObjectRelease(o, 2));
  assert_int_equal(gone, 0);
  OK(cuUserObjectRelease(o, 1));
  assert_int_equal(gone, 1);
  assert_int_equal(cuUserObjectRelease(o, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuUserObjectCreate(&o, &gone, count, 1, 1));
  OK(cuUserObjectCreate(&other, &gone, count, 1, 1));
  OK(cuGraphCreate(&g, 0));
  empty(g, NULL, 0);
  OK(cuGraphRetainUserObject(g, o, 1, 0)); /* a reference of its own */
  OK(cuGraphRetainUserObject(g, other, 1, 1)); /* CU_GRAPH_USER_OBJECT_MOVE: the program's */
  OK(cuUserObjectRelease(o, 1));
  assert_int_equal(gone, 1);
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphReleaseUserObject(g, o, 1));
  assert_int_equal(gone, 1); /* x has it */
  OK(cuGraphDestroy(g));
  assert_int_equal(gone, 1);
  OK(cuGraphExecDestroy(x));
  assert_int_equal(gone, 3);
  assert_int_equal(cuUserObjectCreate(NULL, &gone, count, 1, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuUserObjectCreate(&o, &gone, NULL, 1, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuUserObjectCreate(&o, &gone, count, 0, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuUserObjectCreate(&o, &gone, count, 1, 0), CUDA_ERROR_INVALID_VALUE); /* NO_DESTRUCTOR_SYNC is required */
}

/* Stream 0 of programs with a default stream for each thread is a stream like others: it can be captured. */
static void capture_of_own_stream(void **state)
{
  struct machine k;
  CUgraph g = NULL;
  CUgraphExec x;
  int capturing = -1;
  (void)state;
  machine_init(&k);
  OK(cuStreamBeginCapture_v2_ptsz(NULL, 0));
  OK(cuStreamIsCapturing_ptsz(NULL, &capturing));
  assert_int_equal(capturing, 1);
  OK(cuStreamEndCapture_ptsz(NULL, &g));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphLaunch_ptsz(x, NULL));
  OK(cuGraphExecDestroy(x));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges), cmocka_unit_test(one_launch_at_a_time), cmocka_unit_test(cycles_are_refused), cmocka_unit_test(launches),
      cmocka_unit_test(parameters_of_nodes), cmocka_unit_test(capture), cmocka_unit_test(capture_dependencies), cmocka_unit_test(streams_go_while_capturing),
      cmocka_unit_test(capture_modes), cmocka_unit_test(capture_to_graph), cmocka_unit_test(nothing_to_do), cmocka_unit_test(first_kernel_nodes), cmocka_unit_test(bad_captures),
      cmocka_unit_test(capture_ends_at_own_node),
      cmocka_unit_test(user_objects), cmocka_unit_test(capture_of_own_stream), cmocka_unit_test(legacy_while_capturing),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
