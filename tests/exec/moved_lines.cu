// A page at the host that a kernel reads over the link comes to the GPU while loads of it stand in the queues of their SM: they are asked of the
// GPU's own memory then, and counted as such (they left a law of the counters broken, which ended the run).
#include "check.h"
#include <cuda_runtime.h>

enum { THREADS = 256, WORDS = 1024, ROUNDS = 60, LOADS = 4 };

__global__ void look(const unsigned *data, unsigned rounds, unsigned *out)
{
  unsigned sum = 0;
  for (unsigned r = 0; r < rounds; r++) {
    for (unsigned k = 0; k < LOADS; k++) {
      unsigned v;
      asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(v) : "l"(data + (threadIdx.x * 32 + k * 8 + r) % WORDS) : "memory");
      sum += v;
    }
    if (threadIdx.x % 32 == 0 && r % 4 == 0) __threadfence(); // L1 forgets
  }
  out[threadIdx.x] = sum;
}

int main()
{
  unsigned *data, *out, seen[THREADS];
  cudaStream_t s, beside;
#if CUDART_VERSION >= 13000
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0}, gpu = {cudaMemLocationTypeDevice, 0};
#define PREFETCH(to, stream) cudaMemPrefetchAsync(data, WORDS * 4, to, 0, stream)
#else
  const int host = cudaCpuDeviceId, gpu = 0;
#define PREFETCH(to, stream) cudaMemPrefetchAsync(data, WORDS * 4, to, stream)
#endif
  CUDA(cudaMallocManaged(&data, WORDS * 4));
  CUDA(cudaMalloc(&out, sizeof seen));
  for (int i = 0; i < WORDS; i++) data[i] = 3;
  CUDA(cudaMemAdvise(data, WORDS * 4, cudaMemAdviseSetPreferredLocation, host));
  CUDA(cudaMemAdvise(data, WORDS * 4, cudaMemAdviseSetAccessedBy, gpu));
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  for (int n = 0; n < 4; n++) {
    look<<<1, THREADS, 0, s>>>(data, ROUNDS, out);
    CUDA(PREFETCH(gpu, beside));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    for (unsigned sum : seen) CHECK(sum == 3 * ROUNDS * LOADS);
    CUDA(PREFETCH(host, beside));
    CUDA(cudaDeviceSynchronize());
  }
}
