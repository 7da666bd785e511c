/*
 * xxHash64 of strings of 0 to 63 bytes, one per thread: 64-bit multiplication and
 * rotation built from 32-bit operations, loops of different length, unaligned tails.
 */
typedef unsigned long long u64;

#define P1 0x9E3779B185EBCA87ull
#define P2 0xC2B2AE3D27D4EB4Full
#define P3 0x165667B19E3779F9ull
#define P4 0x85EBCA77C2B2AE63ull
#define P5 0x27D4EB2F165667C5ull

static __device__ u64 rotl(u64 x, int n)
{
    return x << n | x >> (64 - n);
}

static __device__ u64 lane(u64 acc, u64 word)
{
    return rotl(acc + word * P2, 31) * P1;
}

extern "C" __global__ void xxhash64(const unsigned char *in, u64 *out, u64 seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, length = i % 64;
    const unsigned char *p = in + 64 * i, *end = p + length;
    u64 h = seed + P5;

    if (length >= 32) {
        u64 a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
        for (; p + 32 <= end; p += 32) {
            a = lane(a, *(const u64 *)p);
            b = lane(b, *(const u64 *)(p + 8));
            c = lane(c, *(const u64 *)(p + 16));
            d = lane(d, *(const u64 *)(p + 24));
        }
        h = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
        h = (h ^ lane(0, a)) * P1 + P4;
        h = (h ^ lane(0, b)) * P1 + P4;
        h = (h ^ lane(0, c)) * P1 + P4;
        h = (h ^ lane(0, d)) * P1 + P4;
    }
    h += length;
    for (; p + 8 <= end; p += 8)
        h = rotl(h ^ lane(0, *(const u64 *)p), 27) * P1 + P4;
    if (p + 4 <= end) {
        h = rotl(h ^ *(const unsigned *)p * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        h = rotl(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    out[i] = h ^ h >> 32;
}
