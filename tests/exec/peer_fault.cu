// A kernel of one GPU waits for the other's, which faults: it is cut off, and every call says so.
#include <cstdio>

__global__ void waits(volatile int *word)
{
  while (*word == 0) {}
}
__global__ void faults(int *nowhere, const int *some)
{
  *nowhere = *some;
}

int main()
{
  int *word, *some;
  if (cudaSetDevice(1) != cudaSuccess || cudaMalloc(&word, 256) != cudaSuccess || cudaMemset(word, 0, 256) != cudaSuccess ||
      cudaDeviceSynchronize() != cudaSuccess)
    return 2;
  waits<<<1, 32>>>(word);
  if (cudaSetDevice(0) != cudaSuccess || cudaMalloc(&some, 256) != cudaSuccess) return 3;
  faults<<<1, 1>>>((int *)0x10, some);
  const cudaError_t first = cudaDeviceSynchronize(), then = (cudaSetDevice(1), cudaDeviceSynchronize());
  printf("peer_fault: %s, %s\n", cudaGetErrorName(first), cudaGetErrorName(then));
  return first != cudaErrorIllegalAddress || then != cudaErrorIllegalAddress;
}
