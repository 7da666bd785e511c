/*
 * AES-128 encryption with one table of 256 words in shared memory (bank conflicts by
 * data) and rotations; the key schedule comes from constant memory, the last round
 * takes bytes out of the table.
 */
__constant__ unsigned key[44];

static __device__ unsigned rotl(unsigned x, int n)
{
    return __funnelshift_l(x, x, n);
}

extern "C" __global__ void aes128(const unsigned *table, const uint4 *in, uint4 *out)
{
    __shared__ unsigned te[256]; /* bytes 2 S, S, S, 3 S of S-box entries */
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    for (int j = threadIdx.x; j < 256; j += blockDim.x)
        te[j] = table[j];
    __syncthreads();
    uint4 v = in[i];
    unsigned s[4] = {v.x ^ key[0], v.y ^ key[1], v.z ^ key[2], v.w ^ key[3]}, t[4];
#pragma unroll 1
    for (int r = 1; r < 10; r++) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            t[c] = te[s[c] & 255] ^ rotl(te[s[(c + 1) % 4] >> 8 & 255], 8) ^
                   rotl(te[s[(c + 2) % 4] >> 16 & 255], 16) ^ rotl(te[s[(c + 3) % 4] >> 24], 24) ^
                   key[4 * r + c];
#pragma unroll
        for (int c = 0; c < 4; c++)
            s[c] = t[c];
    }
#pragma unroll
    for (int c = 0; c < 4; c++) {
        unsigned lo = __byte_perm(te[s[c] & 255], te[s[(c + 1) % 4] >> 8 & 255], 0x0051);
        unsigned hi = __byte_perm(te[s[(c + 2) % 4] >> 16 & 255], te[s[(c + 3) % 4] >> 24], 0x0051);
        t[c] = __byte_perm(lo, hi, 0x5410) ^ key[40 + c];
    }
    out[i] = make_uint4(t[0], t[1], t[2], t[3]);
}
