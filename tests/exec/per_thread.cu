// Compiled with --default-stream per-thread: each host thread's default stream is its own.
#include "check.h"
#include <thread>
#include <vector>

__global__ void add(int *p, int v)
{
  p[threadIdx.x] += v;
}

// The thread's stream is captured, updated and launched into as stream 0.
static void graphs(int *p, int v)
{
  cudaGraph_t g, seen;
  cudaGraphExec_t x;
  cudaStreamCaptureStatus status;
  size_t n;
  CUDA(cudaStreamBeginCapture(0, cudaStreamCaptureModeThreadLocal));
  add<<<1, 32>>>(p, v);
  CUDA(cudaStreamGetCaptureInfo(0, &status, nullptr, &seen, nullptr, nullptr, &n));
  CHECK(status == cudaStreamCaptureStatusActive && n == 1);
  CUDA(cudaStreamUpdateCaptureDependencies(0, nullptr, nullptr, 0, cudaStreamAddCaptureDependencies));
  CUDA(cudaStreamEndCapture(0, &g));
  CHECK(g == seen);
  CUDA(cudaGraphInstantiate(&x, g, 0));
  CUDA(cudaGraphUpload(x, 0));
  for (int i = 0; i < 3; i++) CUDA(cudaGraphLaunch(x, 0));
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
}

// What is in memory goes through an array, by each copy that has a form for a thread's stream; attributes are that stream's.
static void arrays(int *p)
{
  cudaArray_t a, b;
  const cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
  cudaStreamAttrValue policy = {}, got;
  CUDA(cudaMallocArray(&a, &d, 32, 1));
  CUDA(cudaMallocArray(&b, &d, 32, 1));
  CUDA(cudaMemcpy2DToArray(a, 0, 0, p, 128, 128, 1, cudaMemcpyDeviceToDevice));
  CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 128, 1));
  CUDA(cudaMemsetAsync(p, 0, 128));
  CUDA(cudaMemcpy2DFromArray(p, 128, b, 0, 0, 128, 1, cudaMemcpyDeviceToDevice));
  CUDA(cudaMemcpy2DToArrayAsync(a, 0, 0, p, 128, 128, 1, cudaMemcpyDeviceToDevice));
  CUDA(cudaMemsetAsync(p, 0, 128));
  CUDA(cudaMemcpy2DFromArrayAsync(p, 128, a, 0, 0, 128, 1, cudaMemcpyDeviceToDevice));
  policy.syncPolicy = cudaSyncPolicyYield;
  CUDA(cudaStreamSetAttribute(0, cudaStreamAttributeSynchronizationPolicy, &policy));
  CUDA(cudaStreamGetAttribute(cudaStreamPerThread, cudaStreamAttributeSynchronizationPolicy, &got));
  CHECK(got.syncPolicy == cudaSyncPolicyYield);
  CUDA(cudaFreeArray(a));
  CUDA(cudaFreeArray(b));
}

static void work(int v, int *result)
{
  int h[32], *p;
  for (int i = 0; i < 32; i++) h[i] = i;
  CUDA(cudaMalloc(&p, sizeof h));
  CUDA(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
  for (int i = 0; i < 2; i++) add<<<1, 32>>>(p, v);
  graphs(p, v);
  arrays(p);
  CUDA(cudaStreamSynchronize(0));
  CUDA(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost));
  CUDA(cudaStreamSynchronize(cudaStreamPerThread));
  *result = 1;
  for (int i = 0; i < 32; i++) *result &= h[i] == i + 5 * v;
  // errors belong to the thread that made them
  if (v == 3) CHECK(cudaSetDevice(9) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == (v == 3 ? cudaErrorInvalidDevice : cudaSuccess));
}

int main()
{
  const int n = 6;
  int results[n] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < n; i++) threads.emplace_back(work, i, &results[i]);
  for (auto &t : threads) t.join();
  for (int r : results) CHECK(r);
  CHECK(cudaGetLastError() == cudaSuccess);
}
