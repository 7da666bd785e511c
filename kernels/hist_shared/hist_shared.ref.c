/* Reference of hist_shared; also makes the skewed input. */
#include "../common/ref.h"

enum { N = 16384 };

int main(int argc, char **argv)
{
    static uint8_t data[N];
    static uint32_t hist[256];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        double u = ref_uniform(11, i, 0.0, 1.0);
        data[i] = (uint8_t)(256.0 * u * u * u);
        hist[data[i]]++;
    }
    REF_WRITE("data.bin", data);
    REF_WRITE("hist.bin", hist);
    return 0;
}
