// Many waves of CTAs whose work differs a little; the results of all are checked.
#include <cstdio>

__global__ void steps(unsigned *out)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
  for (unsigned v = i % 17 + 2; v > 1; n++) v = v % 2 ? 3 * v + 1 : v / 2;
  out[i] = n;
}

int main()
{
  const int ctas = 3600, threads = 64, n = ctas * threads;
  static unsigned h[n];
  unsigned *p;
  cudaMalloc(&p, sizeof h);
  steps<<<ctas, threads>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < n; i++) {
    unsigned s = 0;
    for (unsigned v = i % 17 + 2; v > 1; s++) v = v % 2 ? 3 * v + 1 : v / 2;
    if (h[i] != s) return puts("wrong"), 1;
  }
  puts("right");
}
