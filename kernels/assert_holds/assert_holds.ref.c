/* Reference of assert_holds: the largest integer whose square fits. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static int32_t out[128];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 128; i++) {
        int64_t v = ref_uniform_int(323, i, 0, 65535);
        while ((int64_t)(out[i] + 1) * (out[i] + 1) <= v)
            out[i]++;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
