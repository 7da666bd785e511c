/*
 * Reference of rng_philox with 64-bit products; the published known answer for
 * counter and key zero is checked.
 */
#include "../common/ref.h"

enum { N = 256 };

static void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int r = 0; r < 10; r++) {
        uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q,
                            (uint32_t)(p >> 32) ^ c[3] ^ k1, (uint32_t)p};
        memcpy(c, next, sizeof next);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

int main(int argc, char **argv)
{
    static uint32_t out[N][4];
    uint32_t zero[4] = {0};

    ref_init(argc, argv);
    philox(zero, 0, 0);
    if (zero[0] != 0x6627e8d5) {
        fprintf(stderr, "rng_philox.ref: wrong known answer\n");
        return 1;
    }
    for (uint32_t i = 0; i < N; i++) {
        uint64_t counter = 4294967200u + (uint64_t)i;
        out[i][0] = (uint32_t)counter;
        out[i][1] = (uint32_t)(counter >> 32);
        out[i][2] = i % 64;
        out[i][3] = ~(i / 64);
        philox(out[i], 0x01234567, 0x89abcdef);
    }
    REF_WRITE("out.bin", out);
    return 0;
}
