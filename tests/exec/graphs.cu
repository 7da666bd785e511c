// Graphs: captured from streams that fork and join, built node by node, changed and launched again.
#include <cuda.h>

#include "check.h"

__global__ void scale(int *p, int n, int factor)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= factor;
}

__global__ void sum(int *out, const int *a, const int *b, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

enum { N = 256 };

static void count(void *p)
{
  ++*(int *)p;
}

// a and b are scaled in two streams, then added.
static void captured()
{
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int *h, *a, *b, *c, calls = 0;
  CUDA(cudaStreamCreate(&first));
  CUDA(cudaStreamCreate(&second));
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  CUDA(cudaMallocHost(&h, N * sizeof(int)));
  CUDA(cudaMalloc(&a, N * sizeof(int)));
  CUDA(cudaMalloc(&b, N * sizeof(int)));
  CUDA(cudaMalloc(&c, N * sizeof(int)));
  CUDA(cudaMemset(c, 0, N * sizeof(int)));
  CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemcpyAsync(a, h, N * sizeof(int), cudaMemcpyHostToDevice, first));
  CUDA(cudaEventRecord(fork, first));
  CUDA(cudaStreamWaitEvent(second, fork, 0));
  CUDA(cudaMemsetAsync(b, 1, N * sizeof(int), second));
  scale<<<2, 128, 0, second>>>(b, N, 3);
  scale<<<2, 128, 0, first>>>(a, N, 2);
  CUDA(cudaEventRecord(join, second));
  CUDA(cudaStreamWaitEvent(first, join, 0));
  sum<<<2, 128, 0, first>>>(c, a, b, N);
  CUDA(cudaMemcpyAsync(h, c, N * sizeof(int), cudaMemcpyDeviceToHost, first));
  CUDA(cudaLaunchHostFunc(first, count, &calls));
  cudaStreamCaptureStatus status;
  CUDA(cudaStreamIsCapturing(second, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  CUDA(cudaStreamEndCapture(first, &graph));
  CUDA(cudaStreamIsCapturing(second, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
  size_t nodes, roots, edges;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(nodes == 7 && roots == 1 && edges == 7); // copy-{fill-scale, scale}-sum-copy-host
  for (int i = 0; i < N; i++) h[i] = i;
  CHECK(calls == 0); // nothing ran so far
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  for (int run = 0, factor = 1, offset = 0; run < 3; run++) {
    CUDA(cudaGraphLaunch(exec, first));
    CUDA(cudaStreamSynchronize(first));
    factor *= 2;
    offset = 2 * offset + 3 * 0x01010101;
    for (int i = 0; i < N; i++) CHECK(h[i] == i * factor + offset);
    CHECK(calls == run + 1);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaFreeHost(h));
}

// What a capture forbids spoils it.
static void spoilt()
{
  cudaStream_t stream, other;
  cudaEvent_t event;
  cudaGraph_t graph;
  int *p;
  CUDA(cudaMalloc(&p, 4));
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&other));
  CUDA(cudaEventCreate(&event));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaMemsetAsync(p, 0, 4, stream) == cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemset(p, 0, 4) == cudaErrorStreamCaptureImplicit);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CUDA(cudaEventRecord(event, stream));
  CUDA(cudaStreamWaitEvent(other, event, 0));
  CUDA(cudaMemsetAsync(p, 0, 4, other));
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
  cudaGetLastError();
  CUDA(cudaFree(p));
}

static void built()
{
  cudaGraph_t graph, child;
  cudaGraphExec_t exec;
  cudaGraphNode_t fill, twice, inner, copy, nodes[8];
  int *p, h[N], factor = 5, n = N;
  CUDA(cudaMalloc(&p, sizeof h));
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphCreate(&child, 0));
  cudaMemsetParams m = {};
  m.dst = p, m.value = 7, m.elementSize = 4, m.width = N, m.height = 1;
  CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m));
  void *args[] = { &p, &n, &factor };
  cudaKernelNodeParams k = {};
  k.func = (void *)scale, k.gridDim = dim3(2), k.blockDim = dim3(128), k.kernelParams = args;
  CUDA(cudaGraphAddKernelNode(&twice, graph, &fill, 1, &k));
  factor = 10; // a node has its own copy of its parameters
  CUDA(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &k));
  CUDA(cudaGraphAddChildGraphNode(&nodes[0], graph, &twice, 1, child));
  CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, h, p, sizeof h, cudaMemcpyDeviceToHost));
  CUDA(cudaGraphAddDependencies(graph, &nodes[0], &copy, nullptr, 1));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  for (int v : h) CHECK(v == 7 * 5 * 10);
  factor = 3;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, twice, &k));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  for (int v : h) CHECK(v == 7 * 3 * 10);
  CUDA(cudaGraphNodeSetEnabled(exec, twice, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  for (int v : h) CHECK(v == 7 * 10);
  // the graph's own parameters are still the first ones
  CUDA(cudaGraphKernelNodeGetParams(twice, &k));
  CHECK(*(int *)k.kernelParams[2] == 5 && k.func == (void *)scale && k.blockDim.x == 128);
  cudaGraphExecUpdateResultInfo info;
  m.value = 2;
  CUDA(cudaGraphMemsetNodeSetParams(fill, &m));
  CUDA(cudaGraphExecUpdate(exec, graph, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  CUDA(cudaGraphNodeSetEnabled(exec, twice, 1));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  for (int v : h) CHECK(v == 2 * 5 * 10);
  CUDA(cudaGraphAddEmptyNode(&nodes[1], graph, nullptr, 0));
  CHECK(cudaGraphExecUpdate(exec, graph, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CUDA(cudaGraphAddDependencies(graph, &copy, &fill, nullptr, 1)); // a cycle
  cudaGraphExec_t none;
  CHECK(cudaGraphInstantiate(&none, graph, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphDestroy(child));
  CUDA(cudaFree(p));
}

// The driver's forms.
static void driver()
{
  CUgraph graph;
  CUgraphExec exec;
  CUgraphNode fill, copy;
  CUdeviceptr p;
  unsigned short back[8];
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context) == CUDA_SUCCESS);
  CHECK(cuMemAlloc(&p, sizeof back) == CUDA_SUCCESS);
  CHECK(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS m = {};
  m.dst = p, m.value = 0x1234, m.elementSize = 2, m.width = 8, m.height = 1;
  CHECK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &m, context) == CUDA_SUCCESS);
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = p;
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = back;
  c.WidthInBytes = sizeof back, c.Height = c.Depth = 1;
  CHECK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &c, context) == CUDA_SUCCESS);
  CHECK(cuGraphInstantiate(&exec, graph, 0) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(exec, nullptr) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  for (unsigned short v : back) CHECK(v == 0x1234);
  CHECK(cuGraphExecDestroy(exec) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS);
}

int main()
{
  captured();
  spoilt();
  built();
  driver();
  printf("ok\n");
}
