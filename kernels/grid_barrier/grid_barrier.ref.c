/* Reference of grid_barrier: the phases one after the other. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static uint32_t a[N], b[N], arrived[1] = {24};

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        a[i] = (uint32_t)ref_uniform_int(324, i, 0, UINT32_MAX);
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < N; i++)
            b[i] = a[(i + 64) % N] * 3 + a[(i + N - 1) % N];
        for (int i = 0; i < N; i++)
            a[i] = b[(i + 64) % N] * 3 + b[(i + N - 1) % N];
    }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("arrived.bin", arrived);
    return 0;
}
