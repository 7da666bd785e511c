/* Separate compilation: what this object uses is in rdc_part.cu. See rdc.sh. */
#include "rdc.h"

static __device__ __noinline__ int same(int x) { return 3 * x + 1; }

__device__ int *const out_of_order[2] = { &counter, 0 };
__constant__ int own[3] = { 5, 6, 7 };

/* out[8 t ..] of thread t; which chooses a function of the table. */
extern "C" __global__ void rdc_all(int *out, int which)
{
    int x = threadIdx.x, *o = out + 8 * x;
    o[0] = twice(x);                 /* 2 x + scale[x & 3] */
    o[1] = table[which](x);          /* 0: twice; 1: 7 x - 2 + (5 x + 9) */
    o[2] = same(x);                  /* 3 x + 1 */
    o[3] = both(x) + own[which];     /* 5 x + 9 + own */
    o[4] = scale[x & 3];             /* 11, 22, 33, 44 */
    o[5] = reversed(x);              /* blockDim - 1 - x */
    o[6] = atomicAdd(out_of_order[0], 1) >= 70;
    o[7] = offset[1];                /* -5 */
}

extern "C" __global__ void rdc_few(int *out)
{
    out[threadIdx.x] = small(threadIdx.x);
}

extern "C" __global__ void rdc_none(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}
