/* Reference of wgmma_fp8. Numbers have few bits, so that sums are exact but for one product, which begins with
 * 4096.25: products and start are cut to multiples of 2^(12 - 13) before they are added, as measured on Hopper
 * (MMA-Sim, arXiv 2511.10909). */
#include "../common/ref.h"

enum { M = 64, N = 64, K = 32, PRODUCTS = 6 };

static uint8_t a[M][K], b[N][K];
static float out[PRODUCTS][M][N];

static double number(uint8_t v, int fraction_bits, int bias)
{
    int e = (v & 127) >> fraction_bits, f = v & ((1 << fraction_bits) - 1);
    double x = e ? ldexp((1 << fraction_bits) + f, e - bias - fraction_bits) : ldexp(f, 1 - bias - fraction_bits);
    return v & 128 ? -x : x;
}

static double element(uint8_t v, int e5m2)
{
    return e5m2 ? number(v, 2, 15) : number(v, 3, 7);
}

static void product(float d[M][N], int a5, int b5, double sign, double start, double step)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            double sum = trunc(start / step) * step;
            for (int k = 0; k < K; k++)
                sum += trunc(sign * element(a[i][k], a5) * element(b[n][k], b5) / step) * step;
            d[i][n] = (float)sum;
        }
}

/* A code of either format: 1/2 to 1.75 in steps of 1/8 as E4M3, 1/8 to 1.5 in steps of 1/32 as E5M2. */
static uint8_t code(uint64_t seed, int i)
{
    return (uint8_t)(ref_uniform_int(seed, (uint64_t)i, 0x30, 0x3e) & 0x7e) | (uint8_t)(ref_uniform_int(seed + 9, (uint64_t)i, 0, 1) << 7);
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < M * K; i++)
        a[i / K][i % K] = code(5, i), b[i / K][i % K] = code(6, i);
    double fine = ldexp(1, -20);
    product(out[0], 0, 0, 1, 0, fine);
    product(out[1], 0, 1, -1, 0, fine);
    product(out[2], 1, 0, -1, 0, fine);
    product(out[3], 1, 1, 1, 0, fine);
    product(out[4], 0, 0, 1, 4096.25, 0.5);
    product(out[5], 0, 1, 1, 0, fine);
    for (int i = 0; i < M * N; i++)
        out[5][i / N][i % N] = (float)ref_round(out[5][i / N][i % N], 11, -24, rintl); /* FP16 */
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("out.bin", out);
    return 0;
}
