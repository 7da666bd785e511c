/*
 * Every atomic operation on global memory, 32 and 64 bits, integer and real, and
 * those on shared memory; all threads hit the same words.  The final values do
 * not depend on the order, and returned values are checked through tickets.
 */
#include <cuda_fp16.h>

typedef unsigned long long u64;

/* 32-bit operations on 14 words: the same list for global and shared memory */
static __device__ __forceinline__ void ops32(unsigned *w, unsigned i, unsigned v)
{
    atomicAdd(&w[0], v);
    atomicSub(&w[1], v);
    atomicMin((int *)&w[2], (int)v - 500);
    atomicMax((int *)&w[3], (int)v - 500);
    atomicMin(&w[4], v);
    atomicMax(&w[5], v);
    atomicInc(&w[6], 99u);
    atomicDec(&w[7], 99u);
    atomicAnd(&w[8], ~(1u << (v & 15)));
    atomicOr(&w[9], 1u << (i & 31));
    atomicXor(&w[10], v * 2654435761u);
    atomicExch(&w[11], 42u);
    /* compare-and-swap loop: w[12] = 3 * w[12] + 1, once per thread */
    unsigned old = *(volatile unsigned *)&w[12], seen;
    while ((seen = atomicCAS(&w[12], old, 3 * old + 1)) != old)
        old = seen;
    atomicAdd((float *)&w[13], (float)(int)(v & 7) - 3.0f);
}

static __device__ __forceinline__ void ops64(u64 *d, unsigned i, unsigned v)
{
    u64 x = (u64)v * 0x100000001u;

    atomicAdd(&d[0], x);
    atomicMin((long long *)&d[1], (long long)x - 0x20000000000LL);
    atomicMax((long long *)&d[2], (long long)x - 0x20000000000LL);
    atomicMin(&d[3], x);
    atomicMax(&d[4], x);
    atomicAnd(&d[5], ~(1ULL << (v & 31)));
    atomicOr(&d[6], 1ULL << (i & 63));
    atomicXor(&d[7], x * 0x9E3779B97F4A7C15ULL);
    atomicExch(&d[8], 0x4200000042ULL);
    u64 old = *(volatile u64 *)&d[9], seen;
    while ((seen = atomicCAS(&d[9], old, 5 * old + 1)) != old)
        old = seen;
    atomicAdd((double *)&d[10], (double)v * 0.25);
}

extern "C" __global__ void atomics(const unsigned *in, unsigned *w, u64 *d, __half2 *h,
                                   unsigned *tickets, unsigned *mark, unsigned *shared_out,
                                   u64 *shared_out64)
{
    __shared__ unsigned sw[14];
    __shared__ u64 sd[11];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    unsigned v = in[i];

    if (t < 14)
        sw[t] = w[14 + t]; /* initial values, which nobody changes there */
    if (t < 11)
        sd[t] = d[11 + t];
    __syncthreads();

    ops32(w, i, v);
    ops64(d, i, v);
    atomicAdd(h, __floats2half2_rn((float)(v & 3), -(float)(v & 1)));

    /* each returned value is different: a ticket per thread */
    mark[atomicAdd(&tickets[0], 1u)] += 1;
    mark[256 + atomicInc(&tickets[1], 1000u)] += 1;
    mark[512 + 256 - atomicSub(&tickets[2], 1u)] += 1;

    ops32(sw, t, v);
    ops64(sd, t, v);
    __syncthreads();
    if (t < 14)
        shared_out[14 * blockIdx.x + t] = sw[t];
    if (t < 11)
        shared_out64[11 * blockIdx.x + t] = sd[t];
}
