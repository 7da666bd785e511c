/* Reference of reg_pool_wide. */
#include "../common/ref.h"

enum { BLOCKS = 2, GROUP = 128, VALUES = 192, ROUNDS = 4 };

static uint32_t in[GROUP], out[BLOCKS][3][GROUP];

static uint32_t narrow(uint32_t t)
{
    uint32_t sum = 0;
    for (uint32_t r = 0; r < ROUNDS * 16; r++)
        sum = sum * 3 + in[(t + r) % GROUP];
    return sum;
}

static uint32_t wide(uint32_t t, uint32_t group)
{
    uint32_t v[VALUES], sum = 1; /* the other group was done */
    for (uint32_t k = 0; k < VALUES; k++)
        v[k] = in[(t * 7 + k) % GROUP] + k;
    for (uint32_t r = 0; r < ROUNDS; r++)
        for (uint32_t k = 0; k < VALUES; k++)
            v[k] = v[k] * 3 + (v[(k + 1) % VALUES] ^ group);
    for (uint32_t k = 0; k < VALUES; k++)
        sum = sum * 5 + v[k];
    return sum;
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (uint32_t i = 0; i < GROUP; i++)
        in[i] = (uint32_t)ref_splitmix64(5, i);
    for (uint32_t b = 0; b < BLOCKS; b++)
        for (uint32_t t = 0; t < GROUP; t++) {
            out[b][0][t] = narrow(t);
            out[b][1][t] = wide(t, 1);
            out[b][2][t] = wide(t, 2);
        }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
