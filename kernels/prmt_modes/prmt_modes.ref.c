/* Reference of prmt_modes: byte numbers from the tables of the PTX manual. */
#include "../common/ref.h"

enum { N = 128 };

static uint32_t pick(uint64_t bytes, const unsigned *number)
{
    uint32_t r = 0;

    for (int k = 0; k < 4; k++)
        r |= (uint32_t)(bytes >> 8 * number[k] & 255) << 8 * k;
    return r;
}

static uint32_t generic(uint64_t bytes, uint32_t selector)
{
    uint32_t r = 0;

    for (int k = 0; k < 4; k++) {
        unsigned nibble = selector >> 4 * k & 15, byte = bytes >> 8 * (nibble % 8) & 255;
        if (nibble > 7)
            byte = byte > 127 ? 255 : 0;
        r |= byte << 8 * k;
    }
    return r;
}

int main(int argc, char **argv)
{
    /* table[mode][selector][byte, lowest first] */
    static const unsigned table[6][4][4] = {
        {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
        {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
        {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
        {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
        {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
        {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}},
    };
    static uint32_t out[10][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t x = (uint64_t)ref_uniform_int(384, i, 0, UINT32_MAX);
        uint64_t y = (uint64_t)ref_uniform_int(384, N + i, 0, UINT32_MAX);
        uint32_t s = (uint32_t)ref_uniform_int(384, 2 * N + i, 0, UINT32_MAX);
        uint64_t bytes = y << 32 | x;
        out[0][i] = generic(bytes, s);
        for (int m = 0; m < 6; m++)
            out[m + 1][i] = pick(bytes, table[m][s % 4]);
        out[7][i] = generic(bytes, 0x5410);
        out[8][i] = generic(bytes, 0x7632);
        out[9][i] = generic(bytes, 0x9a08);
    }
    REF_WRITE("out.bin", out);
    return 0;
}
