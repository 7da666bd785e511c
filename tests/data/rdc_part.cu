/* Separate compilation: what rdc_main.cu uses. See rdc.sh. */
#include "rdc.h"

static __device__ __noinline__ int same(int x) { return 7 * x - 2; }

__device__ int counter = 70;
__device__ int unused[5];
__device__ int offset[3] = { -4, -5, -6 };
__constant__ int first[5] = { 1 };
__constant__ int scale[4] = { 11, 22, 33, 44 };

__device__ __noinline__ int twice(int x) { return x + x + scale[x & 3]; }
__device__ __noinline__ int mixed(int x) { return same(x) + both(x); }
__device__ __noinline__ int small(int x) { return x - unused[x & 1]; }

__device__ function table[2] = { twice, mixed };

/* A frame, a barrier and shared memory in a callee. */
__device__ __noinline__ int reversed(int x)
{
    __shared__ int s[64];
    volatile int keep[6];
    for (int i = 0; i < 6; i++) keep[i] = x + i;
    s[threadIdx.x] = x;
    __syncthreads();
    return s[blockDim.x - 1 - threadIdx.x] + keep[x % 6] - keep[0] - x % 6;
}
