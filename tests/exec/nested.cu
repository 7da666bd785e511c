// A kernel that launches a kernel is refused when it tries to; the rest of its module runs.
#include "check.h"

__global__ void child(int *p)
{
  p[threadIdx.x] = threadIdx.x;
}

__global__ void parent(int *p, bool launch)
{
  if (launch) child<<<1, 32>>>(p);
  else *p = 7;
}

int main()
{
  int *p, h[32];
  CUDA(cudaMalloc(&p, sizeof h));
  child<<<1, 32>>>(p);
  CUDA(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) CHECK(h[i] == i);
  parent<<<1, 1>>>(p, false);
  CUDA(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost));
  CHECK(h[0] == 7);
  parent<<<1, 1>>>(p, true);
  CHECK(cudaDeviceSynchronize() == cudaErrorNotSupported);
}
