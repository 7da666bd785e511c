/* Reference of sort_oddeven: qsort. */
#include "../common/ref.h"

enum { N = 128, BLOCKS = 2 };

static int compare(const void *x, const void *y)
{
    double a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    static double data[BLOCKS * N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < BLOCKS * N; i++)
        data[i] = ref_uniform(202, i, -1e6, 1e6);
    REF_WRITE("data_in.bin", data);
    for (int b = 0; b < BLOCKS; b++)
        qsort(data + b * N, N, sizeof data[0], compare);
    REF_WRITE("data.bin", data);
    return 0;
}
