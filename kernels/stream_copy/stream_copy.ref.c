/* Reference of stream_copy. */
#include "../common/ref.h"

enum { N = 32768 };

int main(int argc, char **argv)
{
    static uint32_t out[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        out[i] = (uint32_t)ref_uniform_int(18, i, 0, 1000000000);
    REF_WRITE("out.bin", out);
    return 0;
}
