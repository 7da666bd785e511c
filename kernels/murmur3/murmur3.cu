/*
 * MurmurHash3 (32 bits) of strings of 0 to 31 bytes at any alignment; the tail is a
 * switch that falls through.
 */
extern "C" __global__ void murmur3(const unsigned char *in, unsigned *out, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, length = i % 32;
    const unsigned char *p = in + 33 * i;
    unsigned h = seed, k = 0;

    for (unsigned j = length / 4; j > 0; j--, p += 4) {
        unsigned w = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
        w *= 0xcc9e2d51;
        w = (w << 15 | w >> 17) * 0x1b873593;
        h ^= w;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64;
    }
    switch (length & 3) {
    case 3:
        k ^= p[2] << 16;
    case 2:
        k ^= p[1] << 8;
    case 1:
        k ^= p[0];
        k *= 0xcc9e2d51;
        h ^= (k << 15 | k >> 17) * 0x1b873593;
    }
    h ^= length;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    out[i] = h ^ h >> 16;
}
