/* Reference of sgemm_tiled: row times column, summed in double. */
#include "../common/ref.h"

enum { M = 45, N = 50, K = 37 };

int main(int argc, char **argv)
{
    static float c[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            double sum = 0;
            for (uint64_t k = 0; k < K; k++)
                sum += (double)(float)ref_uniform(4, i * K + k, -1.0, 1.0) *
                       (double)(float)ref_uniform(5, k * N + j, -1.0, 1.0);
            c[i][j] = (float)sum;
        }
    REF_WRITE("c.bin", c);
    return 0;
}
