/* Reference of recursion: closed forms and libc's qsort. */
#include "../common/ref.h"

enum { THREADS = 64, LENGTH = 12 };

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A(0, n) = n + 1, A(1, n) = n + 2, A(2, n) = 2 n + 3 */
static uint32_t ackermann(uint32_t m, uint32_t n)
{
    return m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3;
}

int main(int argc, char **argv)
{
    static const uint32_t fib[7] = {0, 1, 1, 2, 3, 5, 8};
    static uint32_t out[THREADS][2];
    static int32_t data[THREADS][LENGTH];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < THREADS; i++) {
        out[i][0] = fib[i % 7];
        out[i][1] = ackermann(i % 2, i % 5) + ackermann(2, i % 2);
        for (uint32_t k = 0; k < LENGTH; k++)
            data[i][k] = (int32_t)ref_uniform_int(95, i * LENGTH + k, -100, 100);
        qsort(data[i], LENGTH, sizeof data[i][0], compare);
    }
    REF_WRITE("out.bin", out);
    REF_WRITE("data.bin", data);
    return 0;
}
