// __constant__ and __device__ variables: by symbol, by address, across launches.
#include "check.h"

__constant__ int scale[4];
__device__ int counter = 7;
__device__ float table[8];
__managed__ int shared_count = 5;

__global__ void use(int *out)
{
  int i = threadIdx.x;
  out[i] = scale[i % 4] + counter;
  table[i % 8] = float(i);
  if (i == 0) shared_count += 10;
}

int main()
{
  const int n = 8, first[4] = {1, 2, 3, 4}, second = 40;
  int *out, h[n], got = 0;
  float t[8];
  void *p;
  size_t bytes;
  CUDA(cudaMalloc(&out, sizeof h));
  CUDA(cudaMemcpyToSymbol(scale, first, sizeof first));
  use<<<1, n>>>(out);
  CUDA(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(h[i] == first[i % 4] + 7);

  CUDA(cudaMemcpyToSymbol(scale, &second, sizeof second, sizeof(int)));
  CUDA(cudaGetSymbolAddress(&p, counter));
  got = 100;
  CUDA(cudaMemcpy(p, &got, sizeof got, cudaMemcpyHostToDevice));
  use<<<1, n>>>(out);
  CUDA(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(h[i] == (i % 4 == 1 ? 40 : first[i % 4]) + 100);

  // a constant written through its address
  got = 9;
  CUDA(cudaGetSymbolAddress(&p, scale));
  CUDA(cudaMemcpy(p, &got, sizeof got, cudaMemcpyHostToDevice));
  use<<<1, n>>>(out);
  CUDA(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h[0] == 109);

  CUDA(cudaMemcpyFromSymbol(t, table, sizeof t));
  for (int i = 0; i < 8; i++) CHECK(t[i] == float(i));
  CUDA(cudaMemcpyFromSymbol(&got, counter, sizeof got));
  CHECK(got == 100);
  CUDA(cudaGetSymbolSize(&bytes, table));
  CHECK(bytes == sizeof t);
  CUDA(cudaDeviceSynchronize());
  CHECK(shared_count == 35);

  // one byte too many; not a variable of the device
  CHECK(cudaMemcpyToSymbol(scale, first, sizeof first, 1) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetSymbolAddress(&p, &got) == cudaErrorInvalidSymbol);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaSuccess);
}
