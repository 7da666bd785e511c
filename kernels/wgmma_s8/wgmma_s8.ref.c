/* Reference of wgmma_s8: sums of products in 64 bits, wrapped or clamped to 32. */
#include "../common/ref.h"

enum { M = 64, N = 64, K = 64, PRODUCTS = 5, NARROW = 48, BITS = 8 };

static uint8_t a[M][K], b[N][K];
static int32_t out[PRODUCTS * M * N + M * NARROW + M * BITS];

static int value(uint8_t v, int is_signed)
{
    return is_signed && v >= 128 ? v - 256 : v;
}

static void product(int32_t *d, int columns, int depth, int signed_a, int signed_b, int64_t start)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < columns; n++) {
            int64_t sum = start;
            for (int k = 0; k < depth; k++)
                sum += value(a[i][k], signed_a) * value(b[n][k], signed_b);
            d[i * columns + n] = (int32_t)(sum > INT32_MAX ? INT32_MAX : sum);
        }
}

static void bits(int32_t *d)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < BITS; n++)
            for (int k = 0; k < 256; k++)
                d[i * BITS + n] += (a[i][k / 8] >> k % 8 & 1) && (b[n][k / 8] >> k % 8 & 1);
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < M * K; i++)
        a[i / K][i % K] = (uint8_t)ref_uniform_int(3, (uint64_t)i, 0, 255);
    for (int i = 0; i < N * K; i++)
        b[i / K][i % K] = (uint8_t)ref_uniform_int(4, (uint64_t)i, 0, 255);
    for (int i = 0; i < 4; i++)
        product(out + i * M * N, N, K, i < 2, i % 2 == 0, 0);
    /* the first step may already be clamped: the steps follow each other */
    product(out + 4 * M * N, N, 32, 1, 1, 0x7fff0000);
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            int64_t sum = out[4 * M * N + i * N + n];
            for (int k = 32; k < K; k++)
                sum += value(a[i][k], 1) * value(b[n][k], 1);
            out[4 * M * N + i * N + n] = (int32_t)(sum > INT32_MAX ? INT32_MAX : sum);
        }
    product(out + PRODUCTS * M * N, NARROW, 32, 0, 1, 0);
    bits(out + PRODUCTS * M * N + M * NARROW);
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("out.bin", out);
    return 0;
}
