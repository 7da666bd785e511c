// Kernels with parameters above 4,352 bytes, up to the limit of 32,764: launched directly, by the driver with pointers and
// with a buffer, from graphs that were captured, built, cloned and changed.
#include <cstring>

#include "driver_check.h"

enum { WORDS = 8188, THREADS = 64 };

struct table {
  int v[WORDS];
};

static_assert(sizeof(table) + sizeof(int *) + sizeof(int) == 32764, "the limit");

extern "C" __global__ void gather(const table t, int *o, int step)
{
  o[threadIdx.x] = t.v[threadIdx.x * step % WORDS] + t.v[WORDS - 1];
}

// Reads the parameter through a pointer.
__device__ __noinline__ int pick(const int *p, int i)
{
  return p[i];
}

struct middle {
  int v[1500];
};

__global__ void chase(const __grid_constant__ middle t, int *o, int n)
{
  int at = threadIdx.x;
  for (int i = 0; i < n; i++) at = pick(t.v, at) % 1500;
  o[threadIdx.x] = at;
}

__global__ void nothing()
{
}

static table host[3];
static int *out;

static void fill()
{
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < WORDS; i++) host[k].v[i] = i * 7919 + k * 1000003;
}

static void expect(const table &t, int step)
{
  int h[THREADS];
  CUDA(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < THREADS; i++) CHECK(h[i] == t.v[i * step % WORDS] + t.v[WORDS - 1]);
  CUDA(cudaMemset(out, 0, sizeof h));
}

static void direct()
{
  gather<<<1, THREADS>>>(host[0], out, 131);
  CUDA(cudaGetLastError());
  expect(host[0], 131);
  int step = 127;
  void *args[] = { &host[1], &out, &step };
  CUDA(cudaLaunchKernel((void *)gather, dim3(1), dim3(THREADS), args, 0, 0));
  expect(host[1], 127);
  static middle m;
  for (int i = 0; i < 1500; i++) m.v[i] = i * 641 + 5;
  int h[THREADS];
  chase<<<1, THREADS>>>(m, out, 9);
  CUDA(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < THREADS; i++) {
    int at = i;
    for (int k = 0; k < 9; k++) at = (at * 641 + 5) % 1500;
    CHECK(h[i] == at);
  }
}

static void driver()
{
  CUfunction f;
  CU(cuInit(0));
  CUDA(cudaGetFuncBySymbol(&f, (void *)gather));
  size_t offset, bytes;
  CU(cuFuncGetParamInfo(f, 0, &offset, &bytes));
  CHECK(offset == 0 && bytes == sizeof(table));
  CU(cuFuncGetParamInfo(f, 2, &offset, &bytes));
  CHECK(offset == 32760 && bytes == 4);
  int step = 17;
  void *args[] = { &host[2], &out, &step };
  CU(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, nullptr, args, nullptr));
  expect(host[2], 17);
  static unsigned char block[32768];
  memcpy(block, &host[0], sizeof(table));
  memcpy(block + sizeof(table), &out, sizeof out);
  step = 19;
  memcpy(block + 32760, &step, sizeof step);
  size_t size = 32764;
  void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END };
  CU(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, nullptr, nullptr, extra));
  memset(block, 0xff, sizeof block); // the launch has its copy
  expect(host[0], 19);
  size = 32768;
  CHECK(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, nullptr, nullptr, extra) == CUDA_ERROR_INVALID_VALUE);
  CUDA(cudaGetFuncBySymbol(&f, (void *)nothing));
  CHECK(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, nullptr, nullptr, extra) == CUDA_ERROR_INVALID_VALUE);
}

static void run(cudaGraphExec_t exec, const table &t, int step)
{
  CUDA(cudaGraphLaunch(exec, 0));
  CUDA(cudaDeviceSynchronize());
  expect(t, step);
}

static void graphs()
{
  cudaGraph_t graph, clone;
  cudaGraphExec_t exec, cloned;
  cudaGraphNode_t node, copy;
  cudaKernelNodeParams k = {}, back = {};
  static table t = host[0];
  int step = 3;
  void *args[] = { &t, &out, &step };
  k.func = (void *)gather, k.gridDim = dim3(1), k.blockDim = dim3(THREADS), k.kernelParams = args;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k));
  t = host[1], step = 5; // the node has its own copy
  CUDA(cudaGraphClone(&clone, graph));
  CUDA(cudaGraphNodeFindInClone(&copy, node, clone));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  run(exec, host[0], 3);
  CUDA(cudaGraphKernelNodeSetParams(node, &k));
  t = host[2], step = 7;
  run(exec, host[0], 3);
  CUDA(cudaGraphKernelNodeGetParams(node, &back));
  CHECK(memcmp(back.kernelParams[0], &host[1], sizeof(table)) == 0 && *(int *)back.kernelParams[2] == 5);
  CHECK(back.func == (void *)gather);
  CUDA(cudaGraphKernelNodeGetParams(copy, &back));
  CHECK(memcmp(back.kernelParams[0], &host[0], sizeof(table)) == 0 && *(int *)back.kernelParams[2] == 3);
  CHECK(back.func == (void *)gather);
  CUDA(cudaGraphInstantiate(&cloned, clone, 0));
  run(cloned, host[0], 3);
  cudaGraphExecUpdateResultInfo info;
  CUDA(cudaGraphExecUpdate(exec, graph, &info));
  run(exec, host[1], 5);
  CUDA(cudaGraphExecKernelNodeSetParams(exec, node, &k));
  t = host[0];
  run(exec, host[2], 7);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphExecDestroy(cloned));
  CUDA(cudaGraphDestroy(clone));
  CUDA(cudaGraphDestroy(graph));
}

static void captured()
{
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  static table t = host[2];
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  gather<<<1, THREADS, 0, stream>>>(t, out, 11);
  CUDA(cudaStreamEndCapture(stream, &graph));
  t = host[0];
  cudaGraphNode_t node;
  cudaKernelNodeParams k;
  size_t n = 1;
  CUDA(cudaGraphGetNodes(graph, &node, &n));
  CUDA(cudaGraphKernelNodeGetParams(node, &k));
  CHECK(k.func == (void *)gather);
  CUfunction f;
  CUDA_KERNEL_NODE_PARAMS d;
  CUDA(cudaGetFuncBySymbol(&f, (const void *)gather));
  CU(cuGraphKernelNodeGetParams(node, &d));
  CHECK(d.func == f);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  run(exec, host[2], 11);
  run(exec, host[2], 11);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

int main()
{
  fill();
  CUDA(cudaMalloc(&out, THREADS * sizeof(int)));
  CUDA(cudaMemset(out, 0, THREADS * sizeof(int)));
  direct();
  driver();
  graphs();
  captured();
  CUDA(cudaFree(out));
  puts("ok");
}
