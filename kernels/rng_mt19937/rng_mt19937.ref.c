/* Reference of rng_mt19937, sequential; the first number is the published one. */
#include "../common/ref.h"

enum { N = 624, M = 397 };

int main(int argc, char **argv)
{
    static uint32_t s[2 * N], out[N];

    ref_init(argc, argv);
    s[0] = 5489;
    for (uint32_t i = 1; i < N; i++)
        s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t y = (s[i] & 0x80000000u) + (s[i + 1] & 0x7fffffffu);
        s[i + N] = s[i + M] ^ y / 2 ^ y % 2 * 0x9908b0dfu;
        y = s[i + N];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        out[i] = y ^ y >> 18;
    }
    if (out[0] != 3499211612u) {
        fprintf(stderr, "rng_mt19937.ref: wrong first number\n");
        return 1;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
