// Variables in global memory begin on 256 bytes (CUDA C++ Programming Guide, Device Memory Accesses): those with values and those
// without, of which there is one each. Programs make tensor maps of them, which want 16.
#include "check.h"

__device__ char three[3] = {1, 2, 3};
__device__ int zeros[64];

__global__ void use()
{
  zeros[threadIdx.x] += three[threadIdx.x % 3];
}

int main()
{
  void *a, *b;
  int got[64];
  use<<<1, 64>>>();
  CUDA(cudaGetSymbolAddress(&a, three));
  CUDA(cudaGetSymbolAddress(&b, zeros));
  CHECK((size_t)a % 256 == 0);
  CHECK((size_t)b % 256 == 0);
  CUDA(cudaMemcpyFromSymbol(got, zeros, sizeof got));
  for (int i = 0; i < 64; i++) CHECK(got[i] == i % 3 + 1);
}
