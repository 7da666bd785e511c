// Errors of launches, and faults of kernels: their codes, when they show, and that they stick.
#include "check.h"
#include <cstring>

__global__ void store(int *p, long long i)
{
  p[i] = 1;
}

__global__ void misaligned(char *p)
{
  *reinterpret_cast<volatile int *>(p + 1) = 1;
}

__global__ void trap()
{
  asm volatile("trap;");
}

__global__ void __launch_bounds__(1024) big_shared(int *p)
{
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

// After a fault a real process needs cudaDeviceReset, if that helps at all.
static void expect(cudaError_t want, const char *what)
{
  cudaError_t got = cudaDeviceSynchronize();
  if (got != want) printf("%s: %s\n", what, cudaGetErrorName(got));
  CHECK(got == want);
  void *p;
  CHECK(cudaGetLastError() == want);
  CHECK(cudaGetLastError() == want);
  CHECK(cudaMalloc(&p, 4) == want);
  CUDA(cudaDeviceReset());
}

int main()
{
  int *p;
  CUDA(cudaMalloc(&p, 4096));
  // bad launches do not harm what follows
  store<<<1, 1025>>>(p, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  store<<<0, 1>>>(p, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  store<<<dim3(1, 65536), 1>>>(p, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  big_shared<<<1, 32, 64 << 10>>>(p);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  big_shared<<<1, 32, 64 << 10>>>(p);
  CUDA(cudaDeviceSynchronize());
  int last = 0;
  CUDA(cudaMemcpy(&last, p, 4, cudaMemcpyDeviceToHost));
  CHECK(last == 31);
  CHECK(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);

  store<<<1, 1>>>(p, 1ll << 32);
  CHECK(cudaPeekAtLastError() == cudaSuccess); // the launch itself went well
  expect(cudaErrorIllegalAddress, "far out");
  CUDA(cudaMalloc(&p, 4096));
  misaligned<<<1, 1>>>(reinterpret_cast<char *>(p));
  expect(cudaErrorMisalignedAddress, "misaligned");
  trap<<<1, 1>>>();
  expect(cudaErrorLaunchFailure, "trap");
  // all is well again
  CUDA(cudaMalloc(&p, 4096));
  store<<<1, 1>>>(p, 3);
  CUDA(cudaDeviceSynchronize());
  printf("faults as expected\n");
}
