// A kernel of more than 16.8 million warp instructions, behind which --functional comes back, and questions about it without
// rest until it has ended: of its stream, then of an event. The sums of a recurrence modulo 2^32 say that all of it was done.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void recur(unsigned *x, unsigned n)
{
  unsigned a = threadIdx.x;
  for (unsigned i = 0; i < n; i++) a = (a ^ i) * 1664525u + 1013904223u;
  x[threadIdx.x] = a;
}

int main()
{
  const unsigned n = 6000000;
  unsigned *x, got[32];
  cudaEvent_t event;
  cudaMalloc(&x, sizeof got);
  cudaEventCreate(&event);
  for (int by_event = 0; by_event < 2; by_event++) {
    recur<<<1, 32>>>(x, n);
    cudaEventRecord(event);
    while ((by_event ? cudaEventQuery(event) : cudaStreamQuery(0)) == cudaErrorNotReady) continue;
    cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
    for (unsigned t = 0; t < 32; t++) {
      unsigned a = t;
      for (unsigned i = 0; i < n; i++) a = (a ^ i) * 1664525u + 1013904223u;
      if (a != got[t]) return printf("thread %u has %u, not %u\n", t, got[t], a), 1;
    }
  }
  puts("right");
}
