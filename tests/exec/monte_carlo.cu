// Pi by throwing darts: a generator for each thread, the same on the host; 64-bit atomics.
#include "check.h"

__host__ __device__ static unsigned long long throws(unsigned seed, int n)
{
  unsigned long long hits = 0;
  unsigned s = seed * 2654435761u + 1;
  for (int i = 0; i < n; i++) {
    s ^= s << 13, s ^= s >> 17, s ^= s << 5; // Marsaglia, xorshift
    unsigned x = s & 0xffff, y = s >> 16;
    hits += x * (unsigned long long)x + y * (unsigned long long)y < 0x100000000ull;
  }
  return hits;
}

__global__ void darts(unsigned long long *hits, int n)
{
  atomicAdd(hits, throws(blockIdx.x * blockDim.x + threadIdx.x, n));
}

int main()
{
  const int threads = 256, n = 50;
  unsigned long long *p, got, want = 0;
  CUDA(cudaMalloc(&p, 8));
  CUDA(cudaMemset(p, 0, 8));
  darts<<<threads / 64, 64>>>(p, n);
  CUDA(cudaMemcpy(&got, p, 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < threads; i++) want += throws(i, n);
  CHECK(got == want);
  double pi = 4.0 * got / (threads * n);
  CHECK(pi > 3.0 && pi < 3.3);
}
