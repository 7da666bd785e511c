/* Reference of wgmma_sparse: dense products by definition of an A whose other elements are zero. The numbers are small
 * multiples of 1/2, exact in every format. */
#include "../common/ref.h"

enum { M = 64, N = 64, K = 128 };

static float a[M][K], tf32[M][K], b[N][K];
static uint8_t pairs[M][K / 4], ones[M][K / 2];
static float out[6][M][N];

static void product(float d[M][N], float of[M][K], int depth, double scale)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < depth; k++)
                sum += scale * of[i][k] * b[n][k];
            d[i][n] = (float)sum;
        }
}

static float element(uint64_t stream, int i)
{
    return (float)ref_uniform_int(stream, (uint64_t)i, -4, 4) / 2;
}

/* The two kept of four in ascending order. */
static void fill_a(void)
{
    static const uint8_t two[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int i = 0; i < M * K / 4; i++) {
        const uint8_t *p = two[ref_uniform_int(1, (uint64_t)i, 0, 5)];
        float *four = &a[0][0] + 4 * i;
        (&pairs[0][0])[i] = (uint8_t)(p[0] | p[1] << 2);
        four[p[0]] = element(2, 2 * i);
        four[p[1]] = element(2, 2 * i + 1);
    }
    for (int i = 0; i < M * K / 2; i++) {
        uint8_t second = (uint8_t)ref_uniform_int(3, (uint64_t)i, 0, 1);
        (&ones[0][0])[i] = second;
        (&tf32[0][0])[2 * i + second] = element(4, i);
    }
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    fill_a();
    for (int i = 0; i < N * K; i++)
        b[i / K][i % K] = (float)ref_uniform_int(5, (uint64_t)i, -3, 3);
    product(out[0], a, K, 1);
    product(out[1], a, K, 1);
    product(out[2], a, K, -1);
    product(out[3], tf32, K / 2, 1);
    product(out[4], a, K, 1);
    product(out[5], a, K, 2);
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++)
            out[5][i][n] += (float)n;
    REF_WRITE("a.bin", a);
    REF_WRITE("pairs.bin", pairs);
    REF_WRITE("tf32.bin", tf32);
    REF_WRITE("ones.bin", ones);
    REF_WRITE("b.bin", b);
    REF_WRITE("out.bin", out);
    return 0;
}
