/* Reference of mma_b1: counted bit by bit. */
#include "../common/ref.h"

enum { M = 32, N = 16, WORDS = 16 };

int main(int argc, char **argv)
{
    static int32_t both[M][N], differ[M][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < M; i++)
        for (uint64_t j = 0; j < N; j++) {
            both[i][j] = differ[i][j] = (int32_t)ref_uniform_int(271, i * N + j, -1000, 1000);
            for (uint64_t k = 0; k < 32 * WORDS; k++) {
                int64_t x = ref_uniform_int(269, i * WORDS + k / 32, 0, UINT32_MAX) >> k % 32 & 1;
                int64_t y = ref_uniform_int(270, j * WORDS + k / 32, 0, UINT32_MAX) >> k % 32 & 1;
                both[i][j] += x == 1 && y == 1;
                differ[i][j] += x != y;
            }
        }
    REF_WRITE("dand.bin", both);
    REF_WRITE("dxor.bin", differ);
    REF_WRITE("d8.bin", both);
    return 0;
}
