/* Reference of wmma_gemm, in integers: inputs count quarters, sums sixteenths. */
#include "../common/ref.h"

enum { M = 64, N = 64, K = 64 };

int main(int argc, char **argv)
{
    static uint16_t a[M][K], b[K][N];
    static float c[M][N], d[M][N];
    static int64_t qa[M][K], qb[K][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t k = 0; k < K; k++) {
            qa[i][k] = ref_uniform_int(80, i * K + k, -16, 16);
            a[i][k] = ref_f16((long double)qa[i][k] / 4);
        }
    for (uint64_t k = 0; k < K; k++)
        for (uint64_t j = 0; j < N; j++) {
            qb[k][j] = ref_uniform_int(81, k * N + j, -16, 16);
            b[k][j] = ref_f16((long double)qb[k][j] / 4);
        }
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t qc = ref_uniform_int(82, i * N + j, -1000, 1000);
            c[i][j] = (float)qc / 16.0f;
            for (uint64_t k = 0; k < K; k++)
                qc += qa[i][k] * qb[k][j];
            d[i][j] = (float)qc / 16.0f;
        }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("c.bin", c);
    REF_WRITE("d.bin", d);
    return 0;
}
