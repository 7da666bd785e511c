/* Reference of jump_table. */
#include "../common/ref.h"

enum { N = 128, ROUNDS = 10 };

static uint32_t step(unsigned way, uint32_t v)
{
    uint32_t r = 0, ones = 0;

    for (unsigned i = 0; i < 32; i++) {
        ones += v >> i & 1;
        r |= (v >> i & 1) << (31 - i);
    }
    const uint32_t result[8] = {
        v + 12345, v ^ 0x5a5a5a5a, v * 2654435761u, r, ~v, v - v / 32, v + ones, (v ^ v * 8) + 1,
    };
    return result[way];
}

int main(int argc, char **argv)
{
    static uint32_t out[N];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t v = (uint32_t)ref_uniform_int(72, i, 0, 4000000000);
        for (uint32_t k = 0; k < ROUNDS; k++)
            v = step((v ^ k) % 8, v);
        out[i] = v;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
