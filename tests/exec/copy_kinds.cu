// Copies whose kind calls a pointer the host's although only the GPU has what lies there: addresses are unified, so they go where the
// pointers lead, as with cudaMemcpyDefault. The other way round, host memory that is called the device's, is an error.
#include <cstdio>
#include <cstring>
#include <cuda.h>

enum { N = 3000, ROW = 100, ROWS = 30 };
static __device__ unsigned char variable[N];
static int bad;

static void same(const char *what, const void *device, const unsigned char *want, size_t bytes)
{
  static unsigned char back[N];
  cudaMemcpy(back, device, bytes, cudaMemcpyDeviceToHost);
  const bool right = memcmp(back, want, bytes) == 0;
  if (!right) bad = 1;
  printf("%s %s\n", what, right ? "right" : "wrong");
  cudaMemset((void *)device, 0, bytes);
}

int main()
{
  static unsigned char host[N], other[N];
  unsigned char *a, *b;
  void *place;
  for (int i = 0; i < N; i++) host[i] = (unsigned char)(i * 7 + i / 256);
  cudaMalloc(&a, N);
  cudaMalloc(&b, N);
  cudaMemcpy(a, host, N, cudaMemcpyHostToDevice);
  cudaGetSymbolAddress(&place, variable);

  cudaMemcpy(b, a, N, cudaMemcpyHostToDevice);
  same("source of a copy to the device", b, host, N);
  cudaMemcpy(b, a, N, cudaMemcpyDeviceToHost);
  same("destination of a copy to the host", b, host, N);
  cudaMemcpyAsync(b, a, N, cudaMemcpyHostToHost, 0);
  same("both", b, host, N);
  cudaMemcpyToSymbol(variable, a, N, 0, cudaMemcpyHostToDevice);
  same("to a symbol", place, host, N);
  cudaMemcpy2D(b, ROW, a, ROW, ROW, ROWS, cudaMemcpyDeviceToHost);
  same("rows", b, host, ROW * ROWS);
  cuMemcpyHtoD((CUdeviceptr)b, a, N);
  same("driver", b, host, N);

  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = a, c.dstHost = b;
  c.srcPitch = c.dstPitch = ROW, c.WidthInBytes = ROW, c.Height = ROWS, c.Depth = 1;
  cuMemcpy3D(&c);
  same("planes of the driver", b, host, ROW * ROWS);

  const cudaError_t e = cudaMemcpy(other, host, N, cudaMemcpyDeviceToHost);
  printf("host memory as the device's: %s\n", cudaGetErrorName(e));
  return bad || e != cudaErrorInvalidValue;
}
