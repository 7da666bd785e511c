/* Reference of pred_logic: conditions as integers 0 and 1. */
#include "../common/ref.h"

enum { N = 128 };

static int32_t in(int i)
{
    return (int32_t)ref_uniform_int(387, (uint64_t)i, -5, 6);
}

static uint32_t pack(int i)
{
    int32_t a = in(i), b = in(N + i), c = in(2 * N + i);

    return (uint32_t)((a < b) + 2 * (b < c) + 4 * (c < a) + 8 * (a > -2) + 16 * (b < 4) +
                      32 * (c % 2 != 0) + 64 * (a == b || b == c));
}

int main(int argc, char **argv)
{
    static uint32_t out[N];

    ref_init(argc, argv);
    for (int i = 0; i < N; i++) {
        uint32_t a = (uint32_t)in(i), b = (uint32_t)in(N + i), c = (uint32_t)in(2 * N + i);
        uint32_t k = pack(i), o = pack(i ^ 1), r = 0;
        unsigned p = k & 1, q = k >> 1 & 1, s = k >> 2 & 1, t = k >> 3 & 1, u = k >> 4 & 1;
        unsigned v = k >> 5 & 1, w = k >> 6;
        r += p * q * (1 - s) + (p + q + s) % 2 * 2 + (p ? q : s) * 4 + (p + q + s >= 2) * 8u;
        r += t * u * v * 16 + (t + u == 1) * 32u + (p + q + s + t + u + v + w) * 64;
        if (p && t + u > 0)
            r = r * 31 + a / 8;
        if (v != q)
            r = r * 31 + b / 8;
        else if (w || (s && !t))
            r ^= 0x55550000;
        for (int j = 0; j < 7; j++)
            r += (o >> j & 1) * (0x01000000u + (uint32_t)in(j));
        r ^= o & 1 ? a : 0;
        r += o & 2 ? b : 0;
        r ^= o & 4 ? c * 128 : 0;
        r -= o & 8 ? b / 512 : 0;
        out[i] = r;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
