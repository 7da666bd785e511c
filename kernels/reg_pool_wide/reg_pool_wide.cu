/*
 * More registers than a thread is launched with: one warp group gives its own back, late, and two others wait for them
 * and keep 192 values alive (setmaxnreg, sm_90a and later). 3 x 168 = 24 + 2 x 240. Whoever has registers sees that a
 * warp of the first group has come to the end of its work.
 */
enum { VALUES = 192, GROUP = 128 };

extern "C" __global__ __launch_bounds__(384, 1) void reg_pool_wide(const int *in, int *out, int rounds)
{
    __shared__ int given;
    if (threadIdx.x == 0)
        given = 0;
    __syncthreads();
    int t = threadIdx.x % GROUP, group = threadIdx.x / GROUP;
    if (group == 0) {
        int sum = 0;
        for (int r = 0; r < rounds * 16; r++)
            sum = sum * 3 + in[(t + r) % GROUP];
        out[(blockIdx.x * 3) * GROUP + t] = sum;
        atomicOr(&given, 1);
        __threadfence_block();
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        int v[VALUES], sum = atomicOr(&given, 0);
        for (int k = 0; k < VALUES; k++)
            v[k] = in[(t * 7 + k) % GROUP] + k;
        for (int r = 0; r < rounds; r++) {
            for (int k = 0; k < VALUES; k++)
                v[k] = v[k] * 3 + (v[(k + 1) % VALUES] ^ group);
        }
        for (int k = 0; k < VALUES; k++)
            sum = sum * 5 + v[k]; // 5^192 times the 1 that it saw is part of it
        out[(blockIdx.x * 3 + group) * GROUP + t] = sum;
    }
}
