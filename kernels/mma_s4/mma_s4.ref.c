/* Reference of mma_s4, in integers. */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 128 };

static int64_t nibble(uint64_t seed, uint64_t i)
{
    return ref_uniform_int(seed, i / 2, 0, 255) >> (i % 2 * 4) & 15;
}

static int64_t extend(int64_t x)
{
    return x > 7 ? x - 16 : x;
}

int main(int argc, char **argv)
{
    static int32_t ss[M][N], us[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t c = ref_uniform_int(268, i * N + j, -1000, 1000), s = c, u = c;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = nibble(266, i * K + k), y = extend(nibble(267, j * K + k));
                s += extend(x) * y;
                u += x * y;
            }
            ss[i][j] = (int32_t)s;
            us[i][j] = (int32_t)u;
        }
    REF_WRITE("d64.bin", ss);
    REF_WRITE("dus.bin", us);
    REF_WRITE("d8.bin", ss);
    return 0;
}
