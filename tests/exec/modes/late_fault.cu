// Launches alike, of which the last, number 7, writes where nothing is.
#include <cstdio>

__global__ void put(unsigned *p)
{
  p[threadIdx.x] = threadIdx.x;
}

int main()
{
  unsigned *p;
  cudaMalloc(&p, 64 * sizeof *p);
  for (int i = 1; i < 7; i++) put<<<1, 64>>>(p);
  cudaDeviceSynchronize();
  put<<<1, 64>>>(nullptr);
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
