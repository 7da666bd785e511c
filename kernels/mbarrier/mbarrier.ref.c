/* Reference of mbarrier: each warp sums the other's tiles. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static int32_t out[2][32];

    ref_init(argc, argv);
    for (int r = 0; r < 8; r++)
        for (int lane = 0; lane < 32; lane++) {
            int32_t *sum = &out[1 - r % 2][lane];
            *sum = *sum * 5 + (int32_t)ref_uniform_int(325, (uint64_t)(r * 32 + 31 - lane), -1000,
                                                       1000) * (r + 1);
        }
    REF_WRITE("out.bin", out);
    return 0;
}
