/*
 * Reference of crc32: division of polynomials over GF(2), the message's first bit
 * the highest power.  The first string starts with a known check value.
 */
#include "../common/ref.h"

enum { N = 64, LENGTH = 20 };

/* remainder of the reflected message, xored at its start with the reflected value */
static uint32_t remainder_of(const uint8_t *m, int bytes, uint32_t start)
{
    uint32_t r = 0, reflected = 0;

    for (int i = 0; i < 8 * bytes + 32; i++) {
        uint32_t bit = i < 8 * bytes ? m[i / 8] >> i % 8 & 1u : 0;
        bit ^= i < 32 ? start >> i & 1u : 0;
        uint32_t top = r >> 31;
        r = (r << 1 | bit) ^ (top ? 0x04c11db7u : 0);
    }
    for (int i = 0; i < 32; i++)
        reflected |= (r >> i & 1u) << (31 - i);
    return reflected;
}

int main(int argc, char **argv)
{
    static uint8_t in[N][LENGTH];
    static uint32_t out[3][N], table[256];

    ref_init(argc, argv);
    for (unsigned i = 0; i < 256; i++)
        table[i] = remainder_of(&(uint8_t){(uint8_t)i}, 1, 0);
    for (unsigned i = 0; i < N; i++) {
        for (unsigned j = 0; j < LENGTH; j++)
            in[i][j] = (uint8_t)ref_splitmix64(284, i * LENGTH + j);
        if (i == 0)
            memcpy(in[0], "123456789", 9);
        out[0][i] = ~remainder_of(in[i], 8, UINT32_MAX);
        out[1][i] = out[2][i] = ~remainder_of(in[i], LENGTH, UINT32_MAX);
    }
    if (~remainder_of(in[0], 9, UINT32_MAX) != 0xcbf43926) {
        fprintf(stderr, "crc32.ref: wrong check value\n");
        return 1;
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("table.bin", table);
    REF_WRITE("out.bin", out);
    return 0;
}
