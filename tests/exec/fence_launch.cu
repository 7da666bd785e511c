// A kernel that another one launches sees what the threads of the CTA that launched it had stored before a barrier (CUDA programming guide, dynamic
// parallelism: memory is consistent at the launch), also where these stores wait for their pages.
#include "check.h"
#include <cuda_runtime.h>

enum { THREADS = 256, EACH = 200, LINE = 32, WORDS = THREADS * EACH * LINE };

__device__ unsigned at(unsigned k) { return (k * THREADS + threadIdx.x) * LINE; }

// It begins where its parent ends, whose pages come last.
__global__ void look(const unsigned *data, unsigned round, unsigned *wrong)
{
  for (unsigned k = EACH; k-- > 0;) {
    unsigned v;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(data + at(k)) : "memory");
    if (v != round) atomicAdd_system(wrong, 1);
  }
}

__global__ void write(unsigned *data, unsigned round, unsigned *wrong)
{
  for (unsigned k = 0; k < EACH; k++) data[at(k)] = round;
  __syncthreads();
  if (threadIdx.x == 0) look<<<1, THREADS, 0, cudaStreamFireAndForget>>>(data, round, wrong);
}

int main()
{
  unsigned *data, *wrong;
  CUDA(cudaMallocManaged(&data, WORDS * 4));
  CUDA(cudaHostAlloc(&wrong, 4, cudaHostAllocMapped));
  *wrong = 0;
  for (unsigned i = 0; i < WORDS; i++) data[i] = 1;
  write<<<1, THREADS>>>(data, 2, wrong);
  CUDA(cudaDeviceSynchronize());
  if (*wrong) printf("%u words\n", *wrong);
  return *wrong != 0;
}
