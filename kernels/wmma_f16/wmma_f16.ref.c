/* Reference of wmma_f16, in integers. */
#include "../common/ref.h"

enum { M = 32, N = 48, K = 32 };

int main(int argc, char **argv)
{
    static uint16_t a[M][K], b[N][K], d[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = 1;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(83, i * K + k, -4, 4);
                int64_t y = ref_uniform_int(84, j * K + k, -4, 4);
                a[i][k] = ref_f16((long double)x);
                b[j][k] = ref_f16((long double)y);
                sum += x * y;
            }
            d[i][j] = ref_f16((long double)sum);
        }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("d.bin", d);
    return 0;
}
