// Variables of the device, constants, and __managed__ variables, which the CPU reads and writes as its own.
#include <cstdio>

__device__ int table[100];
__constant__ int factor;
__managed__ int shared[2000] = {5};
__managed__ int total;

__global__ void run()
{
  const int i = threadIdx.x;
  table[i] = table[i] * factor + shared[i];
  shared[1000 + i] = table[i];
  atomicAdd(&total, 1);
}

int main()
{
  int in[100], out[100], failed = 0, f = 7;
  size_t bytes = 0;
  for (int i = 0; i < 100; i++) in[i] = i * i;
  failed += shared[0] != 5 || shared[1] != 0;
  for (int i = 1; i < 100; i++) shared[i] = 3 * i;
  cudaMemcpyToSymbol(table, in, sizeof in);
  cudaMemcpyToSymbol(factor, &f, sizeof f);
  run<<<1, 100>>>();
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(out, table, sizeof out);
  for (int i = 0; i < 100; i++) {
    const int want = i * i * 7 + (i ? 3 * i : 5);
    failed += out[i] != want || shared[1000 + i] != want;
  }
  cudaGetSymbolSize(&bytes, table);
  failed += bytes != sizeof in || total != 100;
  printf("%d wrong, total %d, %s\n", failed, total, cudaGetErrorName(cudaGetLastError()));
  printf("%s\n", failed ? "FAIL" : "PASS");
  return failed != 0;
}
