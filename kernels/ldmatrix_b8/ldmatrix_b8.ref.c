/* Reference of ldmatrix_b8: products by definition. */
#include "../common/ref.h"

enum { COUNT = 4, M = 16, N = 16, K = 32 };

static int32_t element(uint64_t seed, int i)
{
    return (int8_t)ref_uniform_int(seed, (uint64_t)i, 0, 255);
}

int main(int argc, char **argv)
{
    static int32_t c[COUNT][M][N];

    ref_init(argc, argv);
    for (int p = 0; p < COUNT; p++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < K; k++)
                    c[p][i][j] += element(1, (p * M + i) * K + k) * element(2, (p * K + k) * N + j);
    REF_WRITE("c.bin", c);
    return 0;
}
