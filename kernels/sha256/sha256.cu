/*
 * SHA-256 of one message of two blocks per thread: rotations by SHF, Ch and Maj by
 * LOP3, IADD3 chains, round constants in constant memory, big-endian words by PRMT.
 */
__constant__ unsigned round_key[64];

static __device__ unsigned rotr(unsigned x, int n)
{
    return __funnelshift_r(x, x, n);
}

extern "C" __global__ void sha256(const unsigned *message, const unsigned *initial,
                                  unsigned *digest,
                                  int blocks)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h[8], w[16];

    for (int j = 0; j < 8; j++)
        h[j] = initial[j];
    for (int b = 0; b < blocks; b++) {
        unsigned s[8];
#pragma unroll
        for (int j = 0; j < 8; j++)
            s[j] = h[j];
#pragma unroll
        for (int j = 0; j < 16; j++)
            w[j] = __byte_perm(message[(i * blocks + b) * 16 + j], 0, 0x0123);
#pragma unroll
        for (int r = 0; r < 64; r++) {
            if (r >= 16) {
                unsigned x = w[(r + 1) % 16], y = w[(r + 14) % 16];
                w[r % 16] += w[(r + 9) % 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) +
                             (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
            }
            unsigned s1 = rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25);
            unsigned s0 = rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22);
            unsigned ch = (s[4] & s[5]) ^ (~s[4] & s[6]);
            unsigned maj = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            unsigned t = s[7] + s1 + ch + round_key[r] + w[r % 16];
            s[7] = s[6];
            s[6] = s[5];
            s[5] = s[4];
            s[4] = s[3] + t;
            s[3] = s[2];
            s[2] = s[1];
            s[1] = s[0];
            s[0] = t + s0 + maj;
        }
        for (int j = 0; j < 8; j++)
            h[j] += s[j];
    }
    for (int j = 0; j < 8; j++)
        digest[i * 8 + j] = __byte_perm(h[j], 0, 0x0123);
}
