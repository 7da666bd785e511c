/* Reference of stream_triad: the sum rounded once, by fmaf. */
#include "../common/ref.h"

enum { N = 16384 };

int main(int argc, char **argv)
{
    static float a[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        float b = (float)ref_uniform(16, i, -1.0, 1.0);
        float c = (float)ref_uniform(17, i, -1.0, 1.0);
        a[i] = fmaf(3.0f, c, b);
    }
    REF_WRITE("a.bin", a);
    return 0;
}
