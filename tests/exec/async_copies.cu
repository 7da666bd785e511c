// A pipeline: chunks of a long array are copied in, changed and copied out in three streams at once.
#include "check.h"
#include <algorithm>

__global__ void change(int *p, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    p[i] = p[i] * 3 + 1;
}

const int chunks = 6, n = 1 << 17;

// Milliseconds of all chunks in so many streams.
static float run(int *host, int *device, int streams)
{
  cudaStream_t s[3];
  cudaEvent_t from, to;
  float ms;
  for (int i = 0; i < streams; i++) CUDA(cudaStreamCreate(&s[i]));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  for (int i = 0; i < chunks * n; i++) host[i] = i;
  CUDA(cudaEventRecord(from));
  for (int c = 0; c < chunks; c++) {
    int *h = host + c * n, *d = device + c * n;
    CUDA(cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, s[c % streams]));
    change<<<64, 256, 0, s[c % streams]>>>(d, n);
    CUDA(cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost, s[c % streams]));
  }
  CUDA(cudaEventRecord(to));
  CUDA(cudaEventSynchronize(to));
  for (int i = 0; i < chunks * n; i++) CHECK(host[i] == i * 3 + 1);
  CUDA(cudaEventElapsedTime(&ms, from, to));
  for (int i = 0; i < streams; i++) CUDA(cudaStreamDestroy(s[i]));
  return ms;
}

int main()
{
  int *host, *device;
  CUDA(cudaMallocHost(&host, chunks * n * 4));
  CUDA(cudaMalloc(&device, chunks * n * 4));
  float one = run(host, device, 1), three = run(host, device, 3);
  // There is an engine for each direction: with 6 chunks, copies of one direction hide behind those of the
  // other, all but the first and the last (7 of 12 copies remain, and one kernel of 6).
  CHECK(three < 0.75f * one && three > 0.45f * one);
}
