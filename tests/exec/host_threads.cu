// Host threads that use the device at once: a stream, memory and errors of their own.
#include "check.h"
#include <thread>
#include <vector>

__global__ void fill(int *p, int v, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v * i;
}

static void work(int id, int *bad)
{
  const int n = 200 + id;
  std::vector<int> got(n);
  cudaStream_t s;
  int *p;
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaMalloc(&p, n * 4));
  for (int round = 1; round < 4; round++) {
    fill<<<(n + 63) / 64, 64, 0, s>>>(p, id * round, n);
    CUDA(cudaMemcpyAsync(got.data(), p, n * 4, cudaMemcpyDeviceToHost, s));
    CUDA(cudaStreamSynchronize(s));
    for (int i = 0; i < n; i++) *bad += got[i] != id * round * i;
  }
  // an error belongs to the thread that made it
  if (id == 1) fill<<<0, 1>>>(p, 0, 0);
  *bad += cudaGetLastError() != (id == 1 ? cudaErrorInvalidConfiguration : cudaSuccess);
  CUDA(cudaFree(p));
  CUDA(cudaStreamDestroy(s));
}

int main()
{
  const int n = 4;
  int bad[n] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < n; i++) threads.emplace_back(work, i, &bad[i]);
  for (auto &t : threads) t.join();
  for (int i = 0; i < n; i++) CHECK(bad[i] == 0);
}
