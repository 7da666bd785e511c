/*
 * Xorshift generators of 32 and 128 bits and xoroshiro128+, one stream per thread:
 * shifts of 64-bit values, rotations across the word border.
 */
typedef unsigned long long u64;

extern "C" __global__ void rng_xorshift(const uint4 *seed, unsigned *out32, unsigned *out128,
                                        u64 *out64, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    uint4 s = seed[i];
    unsigned a = s.x | 1;
    u64 p = (u64)s.y << 32 | s.x, q = ((u64)s.w << 32 | s.z) | 1;

    for (int r = 0; r < rounds; r++) {
        a ^= a << 13;
        a ^= a >> 17;
        a ^= a << 5;
        unsigned t = s.x ^ s.x << 11;
        s.x = s.y;
        s.y = s.z;
        s.z = s.w;
        s.w = s.w ^ s.w >> 19 ^ t ^ t >> 8;
        u64 sum = p + q;
        q ^= p;
        p = (p << 24 | p >> 40) ^ q ^ q << 16;
        q = q << 37 | q >> 27;
        out32[r * n + i] = a;
        out128[r * n + i] = s.w;
        out64[r * n + i] = sum;
    }
}
