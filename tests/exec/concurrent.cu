// Kernels of different streams: those that leave SMs free run side by side, those that fill the GPU do not.
#include "check.h"

// A chain of loads: it takes long and does little.
__global__ void work(int *p, int n)
{
  int v = threadIdx.x;
  for (int i = 0; i < n; i++) v = p[v];
  if (v < 0) p[threadIdx.x] = v;
}

static int *memory;
static cudaStream_t stream[4];
static cudaEvent_t from, to;

// Milliseconds of four launches of so many CTAs, each in the stream that is named for it.
static float run(int ctas, const int (&in)[4])
{
  float ms;
  CUDA(cudaEventRecord(from));
  for (int i = 0; i < 4; i++) work<<<ctas, 32, 0, stream[in[i]]>>>(memory + i * 32, 700);
  CUDA(cudaEventRecord(to));
  CUDA(cudaEventSynchronize(to));
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return ms;
}

int main()
{
  int sms;
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  for (cudaStream_t &s : stream) CUDA(cudaStreamCreate(&s));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  CUDA(cudaMalloc(&memory, 4 * 32 * sizeof(int)));
  CUDA(cudaMemset(memory, 0, 4 * 32 * sizeof(int)));
  run(sms, {0, 0, 0, 0}); // warm caches
  float few_one = run(sms / 4, {0, 0, 0, 0}), few = run(sms / 4, {0, 1, 2, 3});
  float half = run(sms / 2, {0, 1, 2, 3}), full_one = run(sms, {0, 0, 0, 0}), full = run(sms, {0, 1, 2, 3});
  // four at once, but for the time the host takes to launch them; two at once; none
  CHECK(few < 0.5f * few_one);
  CHECK(half > 1.3f * few && half < 0.75f * full_one);
  CHECK(full > 0.95f * full_one && full < 1.05f * full_one);
}
