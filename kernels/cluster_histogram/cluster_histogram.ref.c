/* Reference of cluster_histogram: one loop. Squares crowd the low bins. */
#include "../common/ref.h"

enum { N = 20000, BINS = 2048 };

static uint32_t x[N], bins[BINS];

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < N; i++) {
        uint32_t v = (uint32_t)ref_uniform_int(5, (uint64_t)i, 0, BINS - 1);
        x[i] = v * v / BINS;
        bins[x[i] % BINS]++;
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("bins.bin", bins);
    return 0;
}
