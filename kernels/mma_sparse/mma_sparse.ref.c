/* Reference of mma_sparse: the left factor is spread out to its full width, then products by definition. */
#include "../common/ref.h"

enum { BLOCKS = 3, PRODUCTS = 8, M = 16, N = 8, MOST = 32 };

static uint8_t at[BLOCKS][M * MOST];

/* Pairs of different positions in rising order. */
static void choose_positions(void)
{
    for (int p = 0; p < BLOCKS; p++)
        for (int i = 0; i < M * MOST; i += 2) {
            int first = (int)ref_uniform_int(3, (uint64_t)(p * M * MOST + i), 0, 3);
            int second = (first + (int)ref_uniform_int(4, (uint64_t)(p * M * MOST + i), 1, 3)) % 4;
            at[p][i] = (uint8_t)(first < second ? first : second);
            at[p][i + 1] = (uint8_t)(first < second ? second : first);
        }
}

static void product(float d[M][N], int p, int stored)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            int64_t sum = 0;
            for (int j = 0; j < stored; j++) {
                int k = j / 2 * 4 + at[p][i * stored + j];
                sum += ref_uniform_int(1, (uint64_t)(p * M * MOST + i * stored + j), -8, 8) *
                       ref_uniform_int(2, (uint64_t)(p * M * MOST + k * N + n), -8, 8);
            }
            d[i][n] = (float)sum;
        }
}

int main(int argc, char **argv)
{
    static const int stored[PRODUCTS] = {8, 8, 16, 16, 16, 16, 32, 32};
    static float d[BLOCKS][PRODUCTS][M][N];

    ref_init(argc, argv);
    choose_positions();
    for (int p = 0; p < BLOCKS; p++)
        for (int k = 0; k < PRODUCTS; k++)
            product(d[p][k], p, stored[k]);
    REF_WRITE("at.bin", at);
    REF_WRITE("d.bin", d);
    return 0;
}
