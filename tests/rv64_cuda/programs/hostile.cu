// Pointers and handles that are none. With an argument: one of those that end the program; without: those that calls
// refuse.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *p, int value)
{
  p[threadIdx.x] = value;
}

static int expect(const char *what, cudaError_t got, cudaError_t wanted)
{
  const cudaError_t last = cudaGetLastError();
  if (got == wanted) return 0;
  printf("%s: %s, last %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(last), cudaGetErrorName(wanted));
  return 1;
}

static void fatal(const char *how, int *device)
{
  int arg = 3, *p = device;
  void *args[] = {&p, (void *)0x10};
  if (strcmp(how, "out") == 0) cudaMalloc((void **)0x123, 100);
  if (strcmp(how, "top") == 0) cudaMalloc((void **)~0ull, 100);
  if (strcmp(how, "text") == 0) cudaMalloc((void **)(void *)fatal, 100);
  if (strcmp(how, "device") == 0) cudaMalloc((void **)(device + 2), 100);
  if (strcmp(how, "args") == 0) cudaLaunchKernel((void *)fill, 1, 1, args, 0, nullptr);
  if (strcmp(how, "array") == 0) cudaLaunchKernel((void *)fill, 1, 1, (void **)8, 0, nullptr);
  if (strcmp(how, "name") == 0) asm volatile("li t1, 16; li a7, 0x57530000; ecall" : : : "a7", "t1", "a0", "memory");
  if (strcmp(how, "load") == 0) printf("%d\n", *(volatile int *)(device + arg));
  if (strcmp(how, "far") == 0) printf("%d\n", *(volatile int *)0x7fff00000000);
  printf("still here\n");
}

int main(int argc, char **argv)
{
  int *device, host[64] = {0}, failed = 0;
  cudaMalloc((void **)&device, sizeof host);
  if (argc > 1) return fatal(argv[1], device), 0;
  const size_t n = sizeof host;
  const cudaError_t bad = cudaErrorInvalidValue, handle = cudaErrorInvalidResourceHandle;
  failed += expect("copy from nowhere", cudaMemcpy(device, (void *)0x8, n, cudaMemcpyHostToDevice), bad);
  failed += expect("copy to nowhere", cudaMemcpy((void *)0x8, device, n, cudaMemcpyDeviceToHost), bad);
  failed += expect("copy to the end", cudaMemcpy((void *)(~0ull - 7), device, n, cudaMemcpyDeviceToHost), bad);
  failed += expect("copy past the end", cudaMemcpy(device + 1, host, n, cudaMemcpyHostToDevice), bad);
  failed += expect("copy of everything", cudaMemcpy(device, host, ~0ull, cudaMemcpyHostToDevice), bad);
  failed += expect("copy to code", cudaMemcpy((void *)main, device, n, cudaMemcpyDeviceToHost), bad);
  failed += expect("device as host", cudaMemcpy(device, (void *)0x6fff00000000, n, cudaMemcpyHostToDevice), bad);
  failed += expect("fill nowhere", cudaMemset((void *)0x10, 0, n), bad);
  failed += expect("free", cudaFree((void *)host), bad);
  failed += expect("free twice", (cudaFree(device), cudaFree(device)), bad);
  failed += expect("free of the host", cudaFreeHost((void *)0x400000000000), bad);
  failed += expect("register nowhere", cudaHostRegister((void *)0x1000, 100, 0), bad);
  failed += expect("stream", cudaStreamSynchronize((cudaStream_t)0x1234567), handle);
  failed += expect("stream of the host", cudaStreamDestroy((cudaStream_t)0x5748000000001000), handle);
  failed += expect("event", cudaEventRecord((cudaEvent_t)host, nullptr), handle);
  cudaStream_t s;
  cudaStreamCreate(&s);
  failed += expect("a stream as event", cudaEventSynchronize((cudaEvent_t)s), handle);
  failed += expect("destroyed", (cudaStreamDestroy(s), cudaStreamQuery(s)), handle);
  failed += expect("graph", cudaGraphLaunch((cudaGraphExec_t)host, nullptr), handle);
  failed += expect("function", cudaLaunchKernel((void *)0x40, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  failed += expect("nothing", cudaMalloc(nullptr, 100), bad);
  failed += expect("too much", cudaMalloc((void **)&device, ~0ull >> 1), cudaErrorMemoryAllocation);
  printf("%s\n", failed ? "FAIL" : "PASS");
  return failed != 0;
}
