// A device assert that does not hold: an error that sticks, and a message with file and line.
#include "check.h"
#include <cassert>

__global__ void positive(const int *p)
{
  assert(p[threadIdx.x] > 0);
}

int main()
{
  int h[4] = {1, 2, 3, 4}, *p;
  CUDA(cudaMalloc(&p, sizeof h));
  CUDA(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
  positive<<<1, 4>>>(p);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemset(p, 0xff, 4));
  positive<<<1, 4>>>(p);
  CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost) == cudaErrorAssert);
  printf("asserted\n");
}
