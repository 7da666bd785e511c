/* Reference of saxpy_loop: each step rounded once, by libm's fmaf. */
#include "../common/ref.h"

enum { N = 1024, ITERS = 50 };

static float iterate(float v)
{
    for (int k = 0; k < ITERS; k++)
        v = fmaf(0.75f, v, 0.3f);
    return v;
}

int main(int argc, char **argv)
{
    static float y[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        float v = (float)ref_uniform(3, i, -2.0, 2.0);
        y[i] = (iterate(v) + iterate(v + 1.0f)) + (iterate(v + 2.0f) + iterate(v + 3.0f));
    }
    REF_WRITE("y.bin", y);
    return 0;
}
