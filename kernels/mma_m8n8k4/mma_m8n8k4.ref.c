/* Reference of mma_m8n8k4, in integers that count quarters. */
#include "../common/ref.h"

enum { QUAD_PAIRS = 4, LAYOUTS = 4, SIDE = 8, K = 12 };

int main(int argc, char **argv)
{
    static uint16_t a[QUAD_PAIRS][SIDE][K], b[QUAD_PAIRS][K][SIDE], c[QUAD_PAIRS][SIDE][SIDE];
    static uint16_t d[LAYOUTS][QUAD_PAIRS][SIDE][SIDE];
    static float c32[QUAD_PAIRS][SIDE][SIDE], d32[LAYOUTS][QUAD_PAIRS][SIDE][SIDE];

    ref_init(argc, argv);
    for (uint64_t q = 0; q < QUAD_PAIRS; q++)
        for (uint64_t i = 0; i < SIDE; i++)
            for (uint64_t j = 0; j < SIDE; j++) {
                int64_t sum = ref_uniform_int(262, (q * SIDE + i) * SIDE + j, -40, 40);
                c[q][i][j] = ref_f16((long double)sum / 4);
                c32[q][i][j] = (float)sum / 4;
                for (uint64_t k = 0; k < K; k++) {
                    int64_t x = ref_uniform_int(260, (q * SIDE + i) * K + k, -9, 9);
                    int64_t y = ref_uniform_int(261, (q * K + k) * SIDE + j, -7, 7);
                    a[q][i][k] = ref_f16((long double)x / 2);
                    b[q][k][j] = ref_f16((long double)y / 2);
                    sum += x * y;
                }
                for (unsigned l = 0; l < LAYOUTS; l++) {
                    d[l][q][i][j] = ref_f16((long double)sum / 4);
                    d32[l][q][i][j] = (float)sum / 4;
                }
            }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("c.bin", c);
    REF_WRITE("c32.bin", c32);
    REF_WRITE("d16.bin", d);
    REF_WRITE("d32.bin", d32);
    return 0;
}
