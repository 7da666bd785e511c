/* Reference of scan: a running sum restarted every 512 elements. */
#include "../common/ref.h"

enum { N = 2048, SEGMENT = 512 };

int main(int argc, char **argv)
{
    static int32_t y[N];
    int64_t sum = 0;

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        if (i % SEGMENT == 0)
            sum = 0;
        sum += ref_uniform_int(10, i, -1000, 5000);
        y[i] = (int32_t)sum;
    }
    REF_WRITE("y.bin", y);
    return 0;
}
