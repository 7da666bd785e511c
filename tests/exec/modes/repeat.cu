// The same launch again and again, of a kernel whose work depends a little on the data.
#include <cstdio>

__global__ void collatz(unsigned *steps, unsigned from)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
  for (unsigned long long v = from + i; v > 1; n++) v = v % 2 ? 3 * v + 1 : v / 2;
  steps[i] = n;
}

int main()
{
  unsigned *p, h[256];
  cudaMalloc(&p, sizeof h);
  for (int i = 0; i < 40; i++) collatz<<<4, 64>>>(p, 1000 + 256 * i);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%u\n", h[0]);
}
