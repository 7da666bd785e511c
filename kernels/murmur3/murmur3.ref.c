/*
 * Reference of murmur3: the tail as a short block; the hash of the empty string with
 * seed 1 is checked against the published value.
 */
#include "../common/ref.h"

enum { N = 128 };

static uint32_t rotate(uint32_t x, int n)
{
    uint64_t v = (uint64_t)x << n;
    return (uint32_t)(v | v >> 32);
}

int main(int argc, char **argv)
{
    static uint32_t out[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t length = i % 32;
        uint32_t h = 1;
        for (uint64_t at = 0; at < length; at += 4) {
            uint32_t w = 0;
            for (uint64_t k = 0; k < 4 && at + k < length; k++)
                w += (uint32_t)ref_uniform_int(286, 33 * i + at + k, 0, 255) << 8 * k;
            h ^= rotate(w * 0xcc9e2d51u, 15) * 0x1b873593u;
            if (at + 4 <= length)
                h = rotate(h, 13) * 5 + 0xe6546b64u;
        }
        h ^= (uint32_t)length;
        h = (h ^ h >> 16) * 0x85ebca6bu;
        h = (h ^ h >> 13) * 0xc2b2ae35u;
        out[i] = h ^ h >> 16;
    }
    if (out[0] != 0x514e28b7) {
        fprintf(stderr, "murmur3.ref: wrong hash of the empty string\n");
        return 1;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
