/* Reference of grid_sync: prefix sums modulo 2^32, and each CTA's part. */
#include "../common/ref.h"

enum { CTAS = 6, THREADS = 96, N = CTAS * THREADS };

int main(int argc, char **argv)
{
    static uint32_t x[N], parts[CTAS];
    uint32_t sum = 0;

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint32_t v = (uint32_t)ref_uniform_int(331, i, 0, UINT32_MAX);
        sum += v;
        x[i] = sum;
        parts[i / THREADS] += v;
    }
    REF_WRITE("x.bin", x);
    REF_WRITE("parts.bin", parts);
    return 0;
}
