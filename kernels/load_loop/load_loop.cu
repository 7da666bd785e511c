/*
 * Loads from a table of 4 KiB that stays in L1, iters times, four independent
 * loads per iteration.  Benchmark of the L1 hit path; raise iters for a long
 * run.
 */
extern "C" __global__ void load_loop(const unsigned *table, unsigned *out, int iters)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned p = threadIdx.x, sum = 0;

    for (int k = 0; k < iters; k++) {
        sum += table[p % 1024];
        sum ^= table[(p + 256) % 1024];
        sum += table[(p + 512) % 1024];
        sum ^= table[(p + 768) % 1024];
        p += 32;
    }
    out[i] = sum;
}
