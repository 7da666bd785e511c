/* Reference of mma_tf32: operands rounded by definition, sums in integers. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 32 };

/* x to 11 significant bits, ties away from zero; |x| < 2^13 */
static int64_t tf32(int64_t x)
{
    int64_t step = llabs(x) >= 4096 ? 4 : llabs(x) >= 2048 ? 2 : 1;
    int64_t r = (llabs(x) + step / 2) / step * step;
    return x < 0 ? -r : r;
}

int main(int argc, char **argv)
{
    static float a[M][K], b[N][K], d[M][N], rounded[32];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t sum = 0;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(257, i * K + k, -8000, 8000);
                int64_t y = ref_uniform_int(258, j * K + k, -60, 60);
                a[i][k] = (float)x;
                b[j][k] = (float)y;
                sum += tf32(x) * y;
            }
            d[i][j] = (float)sum; /* below 32 * 8000 * 60 < 2^24 */
        }
    for (unsigned lane = 0; lane < 32; lane++)
        rounded[lane] = b[lane / 4][K - 8 + lane % 4];
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("d8.bin", d);
    REF_WRITE("d4.bin", d);
    REF_WRITE("rounded.bin", rounded);
    return 0;
}
