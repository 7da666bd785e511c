// What a kernel asks of the device runtime with numbers that are none: each call fails or does nothing, the grid goes on, and
// neither host memory nor time without end is taken.
#include "check.h"
#include <cstdint>

__global__ void child(int *p)
{
  p[0]++;
}

struct answers {
  int buffer, shape, threads, shared, stream, event, pitch, rows, fill, memory, good;
};

__global__ void ask(int *count, char *a, char *b, answers *out)
{
  const size_t most = SIZE_MAX;
  out->buffer = !cudaGetParameterBuffer(64, 1ull << 45);
  cudaGetLastError();
  child<<<dim3(1, 65536, 1), 1>>>(count);
  out->shape = cudaGetLastError() != cudaSuccess;
  child<<<1, dim3(1024, 1024, 64)>>>(count);
  out->threads = cudaGetLastError() != cudaSuccess;
  child<<<1, 1, 1u << 31>>>(count);
  out->shared = cudaGetLastError() != cudaSuccess;
  child<<<1, 1, 0, (cudaStream_t)0x123456789ull>>>(count);
  out->stream = cudaGetLastError() != cudaSuccess;
  out->event = cudaEventRecord((cudaEvent_t)most, 0) != cudaSuccess;
  cudaGetLastError();
  out->pitch = cudaMemcpy2DAsync(a, 3, b, 16, 4, 2, cudaMemcpyDeviceToDevice, 0) != cudaSuccess;
  cudaGetLastError();
  out->rows = cudaMemcpy2DAsync(a, 16, b, 16, 0, most, cudaMemcpyDeviceToDevice, 0) == cudaSuccess; // 2^64 rows of nothing
  out->fill = cudaMemset2DAsync(a, 16, 1, 0, most, 0) == cudaSuccess;
  void *p = nullptr;
  out->memory = cudaMalloc(&p, most - 8) != cudaSuccess && !p;
  cudaGetLastError();
  child<<<1, 1>>>(count);
  out->good = cudaGetLastError() == cudaSuccess;
}

int main()
{
  int *count, seen;
  char *a, *b;
  answers *out, got;
  CUDA(cudaMalloc(&count, sizeof *count));
  CUDA(cudaMalloc(&a, 64));
  CUDA(cudaMalloc(&b, 64));
  CUDA(cudaMalloc(&out, sizeof *out));
  CUDA(cudaMemset(count, 0, sizeof *count));
  CUDA(cudaMemset(a, 7, 64));
  ask<<<1, 1>>>(count, a, b, out);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(&seen, count, sizeof seen, cudaMemcpyDeviceToHost));
  const int *all = &got.buffer;
  int wrong = seen != 1;
  for (unsigned i = 0; i < sizeof got / sizeof *all; i++)
    if (!all[i]) printf("answer %u is wrong\n", i), wrong++;
  char kept[64];
  CUDA(cudaMemcpy(kept, a, sizeof kept, cudaMemcpyDeviceToHost));
  for (char c : kept) wrong += c != 7;
  return wrong != 0;
}
