/* Reference of lop3_sweep: the truth table, looked up bit by bit. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint32_t out[258][32];

    ref_init(argc, argv);
    for (uint64_t t = 0; t < 32; t++) {
        uint32_t v[3];
        for (uint64_t k = 0; k < 3; k++)
            v[k] = (uint32_t)ref_uniform_int(386, 32 * k + t, 0, UINT32_MAX);
        for (uint32_t table = 0; table < 256; table++)
            for (int i = 0; i < 32; i++) {
                uint32_t row = (v[0] >> i & 1) * 4 + (v[1] >> i & 1) * 2 + (v[2] >> i & 1);
                out[table][t] |= (table >> row & 1) << i;
            }
        out[256][t] = (v[0] & 0x0ff0f00f) | (v[1] ^ 0x12345678);
        out[257][t] = ~(v[0] | 0x80000001) ^ v[2];
    }
    REF_WRITE("out.bin", out);
    return 0;
}
