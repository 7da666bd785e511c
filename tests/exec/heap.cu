// Device malloc: its limit, and blocks that outlive the kernel that took them.
#include "check.h"

__device__ int *kept[32];

__global__ void take(size_t bytes, int *ok)
{
  int *p = (int *)malloc(bytes);
  ok[threadIdx.x] = p != nullptr;
  kept[threadIdx.x] = p;
  if (p) *p = threadIdx.x * 3;
}

__global__ void give(int *out)
{
  out[threadIdx.x] = kept[threadIdx.x] ? *kept[threadIdx.x] : -1;
  free(kept[threadIdx.x]);
}

__global__ void none(int *out)
{
  out[threadIdx.x] = 7;
}

int main()
{
  int *p, h[32];
  size_t limit;
  CUDA(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  CHECK(limit == 8 << 20);
  CUDA(cudaMalloc(&p, sizeof h));
  none<<<1, 32>>>(p); // a kernel without malloc may come before the limit
  CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  take<<<1, 32>>>(16 << 10, p);
  CUDA(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) CHECK(h[i] == 1);
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 << 20) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  give<<<1, 32>>>(p);
  CUDA(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) CHECK(h[i] == 3 * i);
  take<<<1, 1>>>(2 << 20, p);
  CUDA(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost));
  CHECK(h[0] == 0);
}
