/* Reference of wide_ldst: copies byte by byte, words put together from bytes. */
#include "../common/ref.h"

static uint8_t in[4096], out[6144];

static uint32_t word(int t, int k)
{
    const uint8_t *p = in + 32 * t + 4 * k;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

int main(int argc, char **argv)
{
    static double numbers[256], sums[64];
    static uint32_t some[128];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 2048; i++)
        in[i] = (uint8_t)ref_uniform_int(641, i, 0, 255);
    for (uint64_t i = 0; i < 256; i++)
        numbers[i] = (double)ref_uniform_int(642, i, -100000, 100000);
    memcpy(in + 2048, numbers, sizeof numbers);
    for (int t = 0; t < 64; t++) {
        memcpy(out + 32 * t, in + 32 * t, 32);
        for (int k = 0; k < 8; k++)
            memcpy(out + 2048 + 32 * t + 4 * k, in + 32 * (63 - t) + 4 * (7 - k), 4);
        if (t % 3 == 0)
            memcpy(out + 4096 + 32 * (t * 7 % 64), in + 32 * (t * 5 % 64), 32);
        const double *n = numbers + 4 * t;
        sums[t] = (n[0] - n[1]) * n[2] + n[3];
        some[2 * t] = word(t, 0) ^ word(t, 5) * 3 ^ word(t, 7) * 5;
        uint64_t upper = word(t, 4) | (uint64_t)word(t, 5) << 32;
        some[2 * t + 1] = (uint32_t)(upper >> 7) ^ word(t, 6);
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    REF_WRITE("sums.bin", sums);
    REF_WRITE("some.bin", some);
    return 0;
}
