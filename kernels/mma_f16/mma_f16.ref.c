/* Reference of mma_f16, in integers that count quarters. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 48 };

int main(int argc, char **argv)
{
    static uint16_t a[M][K], b[N][K], c[M][N], d[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = ref_uniform_int(252, i * N + j, -40, 40);
            c[i][j] = ref_f16((long double)sum / 4);
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(250, i * K + k, -4, 4);
                int64_t y = ref_uniform_int(251, j * K + k, -3, 3);
                a[i][k] = ref_f16((long double)x / 2);
                b[j][k] = ref_f16((long double)y / 2);
                sum += x * y;
            }
            d[i][j] = ref_f16((long double)sum / 4);
        }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("c.bin", c);
    REF_WRITE("d16.bin", d);
    REF_WRITE("d8.bin", d);
    return 0;
}
