/* Reference of reg_pool: what each thread of the second group sums up. */
#include "../common/ref.h"

enum { BLOCKS = 2, ROUNDS = 5, N = 128, SUMS = 16 };

int main(int argc, char **argv)
{
    static int32_t out[BLOCKS][N][SUMS];

    ref_init(argc, argv);
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t < N; t++)
            for (int k = 0; k < SUMS; k++)
                for (int r = 0; r < ROUNDS; r++) {
                    int at = (b * ROUNDS + r) * N + (t * 5 + k * 7) % N;
                    out[b][t][k] = out[b][t][k] * 3 + (int32_t)ref_uniform_int(1, (uint64_t)at, -1000, 1000);
                }
    REF_WRITE("out.bin", out);
    return 0;
}
