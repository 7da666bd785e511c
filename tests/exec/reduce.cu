// Sum and maximum of an array: warp shuffles, shared memory, one atomic for each block.
#include "check.h"
#include "random.h"
#include <climits>

__global__ void reduce(const int *x, int n, int *sum, int *max)
{
  __shared__ int part[2][32];
  int s = 0, m = INT_MIN;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    s += x[i];
    m = ::max(m, x[i]);
  }
  for (int d = 16; d; d /= 2) {
    s += __shfl_xor_sync(~0u, s, d);
    m = ::max(m, __shfl_xor_sync(~0u, m, d));
  }
  if (threadIdx.x % 32 == 0) part[0][threadIdx.x / 32] = s, part[1][threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; w++) s += part[0][w], m = ::max(m, part[1][w]);
    atomicAdd(sum, s);
    atomicMax(max, m);
  }
}

int main()
{
  const int n = 3001;
  static int h[n];
  int *x, *out, want[2] = {0, INT_MIN}, got[2] = {0, INT_MIN};
  Random random(1);
  for (int &v : h) {
    v = int(random.next() % 2000) - 1000;
    want[0] += v;
    if (v > want[1]) want[1] = v;
  }
  CUDA(cudaMalloc(&x, sizeof h));
  CUDA(cudaMalloc(&out, sizeof got));
  CUDA(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(out, got, sizeof got, cudaMemcpyHostToDevice));
  reduce<<<6, 128>>>(x, n, out, out + 1);
  CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == want[0] && got[1] == want[1]);
}
