/*
 * ChaCha20 key stream, one block of 64 bytes per thread, xored to a text: additions,
 * xors and constant rotations on sixteen registers.
 */
static __device__ unsigned rotl(unsigned x, int n)
{
    return x << n | x >> (32 - n);
}

static __device__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d)
{
    a += b;
    d = rotl(d ^ a, 16);
    c += d;
    b = rotl(b ^ c, 12);
    a += b;
    d = rotl(d ^ a, 8);
    c += d;
    b = rotl(b ^ c, 7);
}

struct state {
    unsigned key[8], counter, nonce[3];
};

extern "C" __global__ void chacha20(const unsigned *in, unsigned *out, struct state s)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, y[16];

#pragma unroll
    for (int j = 0; j < 8; j++)
        x[4 + j] = s.key[j];
    x[12] = s.counter + i;
    x[13] = s.nonce[0];
    x[14] = s.nonce[1];
    x[15] = s.nonce[2];
#pragma unroll
    for (int j = 0; j < 16; j++)
        y[j] = x[j];
#pragma unroll 1
    for (int r = 0; r < 10; r++) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            quarter(y[j], y[4 + j], y[8 + j], y[12 + j]);
#pragma unroll
        for (int j = 0; j < 4; j++)
            quarter(y[j], y[4 + (j + 1) % 4], y[8 + (j + 2) % 4], y[12 + (j + 3) % 4]);
    }
#pragma unroll
    for (int j = 0; j < 16; j++)
        out[16 * i + j] = in[16 * i + j] ^ (x[j] + y[j]);
}
