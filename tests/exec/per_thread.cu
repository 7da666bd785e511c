// Compiled with --default-stream per-thread: each host thread's default stream is its own.
#include "check.h"
#include <thread>
#include <vector>

__global__ void add(int *p, int v)
{
  p[threadIdx.x] += v;
}

static void work(int v, int *result)
{
  int h[32], *p;
  for (int i = 0; i < 32; i++) h[i] = i;
  CUDA(cudaMalloc(&p, sizeof h));
  CUDA(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
  for (int i = 0; i < 5; i++) add<<<1, 32>>>(p, v);
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
