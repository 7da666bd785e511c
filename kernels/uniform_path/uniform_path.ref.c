/* Reference of uniform_path: a warp as an array of 32. */
#include "../common/ref.h"

enum { BLOCKS = 4, ROUNDS = 10 };

static uint32_t table(uint32_t i)
{
    return (uint32_t)ref_uniform_int(394, i % 64, 0, UINT32_MAX);
}

int main(int argc, char **argv)
{
    static uint32_t out[BLOCKS][32];
    const uint32_t key = 3735928559u;

    ref_init(argc, argv);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t v[32], mix = ROUNDS * 0x9E3779B1u + key, ones = 0, zeros = 0;
        for (uint32_t t = 0; t < 32; t++) {
            v[t] = (uint32_t)ref_uniform_int(393, b * 32 + t, 0, UINT32_MAX);
            ones += mix >> t & 1;
        }
        while (zeros < 32 && !((mix >> 3) >> (31 - zeros) & 1))
            zeros++;
        mix = (mix * 128 + mix / 33554432) ^ ones ^ zeros;
        mix = (mix % 65536 > ROUNDS ? mix % 65536 : ROUNDS) + 3 * (BLOCKS - 1);
        for (uint32_t t = 0; t < 12; t++)
            mix ^= (key >> t & 1) << (11 - t); /* reversed, from bit 20 on */
        mix ^= (key & 255) + (ROUNDS & 3) * 256; /* bytes 0 of both, modulo 1024 */
        for (uint32_t k = 0; k < ROUNDS; k++) {
            int any = 0;
            for (int t = 0; t < 32; t++) {
                v[t] = v[t] * 3 + table(k * 5 + mix);
                v[t] ^= k % 3 == ROUNDS % 3 ? table(k) >> k % 8 : 0;
            }
            uint32_t first = v[0];
            for (int t = 0; t < 32; t++) {
                v[t] += first / 65536 % 2 ? first >> mix % 16 : 0;
                any |= v[t] % 1024 == 0x155;
            }
            for (int t = 0; t < 32; t++)
                v[t] ^= any ? mix : 0;
        }
        uint64_t wide = (uint64_t)mix * key + ROUNDS;
        uint32_t add = (uint32_t)(wide >> 20);
        for (int t = 32; t-- > 0;)
            add = v[t] % 2 ? v[t] : add;
        for (int t = 0; t < 32; t++)
            out[b][t] = v[t] + add + (uint32_t)(wide >> 32);
    }
    REF_WRITE("out.bin", out);
    return 0;
}
