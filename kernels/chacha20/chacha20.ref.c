/* Reference of chacha20 after RFC 8439; its example's first word is checked. */
#include "../common/ref.h"

enum { BLOCKS = 64 };

static void half_round(uint32_t *x, int a, int b, int d, int bits)
{
    uint64_t v;

    x[a] += x[b];
    v = (uint64_t)(x[d] ^ x[a]) << bits; /* the bits shifted out come back below */
    x[d] = (uint32_t)(v | v >> 32);
}

int main(int argc, char **argv)
{
    static const uint8_t lane[8][4] = {
        {0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15},
        {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14},
    };
    static uint32_t out[BLOCKS][16];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint32_t x[16], y[16];
        memcpy(x, "expand 32-byte k", 16);
        for (uint32_t j = 0; j < 8; j++)
            x[4 + j] = 0x03020100 + 0x04040404 * j;
        x[12] = 1 + i;
        x[13] = 0x09000000;
        x[14] = 0x4a000000;
        x[15] = 0;
        memcpy(y, x, sizeof y);
        for (int r = 0; r < 80; r++) {
            const uint8_t *q = lane[r % 8];
            half_round(y, q[0], q[1], q[3], 16);
            half_round(y, q[2], q[3], q[1], 12);
            half_round(y, q[0], q[1], q[3], 8);
            half_round(y, q[2], q[3], q[1], 7);
        }
        if (i == 0 && x[0] + y[0] != 0xe4e7f110) {
            fprintf(stderr, "chacha20.ref: wrong key stream\n");
            return 1;
        }
        for (uint32_t j = 0; j < 16; j++)
            out[i][j] = (x[j] + y[j]) ^ (uint32_t)ref_uniform_int(283, 16 * i + j, 0, UINT32_MAX);
    }
    REF_WRITE("out.bin", out);
    return 0;
}
