/* Reference of sort_radix: insertion sort, which is stable. */
#include "../common/ref.h"

enum { N = 256, BLOCKS = 2 };

int main(int argc, char **argv)
{
    static uint32_t out[BLOCKS][N], index[BLOCKS][N];

    ref_init(argc, argv);
    for (uint32_t b = 0; b < BLOCKS; b++)
        for (uint32_t i = 0; i < N; i++) {
            uint32_t k = (uint32_t)ref_uniform_int(201, b * N + i, 0, 1023), j = i;
            for (; j > 0 && out[b][j - 1] > k; j--) {
                out[b][j] = out[b][j - 1];
                index[b][j] = index[b][j - 1];
            }
            out[b][j] = k;
            index[b][j] = i;
        }
    REF_WRITE("out.bin", out);
    REF_WRITE("index.bin", index);
    return 0;
}
