// Work that is not spread evenly over the grid: the later a CTA, the more it does.
#include <cstdio>

__global__ void rounds(unsigned *out)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
  for (unsigned k = 0; k < 16 + blockIdx.x / 4; k++) v = v * 1664525 + 1013904223;
  out[i] = v;
}

int main()
{
  const int ctas = 2400, threads = 64, n = ctas * threads;
  static unsigned h[n];
  unsigned *p;
  cudaMalloc(&p, sizeof h);
  rounds<<<ctas, threads>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < n; i++) {
    unsigned v = i;
    for (unsigned k = 0; k < 16 + i / threads / 4; k++) v = v * 1664525 + 1013904223;
    if (h[i] != v) return puts("wrong"), 1;
  }
  puts("right");
}
