/* Triad over managed memory that the host has written, four passes: docs/managed-memory.md.
 *
 *   triad_managed MIB [1]      of all three arrays; 1: each pass prefetches them first (CUDA 13)
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void triad(double *a, const double *b, const double *c, size_t n)
{
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + 3 * c[i];
}

static void fetch(void *p, size_t bytes)
{
#if CUDART_VERSION >= 13000
  cudaMemPrefetchAsync(p, bytes, {cudaMemLocationTypeDevice, 0}, 0, 0);
#else
  cudaMemPrefetchAsync(p, bytes, 0, 0);
#endif
}

int main(int argc, char **argv)
{
  const size_t n = ((argc > 1 ? atoi(argv[1]) : 24) << 20) / (3 * sizeof(double)), bytes = n * sizeof(double);
  double *a, *b, *c;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaMallocManaged(&a, bytes);
  cudaMallocManaged(&b, bytes);
  cudaMallocManaged(&c, bytes);
  for (size_t i = 0; i < n; i++) a[i] = 0, b[i] = i, c[i] = 1;
  for (int pass = 0; pass < 4; pass++) {
    float ms;
    cudaEventRecord(begin);
    if (argc > 2) fetch(a, bytes), fetch(b, bytes), fetch(c, bytes);
    triad<<<(n + 1023) / 1024, 1024>>>(a, b, c, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("pass %d: %.3f ms, %.2f GB/s\n", pass, ms, 3 * bytes / ms / 1e6);
  }
  printf("%s\n", a[n - 1] == n + 2 ? "right" : "wrong");
  return a[n - 1] != n + 2;
}
