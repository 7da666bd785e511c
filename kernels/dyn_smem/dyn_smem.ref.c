/* Reference of dyn_smem. */
#include "../common/ref.h"

static int32_t in(int i)
{
    return (int32_t)ref_uniform_int(329, (uint64_t)(i % 64), -1000000, 1000000);
}

int main(int argc, char **argv)
{
    static double out[64];
    static const uint32_t sizes[3] = {704, 0, 1};

    ref_init(argc, argv);
    for (int t = 0; t < 64; t++) {
        int u = (t * 7 + 3) % 64;
        uint32_t c = (uint32_t)in(u + 2);
        out[t] = in(u) / 2.0 + (double)((uint32_t)in(u + 1) % 32768) + (double)(c / 8 % 256) + 1;
    }
    REF_WRITE("out.bin", out);
    REF_WRITE("sizes.bin", sizes);
    return 0;
}
