// Two warps wait at barriers of different numbers, each for both.
#include <cstdio>

__global__ void cross()
{
  if (threadIdx.x < 32) asm volatile("barrier.sync 1, 64;");
  else asm volatile("barrier.sync 2, 64;");
}

int main()
{
  cross<<<1, 64>>>();
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
