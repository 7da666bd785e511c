// Barriers of a grid and nothing else, as ademeure/QuickRunCUDA times them (22l_grid_sync): MODE CTAS THREADS; prints
// microseconds for each. grid: cooperative groups'; else thread 0 of each CTA adds to a counter and reads it until all
// have: relaxed, with nothing around; acquire, the reads acquire; release, the adds release, too.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CUDA(call)                                                                                                     \
  do {                                                                                                                 \
    const cudaError_t failed = (call);                                                                                 \
    if (failed) exit(fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(failed)) > 0);                              \
  } while (0)

typedef unsigned long long word;

__global__ void grid(word *, int times)
{
  cooperative_groups::grid_group g = cooperative_groups::this_grid();
  for (int k = 0; k < times; k++) g.sync();
}

template <bool ACQUIRE> __device__ word look(word *counter)
{
  word v;
  if (ACQUIRE)
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(counter) : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(counter) : "memory");
  return v;
}

template <bool RELEASE, bool ACQUIRE> __global__ void counted(word *counter, int times)
{
  for (int k = 1; k <= times; k++) {
    __syncthreads();
    if (threadIdx.x == 0) {
      if (RELEASE)
        asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(counter) : "memory");
      else
        asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(counter) : "memory");
      while (look<ACQUIRE>(counter) < (word)k * gridDim.x);
    }
    __syncthreads();
  }
}

static const void *kernel(const char *mode)
{
  if (!strcmp(mode, "grid")) return (const void *)grid;
  if (!strcmp(mode, "relaxed")) return (const void *)counted<false, false>;
  if (!strcmp(mode, "acquire")) return (const void *)counted<false, true>;
  return (const void *)counted<true, true>;
}

// The difference of 50 barriers and 10.
int main(int argc, char **argv)
{
  cudaEvent_t from, to;
  word *counter;
  float ms[2];
  if (argc != 4) return 1;
  CUDA(cudaMalloc(&counter, sizeof *counter));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  for (int k = 0; k < 2; k++) {
    int times = k ? 50 : 10;
    void *args[] = {&counter, &times};
    CUDA(cudaMemset(counter, 0, sizeof *counter));
    CUDA(cudaEventRecord(from));
    CUDA(cudaLaunchCooperativeKernel(kernel(argv[1]), atoi(argv[2]), atoi(argv[3]), args, 0, 0));
    CUDA(cudaEventRecord(to));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaEventElapsedTime(&ms[k], from, to));
  }
  printf("%.3f\n", (ms[1] - ms[0]) * 1000 / 40);
}
