/*
 * Separate compilation: functions in sections of their own, addresses that nvlink leaves to the loader.
 *   nvcc -cubin -rdc=true -arch=sm_86 -O3 -o object.cubin linked.cu
 *   nvlink -arch=sm_86 -o linked.sm_86.cubin object.cubin
 */
#include <cstdio>

typedef int (*function)(int);

__device__ int counter = 7;
__constant__ int scale[4] = { 1, 2, 3, 4 };

__device__ __noinline__ int twice(int x) { return x + x + scale[x & 3]; }
__device__ __noinline__ int less(int x) { return x - 5; }

__device__ function table[2] = { twice, less };

extern "C" __global__ void linked(int *out, int which)
{
    out[0] = table[which & 1](out[1]);
    atomicAdd(&counter, 1);
    printf("%d\n", out[0]);
}
