/* Reference of large_local: counting sort. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint32_t out[64][24];

    ref_init(argc, argv);
    for (uint64_t t = 0; t < 64; t++) {
        int count[1000] = {0}, n = 0;
        for (uint64_t i = 0; i < 24; i++)
            count[ref_uniform_int(331, t * 24 + i, 0, 999)]++;
        for (uint32_t v = 0; v < 1000; v++)
            for (; count[v] > 0; count[v]--)
                out[t][n++] = v;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
