/* Reference of mma_f64: sums of integers, and the closed form of the fused products. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 16 };

int main(int argc, char **argv)
{
    static double a[M][K], b[N][K], c[M][N], d[M][N];

    ref_init(argc, argv);
    for (unsigned i = 0; i < M; i++)
        for (unsigned k = 0; k < K; k++)
            a[i][k] = (double)ref_uniform_int(272, i * K + k, -10000000, 10000000);
    for (unsigned i = 16; i < M; i++)
        for (unsigned k = 0; k < K; k++)
            a[i][k] = k == i - 16 ? 1.0 + 0x1p-40 : 0.0;
    for (unsigned j = 0; j < N; j++)
        for (unsigned k = 0; k < K; k++)
            b[j][k] = (double)ref_uniform_int(273, j * K + k, -10000000, 10000000);
    for (unsigned i = 0; i < M; i++)
        for (unsigned j = 0; j < N; j++) {
            c[i][j] = i < 16 ? (double)ref_uniform_int(274, i * N + j, -1000, 1000) : -b[j][i - 16];
            int64_t sum = (int64_t)c[i][j];
            for (unsigned k = 0; k < K; k++)
                sum += (int64_t)a[i][k] * (int64_t)b[j][k];
            d[i][j] = i < 16 ? (double)sum : ldexp(b[j][i - 16], -40);
        }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("c.bin", c);
    REF_WRITE("d.bin", d);
    return 0;
}
