// Two different kernels, in one stream or (with an argument) in two: the second shares the SMs of the first.
#include "../check.h"

static const int n = 1 << 15, bins = 64;

__global__ void triad(float *a, const float *b, const float *c)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] + 3 * c[i];
}

__global__ void count(int *bin, const int *v)
{
  __shared__ int mine[bins];
  if (threadIdx.x < bins) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[v[i]], 1);
  __syncthreads();
  if (threadIdx.x < bins) atomicAdd(&bin[threadIdx.x], mine[threadIdx.x]);
}

int main(int argc, char **)
{
  float *a, *b, *c;
  int *bin, *v;
  cudaStream_t s[2];
  CUDA(cudaMallocManaged(&a, n * sizeof *a));
  CUDA(cudaMallocManaged(&b, n * sizeof *b));
  CUDA(cudaMallocManaged(&c, n * sizeof *c));
  CUDA(cudaMallocManaged(&v, n * sizeof *v));
  CUDA(cudaMallocManaged(&bin, bins * sizeof *bin));
  for (cudaStream_t &x : s) CUDA(cudaStreamCreate(&x));
  for (int i = 0; i < n; i++) b[i] = (float)i, c[i] = (float)(i % 7), v[i] = i * 5 % bins;
  for (int i = 0; i < bins; i++) bin[i] = 0;
  triad<<<n / 256, 256, 0, s[0]>>>(a, b, c);
  count<<<16, 128, 0, s[argc > 1]>>>(bin, v);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(a[i] == b[i] + 3 * c[i]);
  for (int i = 0; i < bins; i++) CHECK(bin[i] == n / bins);
}
