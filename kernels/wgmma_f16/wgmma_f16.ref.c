/* Reference of wgmma_f16: products by definition. The numbers are small multiples of 1/2, so that every sum is exact
 * in FP16, too. */
#include "../common/ref.h"

enum { M = 64, K = 64, N = 64, SMALL = 24 };

static float a[M][K], b[N][K];
static float out[4 * M * N + M * SMALL];

/* scale * A * B, over `depth` elements of k; at: what D's element (i, n) begins with. */
static void product(float *d, int columns, int depth, double scale)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < columns; n++) {
            double sum = 0;
            for (int k = 0; k < depth; k++)
                sum += scale * a[i][k] * b[n][k];
            d[i * columns + n] = (float)sum;
        }
}

/* Registers of the kernel begin with i for even and -i for odd columns, i the pair's number. */
static void begin_with_pairs(float *d)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            int pair = n / 8 * 2 + (i % 16) / 8;
            d[i * N + n] += (float)(n % 2 ? -pair : pair);
        }
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < M * K; i++)
        a[i / K][i % K] = (float)ref_uniform_int(1, (uint64_t)i, -4, 4) / 2;
    for (int i = 0; i < N * K; i++)
        b[i / K][i % K] = (float)ref_uniform_int(2, (uint64_t)i, -3, 3);
    product(out, N, K, 1);
    product(out + M * N, N, K, 1);
    product(out + 2 * M * N, N, K, -1);
    begin_with_pairs(out + 2 * M * N);
    product(out + 3 * M * N, N, 32, -1);
    product(out + 4 * M * N, SMALL, K, 1);
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("out.bin", out);
    return 0;
}
