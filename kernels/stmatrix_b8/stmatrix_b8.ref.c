/* Reference of stmatrix_b8: products by definition, a 512th of them clamped to a byte, column after column. */
#include "../common/ref.h"

enum { COUNT = 4, M = 16, N = 56, K = 32 };

static int32_t element(uint64_t seed, int i)
{
    return (int8_t)ref_uniform_int(seed, (uint64_t)i, 0, 255);
}

static int8_t product(int p, int i, int j)
{
    int32_t sum = 0;
    for (int k = 0; k < K; k++)
        sum += element(1, (p * M + i) * K + k) * element(2, (p * N + j) * K + k);
    int32_t part = sum >= 0 ? sum / 512 : -((511 - sum) / 512); /* rounded down */
    return (int8_t)(part > 127 ? 127 : part < -128 ? -128 : part);
}

int main(int argc, char **argv)
{
    static int8_t c[COUNT][N][M];

    ref_init(argc, argv);
    for (int p = 0; p < COUNT; p++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++)
                c[p][j][i] = product(p, i, j);
    REF_WRITE("c.bin", c);
    return 0;
}
