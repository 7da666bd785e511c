/* Reference of mma_f32 in double. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 64 };

int main(int argc, char **argv)
{
    static float d[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            double sum = 0;
            for (uint64_t k = 0; k < K; k++)
                sum += ref_from_f16(ref_f16((long double)ref_uniform(253, i * K + k, -1.0, 1.0))) *
                       ref_from_f16(ref_f16((long double)ref_uniform(254, j * K + k, -1.0, 1.0)));
            d[i][j] = (float)sum;
        }
    REF_WRITE("d16.bin", d);
    REF_WRITE("d8.bin", d);
    return 0;
}
