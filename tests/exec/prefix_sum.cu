// Inclusive prefix sum of many blocks: sums of blocks, their scan, then the offsets are added.
#include "check.h"
#include "random.h"
#include <vector>

const int block = 128;

__global__ void scan_block(int *x, int *sums, int n)
{
  __shared__ int s[2][block];
  int i = blockIdx.x * block + threadIdx.x, side = 0;
  s[0][threadIdx.x] = i < n ? x[i] : 0;
  for (int d = 1; d < block; d *= 2) {
    __syncthreads();
    int v = s[side][threadIdx.x];
    if (threadIdx.x >= d) v += s[side][threadIdx.x - d];
    side ^= 1;
    s[side][threadIdx.x] = v;
  }
  if (i < n) x[i] = s[side][threadIdx.x];
  if (sums && threadIdx.x == block - 1) sums[blockIdx.x] = s[side][threadIdx.x];
}

__global__ void add_offsets(int *x, const int *sums, int n)
{
  int i = (blockIdx.x + 1) * block + threadIdx.x;
  if (i < n) x[i] += sums[blockIdx.x];
}

int main()
{
  const int n = 1500, blocks = (n + block - 1) / block;
  std::vector<int> h(n), got(n);
  Random random(2);
  for (int &v : h) v = random.next() % 10;
  int *x, *sums;
  CUDA(cudaMalloc(&x, n * sizeof(int)));
  CUDA(cudaMalloc(&sums, blocks * sizeof(int)));
  CUDA(cudaMemcpy(x, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  scan_block<<<blocks, block>>>(x, sums, n);
  scan_block<<<1, block>>>(sums, nullptr, blocks);
  add_offsets<<<blocks - 1, block>>>(x, sums, n);
  CUDA(cudaMemcpy(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0, sum = 0; i < n; i++) CHECK(got[i] == (sum += h[i]));
}
