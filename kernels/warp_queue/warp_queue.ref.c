/* Reference of warp_queue: nothing may be lost or come twice. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    uint32_t sum[1] = {0}, count[1] = {256};

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 256; i++)
        sum[0] += (uint32_t)ref_uniform_int(320, i, 0, 1000000);
    REF_WRITE("sum.bin", sum);
    REF_WRITE("count.bin", count);
    return 0;
}
