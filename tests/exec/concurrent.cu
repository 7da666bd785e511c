// Kernels of different streams, issued one behind the other: they share the GPU, and its SMs, as far as there is room.
#include "check.h"

// Takes its time, whatever else the SM does.
__global__ void work(int *sum)
{
  extern __shared__ int unused[];
  long long end = clock64() + 20000;
  while (clock64() < end) __nanosleep(200);
  atomicAdd(sum, 1 + (end < 0 ? unused[threadIdx.x] : 0));
}

static int *sums;
static cudaStream_t stream[4];
static cudaEvent_t from, to;

struct shape {
  int ctas, threads, shared;
};

// Milliseconds of four launches, each in the stream that is named for it.
static float run(shape k, const int (&in)[4])
{
  float ms;
  CUDA(cudaMemset(sums, 0, 4 * sizeof(int)));
  CUDA(cudaEventRecord(from));
  for (int i = 0; i < 4; i++)
    work<<<k.ctas, k.threads, k.shared, stream[in[i]]>>>(sums + i);
  CUDA(cudaEventRecord(to));
  CUDA(cudaEventSynchronize(to));
  CUDA(cudaEventElapsedTime(&ms, from, to));
  int got[4];
  CUDA(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
  for (int v : got) CHECK(v == k.ctas * k.threads);
  return ms;
}

// Four times as long in one stream as each alone; `at_once` of them side by side in four streams, whose launch latency
// partly passes while they wait.
static void expect(shape k, int at_once)
{
  float one = run(k, {0, 0, 0, 0}), four = run(k, {0, 1, 2, 3});
  CHECK(four > 0.9f * one / at_once);
  CHECK(four < 1.2f * one / at_once);
}

int main()
{
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  for (cudaStream_t &s : stream) CUDA(cudaStreamCreate(&s));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  CUDA(cudaMalloc(&sums, 4 * sizeof(int)));
  int sms = p.multiProcessorCount, most = (int)p.sharedMemPerMultiprocessor;
  int half = most / 2 - (int)p.reservedSharedMemPerBlock;
  CUDA(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, half));
  run({sms, 32, 0}, {0, 0, 0, 0}); // warm caches
  int warps = p.maxThreadsPerMultiProcessor / 32;
  expect({sms / 4, 32, 0}, 4);            // each on SMs of its own
  expect({sms, 32, 0}, 4);                // in the same SMs
  expect({sms, 32, half}, 2);             // two fill the shared memory
  expect({sms, warps / 4 * 32, 0}, 4);    // four have all warps
  expect({sms, warps / 3 * 32 + 32, 0}, 2); // three have a few too many
}
