/* Reference of mma_fp8, in integers with a common exponent. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 64, A_EXP = -9, B_EXP = 5 };

/* x, exact, in a format of 1 + exponent + frac = 8 bits. */
static uint8_t fp8(long double x, int frac, int bias)
{
    int e, sign = x < 0 ? 0x80 : 0;

    if (x == 0)
        return 0;
    frexpl(x, &e);
    e = e - 1 > 1 - bias ? e - 1 : 1 - bias;
    long double units = ldexpl(fabsl(x), frac - e); /* with the hidden bit when normal */
    if (units != floorl(units)) {
        fprintf(stderr, "mma_fp8: %Lg is not exact\n", x);
        exit(1);
    }
    return (uint8_t)(sign | (((e + bias - 1) << frac) + (int)units));
}

int main(int argc, char **argv)
{
    static uint8_t a4[M][K], a5[M][K], b4[N][K], b5[N][K];
    static float d[M][N];
    static uint16_t half[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = 0;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(301, i * K + k, -7, 7);
                int64_t y = ref_uniform_int(302, j * K + k, -7, 7);
                a4[i][k] = fp8(ldexpl((long double)x, A_EXP), 3, 7);
                a5[i][k] = fp8(ldexpl((long double)x, A_EXP), 2, 15);
                b4[j][k] = fp8(ldexpl((long double)y, B_EXP), 3, 7);
                b5[j][k] = fp8(ldexpl((long double)y, B_EXP), 2, 15);
                sum += x * y;
                if (llabs(sum) > 2048) {
                    fprintf(stderr, "mma_fp8: a sum is too large for f16\n");
                    return 1;
                }
            }
            d[i][j] = ldexpf((float)sum, A_EXP + B_EXP);
            half[i][j] = ref_f16((long double)d[i][j]);
        }
    REF_WRITE("a4.bin", a4);
    REF_WRITE("a5.bin", a5);
    REF_WRITE("b4.bin", b4);
    REF_WRITE("b5.bin", b5);
    REF_WRITE("d.bin", d);
    REF_WRITE("half.bin", half);
    return 0;
}
