// Device printf appears at the next synchronisation, in the order of the program's own output.
#include "check.h"

__global__ void hello(int n)
{
  printf("device %d: block %d thread %d\n", n, blockIdx.x, threadIdx.x);
}

int main()
{
  hello<<<2, 2>>>(1);
  printf("host: launched\n");
  CUDA(cudaDeviceSynchronize());
  printf("host: synchronised\n");
  hello<<<1, 1>>>(2);
  hello<<<1, 1>>>(3);
  CUDA(cudaDeviceSynchronize());
  printf("host: end\n");
}
