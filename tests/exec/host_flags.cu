// Kernels that wait for what the host does behind their launch: a word of pinned memory, of registered memory, a copy in another stream; the
// host that polls what they answer. One waits for ever and goes with cudaDeviceReset.
#include "check.h"
#include <cstdlib>

__global__ void answer(volatile int *flag, volatile int *out, int value)
{
  while (*flag != value);
  *out = value + 1;
}

int main()
{
  const int five = 5;
  int *pinned, *device, back;
  static int registered[1024];
  cudaStream_t other;
  CUDA(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
  volatile int *seen = pinned;
  seen[0] = seen[1] = 0;
  answer<<<1, 1>>>(pinned, pinned + 1, 7);
  CHECK(cudaStreamQuery(0) == cudaErrorNotReady && seen[1] == 0);
  seen[0] = 7;
  CUDA(cudaDeviceSynchronize());
  CHECK(seen[1] == 8);

  answer<<<1, 1>>>(pinned, pinned + 1, 9);
  seen[0] = 9;
  while (seen[1] != 10); // without a call

  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA(cudaMalloc(&device, 8));
  CUDA(cudaMemset(device, 0, 8));
  CUDA(cudaDeviceSynchronize());
  answer<<<1, 1>>>(device, device + 1, 5);
  CUDA(cudaMemcpyAsync(device, &five, sizeof five, cudaMemcpyHostToDevice, other));
  CUDA(cudaMemcpy(&back, device + 1, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back == 6);

  int *mapped;
  CUDA(cudaHostRegister(registered, sizeof registered, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer(&mapped, registered, 0));
  answer<<<1, 1>>>(mapped, device, 3);
  registered[0] = 3;
  CUDA(cudaMemcpy(&back, device, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back == 4);
  CUDA(cudaHostUnregister(registered));

  answer<<<1, 1>>>(device, device + 1, -1);
  CUDA(cudaDeviceReset());
  CUDA(cudaMalloc(&device, 8));
  CUDA(cudaMemset(device, 0, 8));
  answer<<<1, 1>>>(device, device + 1, 0);
  CUDA(cudaMemcpy(&back, device + 1, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back == 1);
}
