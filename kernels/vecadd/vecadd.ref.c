/* Reference of vecadd: the sum in double, which is exact enough to round once. */
#include "../common/ref.h"

enum { COUNT = 16384, N = 16300 };

int main(int argc, char **argv)
{
    static float z[COUNT];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        double x = (double)(float)ref_uniform(1, i, -1.0, 1.0);
        double y = (double)(float)ref_uniform(2, i, -1.0, 1.0);
        z[i] = (float)(x + y);
    }
    REF_WRITE("z.bin", z);
    return 0;
}
