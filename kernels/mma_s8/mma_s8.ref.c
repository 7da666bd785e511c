/* Reference of mma_s8, in integers. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 96 };

int main(int argc, char **argv)
{
    static int32_t d[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = ref_uniform_int(262, i * N + j, -100000, 100000);
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(260, i * K + k, -128, 127);
                int64_t y = ref_uniform_int(261, j * K + k, -128, 127);
                sum += x * y;
            }
            d[i][j] = (int32_t)sum;
        }
    REF_WRITE("d32.bin", d);
    REF_WRITE("d16.bin", d);
    REF_WRITE("d8.bin", d);
    return 0;
}
