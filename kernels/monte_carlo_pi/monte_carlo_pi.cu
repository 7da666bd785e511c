/*
 * Monte Carlo estimate of pi: a linear congruential generator per thread, a test in
 * integers, ballots counted per warp, one atomic per CTA.
 */
extern "C" __global__ void monte_carlo_pi(unsigned *inside, int rounds)
{
    __shared__ unsigned count;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = i * 2862933555777941757ull + 1;

    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        unsigned long long u = x >> 48, v = (unsigned)(x >> 32) & 0xffff;
        unsigned hits = __ballot_sync(~0u, u * u + v * v < 1ull << 32);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&count, __popc(hits));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(inside, count);
}
