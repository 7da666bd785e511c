// The programs that examples of the help call ./saxpy, ./train, ./app and ./a.out: launches of saxpy, gemm and vecadd, twelve in all.
#include <stdio.h>

__global__ void vecadd(const float *x, const float *y, float *z, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

__global__ void gemm(const float *a, const float *b, float *c, int n)
{
  int i = threadIdx.y, j = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

__global__ void saxpy(float a, const float *x, float *y, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main()
{
  enum { N = 256, WIDTH = 16 };
  float *x, *y, *z;
  if (cudaMalloc(&x, N * 4) || cudaMalloc(&y, N * 4) || cudaMalloc(&z, N * 4)) return 1;
  cudaMemset(x, 0, N * 4);
  cudaMemset(y, 0, N * 4);
  for (int i = 0; i < 10; i++) saxpy<<<1, N>>>(2, x, y, N);
  gemm<<<1, dim3(WIDTH, WIDTH)>>>(x, y, z, WIDTH);
  vecadd<<<1, N>>>(x, y, z, N);
  return cudaDeviceSynchronize() != cudaSuccess;
}
