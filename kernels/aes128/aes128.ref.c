/*
 * Reference of aes128 after FIPS 197, with arithmetic in GF(256) instead of tables.
 * The first block is checked against the standard's example.
 */
#include "../common/ref.h"

enum { N = 128 };

static uint8_t mul(uint8_t a, uint8_t b)
{
    unsigned r = 0, x = a;

    for (; b; b >>= 1, x = x << 1 ^ (x & 0x80 ? 0x11b : 0))
        r ^= b & 1 ? x : 0;
    return (uint8_t)r;
}

static uint8_t sbox(uint8_t x)
{
    uint8_t inverse = 0;
    unsigned r = 0;

    for (unsigned y = 1; y < 256 && x; y++)
        if (mul(x, (uint8_t)y) == 1)
            inverse = (uint8_t)y;
    for (unsigned i = 0; i < 8; i++) {
        unsigned bit = 0;
        for (unsigned k = 0; k < 8; k++)
            if (k == 0 || k >= 4)
                bit ^= inverse >> ((i + k) % 8) & 1u;
        r |= (bit ^ (0x63u >> i & 1u)) << i;
    }
    return (uint8_t)r;
}

static uint8_t s[256], key[176];

static void encrypt(const uint8_t *in, uint8_t *out)
{
    uint8_t state[16], next[16];

    for (int i = 0; i < 16; i++)
        state[i] = in[i] ^ key[i];
    for (int r = 1; r <= 10; r++) {
        for (int c = 0; c < 4; c++)
            for (int row = 0; row < 4; row++)
                next[4 * c + row] = s[state[4 * ((c + row) % 4) + row]];
        for (int c = 0; c < 4; c++)
            for (int row = 0; row < 4; row++) {
                const uint8_t *p = next + 4 * c;
                uint8_t v = p[row];
                if (r < 10)
                    v = mul(2, p[row]) ^ mul(3, p[(row + 1) % 4]) ^ p[(row + 2) % 4] ^
                        p[(row + 3) % 4];
                state[4 * c + row] = v ^ key[16 * r + 4 * c + row];
            }
    }
    memcpy(out, state, sizeof state);
}

int main(int argc, char **argv)
{
    static const uint8_t cipher_key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                           0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    static const uint8_t example[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                                        0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
    static const uint8_t result[4] = {0x39, 0x25, 0x84, 0x1d};
    static uint8_t in[N][16], out[N][16];
    static uint32_t table[256];
    uint8_t rcon = 1;

    ref_init(argc, argv);
    for (unsigned i = 0; i < 256; i++) {
        s[i] = sbox((uint8_t)i);
        table[i] = (uint32_t)mul(2, s[i]) | (uint32_t)s[i] << 8 | (uint32_t)s[i] << 16 |
                   (uint32_t)mul(3, s[i]) << 24;
    }
    memcpy(key, cipher_key, 16);
    for (int i = 16; i < 176; i++) {
        uint8_t v = key[i - 4];
        if (i % 16 < 4)
            v = s[i % 4 == 3 ? key[i - 7] : key[i - 3]];
        if (i % 16 == 0) {
            v ^= rcon;
            rcon = mul(rcon, 2);
        }
        key[i] = key[i - 16] ^ v;
    }
    for (unsigned i = 0; i < N; i++) {
        for (unsigned j = 0; j < 16; j++)
            in[i][j] = i ? (uint8_t)ref_splitmix64(282, i * 16 + j) : example[j];
        encrypt(in[i], out[i]);
    }
    if (memcmp(out[0], result, sizeof result)) {
        fprintf(stderr, "aes128.ref: wrong result of the standard's example\n");
        return 1;
    }
    REF_WRITE("table.bin", table);
    REF_WRITE("key.bin", key);
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
