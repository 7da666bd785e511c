/*
 * Warp groups that exchange registers: the first one gives most of its own back and only fetches, the second one takes
 * more and computes (setmaxnreg, sm_90a and later).
 */
extern "C" __global__ __launch_bounds__(256, 1) void reg_pool(const int *in, int *out, int rounds)
{
    __shared__ int tile[2][128];
    int t = threadIdx.x % 128;
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int r = 0; r < rounds; r++) {
            tile[r % 2][t] = in[(blockIdx.x * rounds + r) * 128 + t];
            asm volatile("bar.sync 1, 256;" ::: "memory");
        }
    } else {
        int sum[16] = {0};
        asm volatile("setmaxnreg.inc.sync.aligned.u32 120;");
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync 1, 256;" ::: "memory");
            for (int k = 0; k < 16; k++)
                sum[k] = sum[k] * 3 + tile[r % 2][(t * 5 + k * 7) % 128];
        }
        for (int k = 0; k < 16; k++)
            out[(blockIdx.x * 128 + t) * 16 + k] = sum[k];
    }
}
