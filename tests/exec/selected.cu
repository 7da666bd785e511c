// Only the second launch is timed, and the program ends behind it.
#include "check.h"

__global__ void first(int *p) { *p = 1; }
__global__ void second(int *p) { *p += 1; }

int main()
{
  int *p;
  CUDA(cudaMalloc(&p, 4));
  first<<<1, 1>>>(p);
  second<<<1, 1>>>(p);
  printf("this is not reached\n");
  return 1;
}
