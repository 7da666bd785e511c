// The first program of every course: allocate, copy, launch, copy back.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main()
{
  const int n = 5000;
  static float h[n];
  float *a, *b, *c;
  CUDA(cudaMalloc(&a, sizeof h));
  CUDA(cudaMalloc(&b, sizeof h));
  CUDA(cudaMalloc(&c, sizeof h));
  for (int i = 0; i < n; i++) h[i] = float(i);
  CUDA(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  for (int i = 0; i < n; i++) h[i] = 0.5f * i;
  CUDA(cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(h[i] == 1.5f * i);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
  CUDA(cudaFree(c));
  CHECK(cudaFree(c) == cudaErrorInvalidValue);
  printf("sum is right\n");
}
