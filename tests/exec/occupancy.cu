// Occupancy and properties against NVIDIA's published numbers for compute capability 8.6: 48 warps,
// 16 CTAs, 65,536 registers and 100 KiB of shared memory per SM, 1 KiB reserved per CTA.
#include "check.h"
#include <cstring>

__global__ void small(int *p)
{
  *p = 1;
}

__global__ void uses_shared(int *p)
{
  __shared__ int s[2048];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}

template <class K> static int ctas(K kernel, int threads, size_t shared)
{
  int n = -1;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, threads, shared));
  return n;
}

int main()
{
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  CHECK(strcmp(p.name, "NVIDIA GeForce RTX 3070") == 0 && p.major == 8 && p.minor == 6);
  CHECK(p.multiProcessorCount == 46 && p.warpSize == 32 && p.maxThreadsPerMultiProcessor == 1536);
  CHECK(p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin == 101376);
  CHECK(p.sharedMemPerMultiprocessor == 102400 && p.regsPerMultiprocessor == 65536);
  CHECK(p.maxBlocksPerMultiProcessor == 16 && p.totalGlobalMem == size_t(8) << 30);
  CHECK(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[2] == 64 && p.maxGridSize[1] == 65535);
  CHECK(p.memoryBusWidth == 256 && p.l2CacheSize == 4 << 20);

  CHECK(ctas(small, 1024, 0) == 1);        // 48 warps hold one CTA of 32
  CHECK(ctas(small, 256, 0) == 6);         // 48 / 8
  CHECK(ctas(small, 32, 0) == 16);         // CTA slots
  CHECK(ctas(small, 256, 40 << 10) == 2);  // 100 / (40 + 1) KiB
  CHECK(ctas(uses_shared, 32, 0) == 11);   // 100 / (8 + 1) KiB
  CHECK(ctas(small, 1056, 0) == 0);
  int grid, block;
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, small));
  CHECK(block == 768 && grid == 2 * 46);   // the largest block that fills 1536 threads

  cudaFuncAttributes a;
  CUDA(cudaFuncGetAttributes(&a, uses_shared));
  CHECK(a.sharedSizeBytes == 8192 && a.maxThreadsPerBlock == 1024 && a.numRegs > 0);
  CHECK(a.maxDynamicSharedSizeBytes == 49152 - 8192);
  CHECK(a.binaryVersion == 86);
}
