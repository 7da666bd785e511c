/* Reference of cache_ops. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static uint32_t out[6][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint32_t sum = 0;
        for (uint64_t k = 0; k < 8; k++)
            sum = sum * 31 + (uint32_t)ref_uniform_int(327, k * N + i, 0, UINT32_MAX);
        for (uint64_t k = 0; k < 5; k++)
            out[k][i] = sum ^ (uint32_t)ref_uniform_int(327, k * N + i, 0, UINT32_MAX);
        out[5][i] = out[1][i] + sum;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
