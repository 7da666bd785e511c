// Graphs: what a launch keeps of its arguments, updates that cannot be taken over, captures that fail.
#include <thread>

#include <cuda_runtime.h>

#include "check.h"

__global__ void add(int *p, int v)
{
  p[threadIdx.x] += v;
}

__global__ void scale(int *p, int v)
{
  p[threadIdx.x] *= v;
}

static int *device;
static int host[32];

static int first(void)
{
  CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 1; i < 32; i++) CHECK(host[i] == host[0]);
  return host[0];
}

static void count(void *p)
{
  ++*(int *)p;
}

// fill(0) -> add 3 -> scale 5 -> copy to host -> call
static void by_nodes()
{
  cudaGraph_t graph, clone;
  cudaGraphExec_t exec;
  cudaGraphNode_t fill, sum, product, copy, call;
  int three = 3, five = 5, seven = 7, calls = 0;
  int *out;
  CUDA(cudaMallocHost(&out, sizeof host));
  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zero = {};
  zero.dst = device, zero.elementSize = 4, zero.width = 32, zero.height = 1, zero.value = 1;
  CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  void *sum_args[] = {&device, &three}, *product_args[] = {&device, &five};
  cudaKernelNodeParams k = {};
  k.func = (void *)add, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = sum_args;
  CUDA(cudaGraphAddKernelNode(&sum, graph, &fill, 1, &k));
  k.func = (void *)scale, k.kernelParams = product_args;
  CUDA(cudaGraphAddKernelNode(&product, graph, &sum, 1, &k));
  CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &product, 1, out, device, sizeof host,
                                 cudaMemcpyDeviceToHost));
  cudaHostNodeParams h = {count, &calls};
  CUDA(cudaGraphAddHostNode(&call, graph, &copy, 1, &h));
  three = five = 100; // the graph keeps the values of the time of the call
  size_t n = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &n));
  CHECK(n == 5);
  CUDA(cudaGraphGetRootNodes(graph, nullptr, &n));
  CHECK(n == 1);
  cudaGraphNodeType type;
  CUDA(cudaGraphNodeGetType(product, &type));
  CHECK(type == cudaGraphNodeTypeKernel);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++) CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == (1 + 3) * 5 && out[31] == 20 && calls == 3);

  void *other[] = {&device, &seven};
  k.kernelParams = other;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, product, &k));
  CUDA(cudaGraphNodeSetEnabled(exec, sum, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 7);

  CUDA(cudaGraphClone(&clone, graph));
  CUDA(cudaGraphDestroy(graph));
  cudaGraphExecUpdateResultInfo info;
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphInstantiate(&exec, clone, 0));
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 20);
  // one node more: the executable graph cannot take it over
  CUDA(cudaGraphAddEmptyNode(&call, clone, nullptr, 0));
  CHECK(cudaGraphExecUpdate(exec, clone, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(clone));
  CUDA(cudaFreeHost(out));
}

// Two streams, forked and joined by events; then the same shape with other values as an update.
static cudaGraph_t captured(cudaStream_t a, cudaStream_t b, int *second, int v)
{
  cudaGraph_t graph;
  cudaEvent_t fork, join;
  cudaStreamCaptureStatus status;
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemsetAsync(device, 0, sizeof host, a));
  CUDA(cudaEventRecord(fork, a));
  CUDA(cudaStreamWaitEvent(b, fork, 0));
  add<<<1, 32, 0, a>>>(device, v);
  CUDA(cudaGetLastError());
  CUDA(cudaMemsetAsync(second, 1, 32, b));
  CUDA(cudaEventRecord(join, b));
  CUDA(cudaStreamWaitEvent(a, join, 0));
  scale<<<1, 32, 0, a>>>(device, 2);
  CUDA(cudaStreamIsCapturing(b, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  CUDA(cudaStreamEndCapture(a, &graph));
  CUDA(cudaStreamIsCapturing(b, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
  CUDA(cudaEventDestroy(fork));
  CUDA(cudaEventDestroy(join));
  return graph;
}

static void by_capture()
{
  cudaStream_t a, b;
  cudaGraphExec_t exec;
  cudaGraphExecUpdateResultInfo info;
  int *second, value;
  CUDA(cudaMalloc(&second, 32));
  CUDA(cudaStreamCreate(&a));
  CUDA(cudaStreamCreate(&b));
  CUDA(cudaMemset(device, 0x11, sizeof host));
  cudaGraph_t graph = captured(a, b, second, 21);
  CHECK(first() == 0x11111111); // nothing has run
  size_t n;
  CUDA(cudaGraphGetNodes(graph, nullptr, &n));
  CHECK(n == 4);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, a));
  CUDA(cudaStreamSynchronize(a));
  CHECK(first() == 42);
  CUDA(cudaMemcpy(&value, second, 4, cudaMemcpyDeviceToHost));
  CHECK(value == 0x01010101);
  CUDA(cudaGraphDestroy(graph));
  graph = captured(a, b, second, 5);
  CUDA(cudaGraphExecUpdate(exec, graph, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  CUDA(cudaGraphLaunch(exec, b));
  CUDA(cudaStreamSynchronize(b));
  CHECK(first() == 10);

  // What must not happen during a capture ends it.
  cudaGraph_t none = graph;
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  CHECK(cudaStreamSynchronize(a) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(a, &none) == cudaErrorStreamCaptureInvalidated);
  CHECK(none == nullptr);
  // Calls that no stream orders: memory is made or given back, unless the capture or the thread is relaxed.
  void *room = nullptr, *pinned = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CHECK(cudaMalloc(&room, 16) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(a, &none) == cudaErrorStreamCaptureInvalidated);
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMallocHost(&pinned, 16) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(a, &none) == cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == cudaStreamCaptureModeGlobal);
  CUDA(cudaMalloc(&room, 16));
  CUDA(cudaFree(room));
  CUDA(cudaMallocHost(&pinned, 16));
  CUDA(cudaFreeHost(pinned));
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  add<<<1, 32, 0, a>>>(device, 1);
  CHECK(cudaStreamEndCapture(a, &none) == cudaSuccess && none);
  CUDA(cudaGraphDestroy(none));
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  std::thread([] { CHECK(cudaFree(device) == cudaErrorStreamCaptureUnsupported); }).join(); // another thread's
  CHECK(cudaStreamEndCapture(a, &none) == cudaErrorStreamCaptureInvalidated);
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  std::thread([&] { CUDA(cudaMalloc(&room, 16)); }).join();
  CHECK(cudaStreamEndCapture(a, &none) == cudaSuccess);
  CUDA(cudaGraphDestroy(none));
  CUDA(cudaFree(room));
  // A forked stream that was not joined.
  cudaEvent_t fork;
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(fork, a));
  CUDA(cudaStreamWaitEvent(b, fork, 0));
  add<<<1, 32, 0, b>>>(device, 1);
  CHECK(cudaStreamEndCapture(a, &none) == cudaErrorStreamCaptureUnjoined);
  CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  (void)cudaGetLastError();
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(a));
  CUDA(cudaStreamDestroy(b));
}

int main()
{
  CUDA(cudaMalloc(&device, sizeof host));
  by_nodes();
  by_capture();
  return 0;
}
