// Kernels of a microsecond, as RRZE-HPC/gpu-benches times them (gpu-small-kernels): a[i] = 0.25 b[i] on doubles as nodes of a graph, as sweeps of one
// kernel between barriers of the grid, and between barriers of an atomic. Arguments: MODE ELEMENTS THREADS; prints microseconds for each.
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CUDA(call)                                                                                                     \
  do {                                                                                                                 \
    const cudaError_t failed = (call);                                                                                 \
    if (failed) exit(fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(failed)) > 0);                              \
  } while (0)

__global__ void scale(double *__restrict__ a, const double *__restrict__ b, int n)
{
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = b[i] * 0.25;
}

__global__ void grid_sync(int *, double *__restrict__ a, const double *__restrict__ b, int n, int sweeps)
{
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int k = 0; k < sweeps; k++) {
    for (int i = grid.thread_rank(); i < n; i += blockDim.x * gridDim.x) a[i] = b[i] * 0.25;
    grid.sync();
  }
}

__global__ void atomic_barrier(int *flags, double *__restrict__ a, const double *__restrict__ b, int n, int sweeps)
{
  for (int k = 0; k < sweeps; k++) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = b[i] * 0.25;
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) {
      atomicAdd(&flags[k], 1);
      while (((volatile int *)flags)[k] != gridDim.x);
    }
    __syncthreads();
  }
}

struct timing {
  cudaStream_t stream;
  cudaEvent_t from, to;
  double *a, *b;
  int *flags, n, threads;
};

static float node_us(const timing &t)
{
  enum { NODES = 40 };
  cudaGraph_t g;
  cudaGraphExec_t e;
  float ms = 0;
  CUDA(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < NODES; i += 2) {
    scale<<<t.n / t.threads + 1, t.threads, 0, t.stream>>>(t.a, t.b, t.n);
    scale<<<t.n / t.threads + 1, t.threads, 0, t.stream>>>(t.b, t.a, t.n);
  }
  CUDA(cudaStreamEndCapture(t.stream, &g));
  CUDA(cudaGraphInstantiate(&e, g, 0));
  for (int k = 0; k < 2; k++) { // the second time with its code there
    CUDA(cudaEventRecord(t.from, t.stream));
    CUDA(cudaGraphLaunch(e, t.stream));
    CUDA(cudaEventRecord(t.to, t.stream));
    CUDA(cudaStreamSynchronize(t.stream));
    CUDA(cudaEventElapsedTime(&ms, t.from, t.to));
  }
  return ms * 1000 / NODES;
}

// The difference of 30 sweeps and 10.
static float sweep_us(timing t, const void *kernel)
{
  cudaDeviceProp p;
  int each;
  float ms[2];
  CUDA(cudaGetDeviceProperties(&p, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, t.threads, 0));
  const int blocks = std::min(t.n / t.threads, p.multiProcessorCount * each);
  for (int k = 0; k < 2; k++) {
    int sweeps = k ? 30 : 10;
    void *args[] = {&t.flags, &t.a, &t.b, &t.n, &sweeps};
    CUDA(cudaMemsetAsync(t.flags, 0, 4096, t.stream));
    CUDA(cudaEventRecord(t.from, t.stream));
    CUDA(cudaLaunchCooperativeKernel(kernel, blocks, t.threads, args, 0, t.stream));
    CUDA(cudaEventRecord(t.to, t.stream));
    CUDA(cudaStreamSynchronize(t.stream));
    CUDA(cudaEventElapsedTime(&ms[k], t.from, t.to));
  }
  return (ms[1] - ms[0]) * 1000 / 20;
}

int main(int argc, char **argv)
{
  timing t;
  if (argc != 4) return 1;
  t.n = atoi(argv[2]), t.threads = atoi(argv[3]);
  CUDA(cudaMalloc(&t.a, t.n * 8));
  CUDA(cudaMalloc(&t.b, t.n * 8));
  CUDA(cudaMalloc(&t.flags, 4096));
  CUDA(cudaMemset(t.b, 0, t.n * 8));
  CUDA(cudaStreamCreate(&t.stream));
  CUDA(cudaEventCreate(&t.from));
  CUDA(cudaEventCreate(&t.to));
  const float us = !strcmp(argv[1], "graph") ? node_us(t)
                 : sweep_us(t, !strcmp(argv[1], "grid_sync") ? (const void *)grid_sync : (const void *)atomic_barrier);
  printf("%.3f\n", us);
}
