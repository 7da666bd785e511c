/* Reference of mma_ldmatrix, in integers: inputs count quarters, sums sixteenths. */
#include "../common/ref.h"

enum { M = 32, N = 32, K = 48 };

int main(int argc, char **argv)
{
    static uint16_t a[M][K], b[K][N], ba[M][K], bb[N][K];
    static float d[M][N], bd[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = 0, bsum = 0;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(85, i * K + k, -16, 16);
                int64_t y = ref_uniform_int(86, k * N + j, -16, 16);
                int64_t u = ref_uniform_int(87, i * K + k, -16, 16);
                int64_t v = ref_uniform_int(88, j * K + k, -16, 16);
                a[i][k] = ref_f16((long double)x / 4);
                b[k][j] = ref_f16((long double)y / 4);
                ba[i][k] = ref_bf16((long double)u / 4);
                bb[j][k] = ref_bf16((long double)v / 4);
                sum += x * y;
                bsum += u * v;
            }
            d[i][j] = (float)sum / 16.0f;
            bd[i][j] = (float)bsum / 16.0f;
        }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("d.bin", d);
    REF_WRITE("ba.bin", ba);
    REF_WRITE("bb.bin", bb);
    REF_WRITE("bd.bin", bd);
    return 0;
}
