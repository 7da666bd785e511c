/*
 * Reference of mma_u8, in 64-bit integers.  One instruction sums 32 products and C
 * exactly and saturates its result; plain results wrap.
 */
#include "../common/ref.h"

enum { M = 32, N = 16, K = 64 };

int main(int argc, char **argv)
{
    static int32_t c[M][N], uu[M][N], us[M][N], sat[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            int64_t start = ref_uniform_int(265, i * N + j, -1000000, 1000000);
            if (j % 4 == 1)
                start = INT32_MAX - llabs(start) / 8;
            if (j % 4 == 2)
                start = INT32_MIN + llabs(start) / 8;
            int64_t plain = start, mixed = start, clamped = start;
            c[i][j] = (int32_t)start;
            for (uint64_t k = 0; k < K; k++) {
                int64_t x = ref_uniform_int(263, i * K + k, 0, 255);
                int64_t y = ref_uniform_int(264, j * K + k, 0, 255);
                int64_t s = y > 127 ? y - 256 : y;
                plain += x * y;
                mixed += x * s;
                clamped += x * s;
                if (k % 32 == 31) {
                    clamped = clamped > INT32_MAX ? INT32_MAX : clamped;
                    clamped = clamped < INT32_MIN ? INT32_MIN : clamped;
                }
            }
            uu[i][j] = (int32_t)(uint32_t)plain;
            us[i][j] = (int32_t)(uint32_t)mixed;
            sat[i][j] = (int32_t)clamped;
        }
    REF_WRITE("c.bin", c);
    REF_WRITE("duu.bin", uu);
    REF_WRITE("dus.bin", us);
    REF_WRITE("dsat.bin", sat);
    return 0;
}
