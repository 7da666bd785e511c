// One launch that ends, one that waits for something that never comes.
#include <cstdio>

__global__ void warm_up(int *p) { *p = 0; }

__global__ void spin(volatile int *p, int *out)
{
  while (*p == 0) continue;
  *out = 1;
}

int main()
{
  int *p;
  cudaMalloc(&p, 8);
  warm_up<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  puts("running");
  fflush(stdout);
  spin<<<1, 1>>>(p, p + 1);
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
