/* Reference of mma_bf16, in integers with a common exponent. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 48 };

int main(int argc, char **argv)
{
    static uint16_t a[M][K], b[N][K];
    static float d[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = 0;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(255, i * K + k, -100, 100);
                int64_t y = ref_uniform_int(256, j * K + k, -100, 100);
                a[i][k] = ref_bf16(ldexpl((long double)x, 40));
                b[j][k] = ref_bf16(ldexpl((long double)y, -60));
                sum += x * y;
            }
            d[i][j] = ldexpf((float)sum, -20);
        }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("d16.bin", d);
    REF_WRITE("d8.bin", d);
    return 0;
}
