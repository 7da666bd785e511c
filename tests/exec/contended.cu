// Without time, warps that add to one word by compare-and-swap disturb each other little: nvcc puts a YIELD into the
// loop, and a warp that gave way there at once would find the word changed each time it came back.
#include "check.h"

__global__ void add(unsigned long long *sum, unsigned long long *attempts)
{
  unsigned long long value = blockIdx.x * blockDim.x + threadIdx.x + 1, old, seen = *sum, tries = 0;
  do {
    old = seen;
    tries++;
  } while ((seen = atomicCAS(sum, old, old + value)) != old);
  atomicAdd(attempts, tries);
}

int main()
{
  const unsigned long long ctas = 128, threads = 256, n = ctas * threads;
  const unsigned long long alone = 32 * 33 / 2; // of a warp by itself: one lane gets through at each attempt
  unsigned long long got[2], *p;
  CUDA(cudaMalloc(&p, sizeof got));
  CUDA(cudaMemset(p, 0, sizeof got));
  add<<<ctas, threads>>>(p, p + 1);
  CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == n * (n + 1) / 2);
  CHECK(got[1] <= 2 * alone * n / 32);
}
