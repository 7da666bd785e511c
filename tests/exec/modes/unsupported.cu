// What is not there yet: an entry point, called twice, and (with an argument) an instruction, a reduction by a surface's format.
#include <cstdio>

__global__ void before(int *p) { *p = 1; }

__global__ void formatted(unsigned long long surface)
{
  asm volatile("sured.p.min.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(surface), "r"(0), "r"(0), "r"(7));
}

int main(int argc, char **)
{
  int *p;
  cudaMalloc(&p, 4);
  before<<<1, 1>>>(p);
  if (argc > 1) formatted<<<1, 32>>>(1);
  else for (int i = 0; i < 2; i++) puts(cudaGetErrorName(cudaDestroyExternalMemory(nullptr)));
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
