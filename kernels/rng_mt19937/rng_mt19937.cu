/*
 * Mersenne Twister: one CTA of 256 threads regenerates the state of 624 words in
 * three phases that respect its recurrence, then tempers the outputs.
 */
#define N 624
#define M 397

static __device__ unsigned twist(unsigned far, unsigned a, unsigned b)
{
    unsigned y = (a & 0x80000000) | (b & 0x7fffffff);
    return far ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
}

extern "C" __global__ void rng_mt19937(unsigned seed, unsigned *out)
{
    __shared__ unsigned s[N];
    int t = threadIdx.x;

    if (t == 0) {
        unsigned x = s[0] = seed;
        for (int i = 1; i < N; i++)
            s[i] = x = 1812433253u * (x ^ x >> 30) + i;
    }
    __syncthreads();
    /* word i needs i, i + 1 and i + M (mod N): the last is old below N - M, new from there on */
    for (int first = 0; first < N; first += N - M) {
        int i = first + t;
        bool mine = t < N - M && i < N;
        unsigned v = 0;
        if (mine)
            v = twist(s[(i + M) % N], s[i], s[(i + 1) % N]);
        __syncthreads();
        if (mine)
            s[i] = v;
        __syncthreads();
    }
    for (int i = t; i < N; i += blockDim.x) {
        unsigned y = s[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680;
        y ^= y << 15 & 0xefc60000;
        out[i] = y ^ y >> 18;
    }
}
