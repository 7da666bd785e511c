// Each kind of fault and bad launch: its code, when it shows, that it sticks, and that the same kernel runs again after a reset.
#include "check.h"
#include <cassert>
#include <cstring>

__global__ void store(int *p)
{
  *p = 1;
}

__global__ void store_16(char *p)
{
  asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(1) : "memory"); // one store, also in code of -G
}

__global__ void shared_store(int byte)
{
  extern __shared__ char s[];
  *reinterpret_cast<volatile int *>(s + byte) = 1;
}

__device__ __noinline__ int deep(int n)
{
  volatile int frame[64];
  frame[n & 63] = n;
  return n == 0 ? 0 : deep(n - 1) + frame[n & 63];
}

__global__ void recurse(int n, int *p)
{
  *p = deep(n);
}

__global__ void asserts(int x)
{
  assert(x == 1);
}

__global__ void traps()
{
  __trap();
}

__global__ void load(const int *p, int *q)
{
  *q = *p;
}

__global__ void add(int *p)
{
  atomicAdd(p, 1);
}

// Two warps that wait at different barriers.
__global__ void never_ends()
{
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
  else asm volatile("bar.sync 2, 64;");
}

__global__ void __launch_bounds__(128) bounded(int *p)
{
  if (threadIdx.x == 0) *p = 1;
}

// As many registers as there are: 1024 threads do not fit.
__global__ void registers(float *p, int n)
{
  float a[220];
#pragma unroll
  for (int i = 0; i < 220; i++) a[i] = p[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 220; i++) p[i * n + 1] = a[(i * 7) % 220];
}

static int *memory()
{
  int *p;
  CUDA(cudaMalloc(&p, 1 << 16));
  CUDA(cudaMemset(p, 0, 1 << 16));
  return p;
}

// The launch before went well, but the kernel faulted; everything then gives the same code, until a reset.
static void faulted(cudaError_t want, const char *what)
{
  void *p;
  cudaStream_t stream;
  cudaError_t launch = cudaPeekAtLastError(), got = cudaDeviceSynchronize();
  if (launch != cudaSuccess || got != want) printf("%s: %s, then %s\n", what, cudaGetErrorName(launch), cudaGetErrorName(got));
  CHECK(launch == cudaSuccess && got == want);
  CHECK(cudaGetLastError() == want && cudaGetLastError() == want);
  CHECK(cudaMalloc(&p, 4) == want);
  CHECK(cudaStreamCreate(&stream) == want);
  store<<<1, 1>>>(nullptr);
  CHECK(cudaPeekAtLastError() == want);
  CUDA(cudaDeviceReset());
  cudaGetLastError();
  int h = 0, *q = memory();
  store<<<1, 1>>>(q); // the handle that the program kept stands for the kernel as it is loaded now
  CUDA(cudaMemcpy(&h, q, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 1);
}

// The launch before was none: it gives the code once, and all goes on.
static void refused(cudaError_t want, const char *what)
{
  cudaError_t got = cudaGetLastError();
  if (got != want) printf("%s: %s\n", what, cudaGetErrorName(got));
  CHECK(got == want && cudaGetLastError() == cudaSuccess);
  CUDA(cudaDeviceSynchronize());
}

int main()
{
  static const int constant = 3;
  int local = 5;
  store<<<1, 1>>>(nullptr);
  faulted(cudaErrorIllegalAddress, "null");
  store<<<1, 1>>>(reinterpret_cast<int *>(-256ll));
  faulted(cudaErrorIllegalAddress, "the end of the address space");
  add<<<1, 1>>>(&local);
  faulted(cudaErrorIllegalAddress, "the program's stack");
  load<<<1, 1>>>(&constant, memory());
  faulted(cudaErrorIllegalAddress, "the program's constants");
  store<<<1, 1>>>(reinterpret_cast<int *>(reinterpret_cast<char *>(memory()) + 2));
  faulted(cudaErrorMisalignedAddress, "misaligned");
  store_16<<<1, 1>>>(reinterpret_cast<char *>(memory()) + 8);
  faulted(cudaErrorMisalignedAddress, "misaligned, 16 bytes");
  shared_store<<<1, 1, 64>>>(2);
  faulted(cudaErrorMisalignedAddress, "misaligned in shared memory");
  shared_store<<<1, 1, 64>>>(1 << 20);
  faulted(cudaErrorIllegalAddress, "outside of shared memory");
  recurse<<<1, 32>>>(2, memory());
  CUDA(cudaDeviceSynchronize());
  recurse<<<1, 32>>>(100000, memory());
  faulted(cudaErrorHardwareStackError, "stack overflow");
  asserts<<<1, 32>>>(0);
  faulted(cudaErrorAssert, "assert");
  traps<<<1, 32>>>();
  faulted(cudaErrorLaunchFailure, "trap");
  never_ends<<<1, 64>>>();
  faulted(cudaErrorLaunchTimeout, "deadlock");

  int *p = memory();
  cudaFuncAttributes a;
  CUDA(cudaFuncGetAttributes(&a, registers));
  CHECK(a.numRegs > 64);
  registers<<<1, 1024>>>(reinterpret_cast<float *>(p), 2);
  refused(cudaErrorLaunchOutOfResources, "registers");
  bounded<<<1, 128>>>(p);
  CUDA(cudaDeviceSynchronize());
  bounded<<<1, 129>>>(p);
  refused(cudaErrorInvalidValue, "more threads than __launch_bounds__");
  store<<<1, 0>>>(p);
  refused(cudaErrorInvalidConfiguration, "no threads");
  store<<<1, dim3(1, 1, 65)>>>(p);
  refused(cudaErrorInvalidConfiguration, "block.z");
  store<<<1, dim3(1, 1025)>>>(p);
  refused(cudaErrorInvalidConfiguration, "block.y");
  store<<<dim3(1, 1, 65536), 1>>>(p);
  refused(cudaErrorInvalidConfiguration, "grid.z");
  store<<<1, 1, 1 << 20>>>(p);
  refused(cudaErrorInvalidValue, "shared memory");
  store<<<1, 1>>>(p);
  CUDA(cudaDeviceSynchronize());
  printf("all faults as expected\n");
}
