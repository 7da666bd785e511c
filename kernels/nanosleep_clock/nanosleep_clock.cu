/*
 * Clocks: clock64 rises and %globaltimer never falls, across __nanosleep and
 * across some work.  The times themselves depend on the machine, so only their
 * order is checked.
 */
static __device__ unsigned long long globaltimer()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

extern "C" __global__ void nanosleep_clock(unsigned *flags, long long *elapsed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long g0 = globaltimer();
    unsigned short_clock = clock();
    long long c0 = clock64();

    __nanosleep(500);

    long long c1 = clock64();
    unsigned long long g1 = globaltimer();
    elapsed[2 * i] = c1 - c0;
    elapsed[2 * i + 1] = (long long)(g1 - g0);
    __threadfence();
    long long c2 = clock64();
    unsigned later = clock();
    unsigned long long g2 = globaltimer();

    flags[i] = (c1 > c0) | (c2 > c1) << 1 | (g1 >= g0) << 2 | (g2 >= g1) << 3 |
               (later != short_clock) << 4;
}
