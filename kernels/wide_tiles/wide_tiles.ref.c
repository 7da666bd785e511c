/* Reference of wide_tiles. */
#include "../common/ref.h"

static uint32_t value(uint32_t i)
{
    return i * 37 % 1009;
}

static uint32_t work(uint32_t i, uint32_t size)
{
    uint32_t first = i / size * size, sum = 0, before = 0, most = 0, any = 0;

    for (uint32_t k = first; k < first + size; k++) {
        uint32_t v = value(k);
        sum += v;
        if (k < i) before += v;
        if (v > most) most = v;
        any |= v == 11;
    }
    uint32_t next = value(first + (i - first + 1) % size), third = value(first + 3 + first % 512 / size);
    return sum + 3 * next + 5 * before + 7 * third + 11 * most + 13 * (any + 2);
}

int main(int argc, char **argv)
{
    static uint32_t out[1024][4];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < 1024; i++)
        for (uint32_t k = 0; k < 4; k++) out[i][k] = work(i, 64u << k);
    REF_WRITE("out.bin", out);
    return 0;
}
