/* Reference of hist_global. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint32_t hist[64];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 4000; i++)
        hist[ref_uniform_int(12, i, 0, 100) % 64]++;
    REF_WRITE("hist.bin", hist);
    return 0;
}
