// Histogram with atomics in shared memory, then in global memory; bytes read as packed words.
#include "check.h"
#include "random.h"
#include <vector>

__global__ void histogram(const uchar4 *p, int n, unsigned *out)
{
  __shared__ unsigned bin[64];
  if (threadIdx.x < 64) bin[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uchar4 v = p[i];
    atomicAdd(&bin[v.x / 4], 1);
    atomicAdd(&bin[v.y / 4], 1);
    atomicAdd(&bin[v.z / 4], 1);
    atomicAdd(&bin[v.w / 4], 1);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bin[threadIdx.x]);
}

int main()
{
  std::vector<unsigned char> h(2048);
  unsigned want[64] = {}, got[64], *out;
  uchar4 *p;
  Random random(4);
  for (auto &v : h) {
    v = random.next() % 256 & random.next(); // not uniform
    want[v / 4]++;
  }
  CUDA(cudaMalloc(&p, h.size()));
  CUDA(cudaMalloc(&out, sizeof got));
  CUDA(cudaMemset(out, 0, sizeof got));
  CUDA(cudaMemcpy(p, h.data(), h.size(), cudaMemcpyHostToDevice));
  histogram<<<3, 96>>>(p, h.size() / 4, out);
  CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(got[i] == want[i]);
}
