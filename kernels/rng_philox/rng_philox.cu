/*
 * Philox4x32-10, the counter-based generator of the CUDA libraries: ten rounds of
 * IMAD.WIDE products whose halves are crossed over.
 */
extern "C" __global__ void rng_philox(uint4 *out, uint2 key, unsigned long long offset)
{
    unsigned long long i = offset + blockIdx.x * blockDim.x + threadIdx.x;
    uint4 c = make_uint4((unsigned)i, (unsigned)(i >> 32), threadIdx.x, ~blockIdx.x);

#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned hi0 = __umulhi(0xD2511F53, c.x), lo0 = 0xD2511F53 * c.x;
        unsigned hi1 = __umulhi(0xCD9E8D57, c.z), lo1 = 0xCD9E8D57 * c.z;
        c = make_uint4(hi1 ^ c.y ^ key.x, lo1, hi0 ^ c.w ^ key.y, lo0);
        key.x += 0x9E3779B9;
        key.y += 0xBB67AE85;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = c;
}
