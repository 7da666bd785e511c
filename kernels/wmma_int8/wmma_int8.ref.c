/* Reference of wmma_int8, in 64-bit integers. */
#include "../common/ref.h"

enum { K = 48 };

static int32_t product(uint64_t row, uint64_t col, int is_signed)
{
    int64_t sum = 7;

    for (uint64_t k = 0; k < K; k++) {
        int64_t x = ref_uniform_int(395, row * K + k, -128, 127);
        int64_t y = ref_uniform_int(396, col * K + k, -128, 127);
        sum += is_signed ? x * y : (x & 255) * (y & 255);
    }
    return (int32_t)sum;
}

int main(int argc, char **argv)
{
    static int32_t d16[256], d32[256], d8[256];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 256; i++) {
        d16[i] = product(i / 16, i % 16, 1);
        d32[i] = product(i / 8, i % 8, 0);
        d8[i] = product(i / 32, i % 32, 1);
    }
    REF_WRITE("d16.bin", d16);
    REF_WRITE("d32.bin", d32);
    REF_WRITE("d8.bin", d8);
    return 0;
}
