/* Reference of warp_pipeline: the two sums of each tile. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static int32_t out[12][2];

    ref_init(argc, argv);
    for (uint64_t k = 0; k < 12; k++)
        for (uint64_t i = 0; i < 64; i++) {
            int32_t v = (int32_t)ref_uniform_int(322, 64 * k + i, -100000, 100000);
            if (i >= 32)
                out[k][0] += 3 * v + (int32_t)k;
            else
                out[k][1] += v ^ (int32_t)k;
        }
    REF_WRITE("out.bin", out);
    return 0;
}
