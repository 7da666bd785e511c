/*
 * Reference of rng_xorshift: shift-and-xor steps as loops over bits.
 */
#include "../common/ref.h"

enum { N = 64, ROUNDS = 8 };

/* x with its own bits xored at a distance, positive to the left, in a word of width bits */
static uint64_t step(uint64_t x, int distance, int width)
{
    uint64_t r = x;

    for (int i = 0; i < width; i++) {
        int to = i + distance;
        if (to >= 0 && to < width)
            r ^= (x >> i & 1) << to;
    }
    return r;
}

static uint64_t rotate(uint64_t x, int n)
{
    uint64_t r = 0;

    for (int i = 0; i < 64; i++)
        r |= (x >> i & 1) << (i + n) % 64;
    return r;
}

int main(int argc, char **argv)
{
    static uint32_t out32[ROUNDS][N], out128[ROUNDS][N];
    static uint64_t out64[ROUNDS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t s[4 + ROUNDS];
        for (uint64_t k = 0; k < 4; k++)
            s[k] = (uint64_t)ref_uniform_int(287, 4 * i + k, 0, UINT32_MAX);
        uint64_t a = s[0] | 1, p = s[1] << 32 | s[0], q = s[3] << 32 | s[2] | 1;
        for (unsigned r = 0; r < ROUNDS; r++) {
            a = step(step(step(a, 13, 32), -17, 32), 5, 32);
            out32[r][i] = (uint32_t)a;
            s[r + 4] = step(s[r + 3], -19, 32) ^ step(step(s[r], 11, 32), -8, 32);
            out128[r][i] = (uint32_t)s[r + 4];
            out64[r][i] = p + q;
            uint64_t x = p ^ q;
            p = rotate(p, 24) ^ step(x, 16, 64);
            q = rotate(x, 37);
        }
    }
    REF_WRITE("out32.bin", out32);
    REF_WRITE("out128.bin", out128);
    REF_WRITE("out64.bin", out64);
    return 0;
}
