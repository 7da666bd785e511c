/* Reference of membar_flag: the message, mirrored by rows. */
#include "../common/ref.h"

enum { ROWS = 4, N = 128 };

int main(int argc, char **argv)
{
    static uint32_t out[ROWS][N];

    ref_init(argc, argv);
    for (uint32_t k = 0; k < ROWS; k++)
        for (uint32_t t = 0; t < N; t++)
            out[k][N - 1 - t] = (k + 1) * 1000 + t;
    REF_WRITE("out.bin", out);
    return 0;
}
